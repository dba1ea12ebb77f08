#!/usr/bin/env python3
"""Fails if a setting, or a verb of the program, is named by no test.

A setting of src/config/settings.def is named by its dotted name
("fetch.retry_wait"), by its place in the struct (fetch.retry_wait), or, in a
file that works with the struct of its section, by its member. Tests of config/
do not count: they read every setting and know the meaning of none. A verb is
named where a test of cli/ runs the program with it.

That a name stands in a test proves little; that it stands in none proves that
nothing would notice if the setting did nothing.
"""

import pathlib
import re
import sys

SETTING = re.compile(r"NEPHILA_SETTING\(\s*\w+,\s*(\w+),\s*(\w+),\s*(\w+),")
SECTION = re.compile(r"NEPHILA_SECTION_BEGIN\((\w+),\s*(\w+),")
VERB = re.compile(r'Add(?:Verb|Group|OtherProgram|Steer)\(\s*(?:(\w+),\s*)?"(\w+)"')


def tests(root):
    """The text of each file that is part of a test, by its path."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.name
        if name.endswith("_test.cc") or "_testing." in name:
            if path.relative_to(root).parts[0] != "config":
                found[path.relative_to(root)] = path.read_text(encoding="utf-8")
    return found


def settings(root):
    """(struct, section, key, member) of each."""
    text = (root / "config/settings.def").read_text(encoding="utf-8")
    structs = {name: struct for struct, name in SECTION.findall(text)}
    return [(structs.get(section, ""), section, key, member)
            for section, key, member in SETTING.findall(text)
            if section in structs]


def is_named(row, texts):
    """Whether a test names this setting."""
    struct, section, key, member = row
    dotted = re.compile(rf"\b{section}\.{key}\b")
    place = re.compile(rf"\b{section}_?\.{member}\b")
    alone = re.compile(rf"\.{member}\b")
    for path, text in texts.items():
        if key not in text and member not in text:
            continue
        if dotted.search(text) or place.search(text):
            return True
        knows = path.parts[0] == section or struct in text
        if knows and alone.search(text):
            return True
    return False


def verbs(root):
    """The words of each verb: "crawl", "warc ls"."""
    files = [root / "cli/main.cc", *sorted((root / "cli").glob("*_verbs.cc"))]
    text = "".join(path.read_text(encoding="utf-8")
                   for path in files if path.exists())
    return [" ".join(filter(None, words)) for words in VERB.findall(text)]


def is_run(verb, texts):
    """Whether a test of cli/ runs the program with this verb."""
    words = r',\s*'.join(f'"{word}"' for word in verb.split())
    call = re.compile(
        rf"(?:\{{|NEPHILA_BINARY,|Verb\(|Answer\()\s*{words}[,\s}})]")
    return any(path.parts[0] == "cli" and call.search(text)
               for path, text in texts.items())


def check(root):
    """Returns one line for each setting and verb that no test names."""
    texts = tests(root)
    errors = [f"setting {row[1]}.{row[2]}: no test names it"
              for row in settings(root) if not is_named(row, texts)]
    errors += [f"verb {verb}: no test of cli/ runs it"
               for verb in verbs(root) if not is_run(verb, texts)]
    return errors


def main():
    """Prints what is wrong; the status says whether anything is."""
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    errors = check(root)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
