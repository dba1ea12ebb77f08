#!/usr/bin/env python3
"""Fails if a folder under src/ includes one that it may not know.

base < config < {net, sandbox} < item < model < {drum, disk_queue, url, coding} < stages <
crawl < inspect < {check, control} < report < cli < bench. A stage includes no other stage: what they share travels in
item/, and crawl/ connects them. `url` is a stage and vocabulary, so it stands
below them.
"""

import pathlib
import re
import sys

LEVELS = [
    ["base"],
    ["config"],
    ["net", "sandbox"],
    ["item"],
    ["model"],
    ["drum", "disk_queue", "url", "coding"],
    ["seeds", "exchange", "scope", "seen", "caps", "reputation", "budget", "robots",
     "politeness", "dns", "fetch", "parse", "store", "sim", "job"],
    ["crawl"],
    ["inspect"],
    ["check", "control"],
    ["report"],
    ["cli", "dashboard"],
    ["bench"],
]
LEVEL = {name: i for i, names in enumerate(LEVELS) for name in names}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def check(root):
    """Returns one line per include that breaks the order."""
    errors = []
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".h", ".cc", ".def"):
            continue
        folder = path.relative_to(root).parts[0]
        if folder not in LEVEL:
            errors.append(f"{path}: folder {folder} has no level")
            continue
        for target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if ".." in target.split("/"):
                errors.append(f"{path}: includes by way of ..: {target}")
                continue
            # Headers of the system and of libraries are not ours to judge.
            other = target.split("/")[0]
            if other == folder or not (root / target).exists():
                continue
            if other not in LEVEL:
                errors.append(f"{path}: folder {other} has no level")
            elif LEVEL[other] >= LEVEL[folder]:
                errors.append(f"{path}: may not include {target}")
    return errors


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    errors = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
