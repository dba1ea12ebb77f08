#!/usr/bin/env python3
"""Counts how many distinct URLs each normalisation rule makes equal.

Usage: rule_effects.py URLS [NEPHILA], URLS being a file of URLs, one a line.
Prints a Markdown table: with all rules off, each rule alone, the defaults.
"""

import json
import subprocess
import sys

OFF = {
    "strip_fragment": "false", "strip_userinfo": "false",
    "strip_host_dot": "false", "www": "keep", "default_documents": "",
    "uppercase_escapes": "false", "decode_unreserved": "false",
    "escape_unsafe": "false", "session_ids": "",
    "trim_directory_sort": "false", "strip_query": "", "sort_query": "false",
    "drop_empty_params": "false", "drop_empty_query": "false",
    "collapse_slashes": "false",
}
ON = {
    "strip_fragment": "true", "strip_userinfo": "true",
    "strip_host_dot": "true", "www": "strip",
    "default_documents":
        "index.html,index.htm,index.shtml,default.html,default.htm",
    "uppercase_escapes": "true", "decode_unreserved": "true",
    "escape_unsafe": "true",
    "session_ids": "phpsessid,sid,sessionid,jsessionid",
    "trim_directory_sort": "true", "strip_query": "utm_*",
    "sort_query": "true", "drop_empty_params": "true",
    "drop_empty_query": "true", "collapse_slashes": "true",
}


def distinct(program, urls, settings):
    """The number of distinct canonical URLs under these settings."""
    command = [program, "url"]
    for name, value in settings.items():
        command += ["--set", f"url.{name}={value}"]
    seen = set()
    with open(urls, "rb") as lines, subprocess.Popen(
            command, stdin=lines, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            seen.add(json.loads(line).get("canonical"))
    if process.returncode != 0:
        sys.exit(process.returncode)
    return len(seen)


def main():
    urls = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else "./nephila"
    base = distinct(program, urls, OFF)
    print("| rule | default | distinct URLs | made equal |")
    print("| --- | --- | --- | --- |")
    print(f"| none | | {base} | |")
    off_by_default = {"www", "decode_unreserved", "escape_unsafe",
                      "strip_query", "sort_query", "drop_empty_params",
                      "collapse_slashes"}
    for name, value in ON.items():
        count = distinct(program, urls, {**OFF, name: value})
        shown = f"`url.{name}`"
        if name in ("www", "strip_query"):
            shown += f" = `{value}`"
        state = "off" if name in off_by_default else "on"
        print(f"| {shown} | {state} | {count} | "
              f"{100 * (base - count) / base:.2f} % |", flush=True)
    count = distinct(program, urls, {})
    print(f"| the defaults | | {count} | {100 * (base - count) / base:.2f} % |")


if __name__ == "__main__":
    main()
