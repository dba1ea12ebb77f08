#!/usr/bin/env python3
"""Prints src/parse/entities.inc: the named character references of HTML s13.5.

The list is the standard's, which is frozen ("intended to be stable"); it is
read from Python's own copy of it, html.entities.html5.
"""

import html.entities


def escaped(text):
    """As the inside of a C++ string, in ASCII, safe before hex digits."""
    return "".join(f"\\{byte:03o}" for byte in text.encode("utf-8"))


def rows(names):
    for name in names:
        value = html.entities.html5[name]
        yield f'{{"{name.rstrip(";")}", "{escaped(value)}"}},'


def main():
    names = sorted(html.entities.html5, key=lambda name: name.rstrip(";"))
    print("// Made by tools/make_entities.py; see there for the origin.")
    print("#ifdef NEPHILA_ENTITIES_WITH_SEMICOLON")
    print("\n".join(rows(n for n in names if n.endswith(";"))))
    print("#endif")
    print("#ifdef NEPHILA_ENTITIES_WITHOUT_SEMICOLON")
    print("\n".join(rows(n for n in names if not n.endswith(";"))))
    print("#endif")


if __name__ == "__main__":
    main()
