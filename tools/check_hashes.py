#!/usr/bin/env python3
"""Fails if a table in memory is keyed by text without a hash that has a seed.

Keys of such tables come from the web more often than not, and the hashes of the
standard library have a seed that everybody knows: a page could name hosts that
all fall into one bucket. Tables by text use TableHash (base/table_hash.h), or a
hash of their own that is listed below. Tables by number are not looked at:
UrlKey, HostKey and PldKey are keyed with the job's seed (url/keys.h), and
numbers that the crawler gives out itself cannot be chosen.
"""

import pathlib
import re
import sys

# Hashes that have a seed.
KEYED = ("TableHash", "NameHash", "SiteHash", "ServerKeyHash")
# Programs and files that read nothing from outside.
FREE = ("bench/",)
TABLE = re.compile(r"unordered_(?:map|set|multimap|multiset)\s*<([^;{}()]*?)>\s*"
                   r"(?:[*&]|\w|;|\(|\{|$)", re.MULTILINE)
TEXT = re.compile(r"^\s*(?:const\s+)?(?:std::)?(?:string|string_view|u?8?string)\b"
                  r"|^\s*(?:net::)?(?:IpAddress|Endpoint)\b|ServerKey\b")
# A hash with a constant for its seed; a comment may not stand in for one.
CONSTANT = re.compile(r"\bstd::hash\s*<")


def check(root):
    """Returns one line per table that can be aimed at."""
    errors = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cc") or name.startswith(FREE):
            continue
        if "_test" in name or "_fuzz" in name:
            continue
        text = path.read_text(encoding="utf-8")
        for match in TABLE.finditer(text):
            if not TEXT.match(match.group(1)):
                continue
            if not any(hash_ in match.group(1) for hash_ in KEYED):
                line = text.count("\n", 0, match.start()) + 1
                errors.append(f"{name}:{line}: a table by text without a keyed "
                              "hash; use TableHash (base/table_hash.h)")
        for match in CONSTANT.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{name}:{line}: std::hash has a seed that everybody "
                          "knows; use TableHash (base/table_hash.h)")
    return errors


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    errors = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
