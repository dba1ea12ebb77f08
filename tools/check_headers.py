#!/usr/bin/env python3
"""Fails if a header does not compile on its own, or lacks #pragma once.

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


def compile_alone(header, command):
    """Returns what is wrong with the header, or nothing."""
    if "#pragma once" not in header.read_text(encoding="utf-8"):
        return f"{header}: no #pragma once"
    result = subprocess.run(
        command + ["-fsyntax-only", "-x", "c++", "-Wno-pragma-once-outside-header",
                   str(header)],
        capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    commands = flags_by_folder(build)
    headers = sorted(src.rglob("*.h"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [error for error in pool.map(
            lambda header: compile_alone(header, commands[header.parent]),
            headers) if error]
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(headers)} headers, {len(errors)} do not stand alone")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
