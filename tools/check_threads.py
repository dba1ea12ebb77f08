#!/usr/bin/env python3
"""Fails if a module that starts threads is not tested by the thread sanitizer.

A module is a folder under src/. It starts threads if a source or a test of it
names std::thread, std::jthread, std::async or LoopThread; it then has to be
marked THREADS in its CMakeLists.txt. bench/ is no part of the crawler and is
left out, and so is sandbox/: its tests start threads in child processes that
are confined, where the sanitizer cannot work.

With the folder of a build, which must have built the target threads_tests: each
module that is marked has a test program there (cmake/module.cmake lists them in
threads_tests.txt), and the program has been built.
"""

import pathlib
import re
import sys

THREAD = re.compile(r"std::(?:jthread|async|thread(?!::))\b|\bLoopThread\b")
COMMENT = re.compile(r"//[^\n]*")
MARK = re.compile(r"^\s*THREADS\s*$", re.MULTILINE)
LEFT_OUT = {"bench", "sandbox"}


def marked(root):
    """The modules that are marked, by name."""
    return {
        path.parent.name
        for path in root.glob("*/CMakeLists.txt")
        if MARK.search(path.read_text(encoding="utf-8"))
    }


def check_sources(root):
    """Returns one line per module that starts threads and is not marked."""
    errors = []
    known = marked(root)
    for path in sorted(root.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        module = path.relative_to(root).parts[0]
        if module in known or module in LEFT_OUT:
            continue
        text = COMMENT.sub("", path.read_text(encoding="utf-8"))
        if THREAD.search(text):
            errors.append(f"{path}: starts threads, but src/{module}/"
                          "CMakeLists.txt is not marked THREADS")
            known.add(module)  # one line is enough
    return errors


def check_build(root, build):
    """Returns one line per marked module without a test program in `build`."""
    listed = build / "threads_tests.txt"
    if not listed.exists():
        return [f"{listed}: not found; configure the build first"]
    programs = dict(line.split(" ", 1)
                    for line in listed.read_text(encoding="utf-8").splitlines())
    errors = []
    for module in sorted(marked(root) - LEFT_OUT):
        if module not in programs:
            errors.append(f"{listed}: no test program of the module {module}")
        elif not pathlib.Path(programs[module]).exists():
            errors.append(f"{programs[module]}: not built; build the target "
                          "threads_tests")
    return errors


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    errors = check_sources(root)
    if len(sys.argv) > 1:
        errors += check_build(root, pathlib.Path(sys.argv[1]))
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
