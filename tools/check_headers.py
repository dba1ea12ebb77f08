#!/usr/bin/env python3
"""Fails if a header does not compile on its own, or lacks #pragma once.

A header that a source includes before anything else is compiled on its own
whenever that source is, so only the others are compiled here.

Usage: check_headers.py BUILD_DIR, a configured build whose compile commands
lend each header the flags of a source in its folder.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys


def flags_by_folder(build):
    """Maps a source folder to the compile command of one of its sources."""
    commands = {}
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        for entry in json.load(file):
            if not entry["file"].endswith(".cc"):
                continue
            words = shlex.split(entry["command"])
            if "ccache" in words[0]:
                words = words[1:]
            kept = []
            skip = False
            for word in words:
                if skip:
                    skip = False
                elif word in ("-o", "-c", "-MF", "-MT"):
                    skip = True
                elif word != "-MD":
                    kept.append(word)
            folder = pathlib.Path(entry["file"]).parent
            # A test's command knows the headers of tests too.
            if folder not in commands or entry["file"].endswith("_test.cc"):
                commands[folder] = kept
    return commands


def first_includes(src):
    """The headers that a source includes first, as paths."""
    first = set()
    for source in src.rglob("*.cc"):
        for line in source.read_text(encoding="utf-8").splitlines():
            if line.startswith("#include"):
                words = line.split('"')
                if len(words) > 1:
                    first.add(src / words[1])
                break
    return first


def compile_alone(header, command):
    """Returns what is wrong with the header, or nothing."""
    result = subprocess.run(
        command + ["-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header",
                   str(header)],
        capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    commands = flags_by_folder(build)
    every = sorted(src.rglob("*.h"))
    errors = [f"{header}: no #pragma once" for header in every
              if "#pragma once" not in header.read_text(encoding="utf-8")]
    first = first_includes(src)
    headers = [header for header in every if header not in first]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors += [error for error in pool.map(
            lambda header: compile_alone(header, commands[header.parent]),
            headers) if error]
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(every)} headers, {len(headers)} of them compiled here; "
          f"{len(errors)} do not stand alone")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
