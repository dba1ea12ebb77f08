#!/usr/bin/env bash
# Fails if a source, script or page holds a byte outside ASCII: what looks alike
# must be alike. Text in other scripts stands as escapes, or in testdata/.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C  # else grep passes over what is no UTF-8
mapfile -d '' -t files < <(git ls-files -z -- . ':!testdata' ':!third_party')
[ ${#files[@]} -gt 0 ] || { echo "git lists no files" >&2; exit 1; }
status=0
grep -naP '[^\x00-\x7F]' -- "${files[@]}" /dev/null >&2 || status=$?
# grep: 0 found something, 1 nothing, 2 and more went wrong.
[ "$status" -eq 1 ] || { echo "non-ASCII bytes: see above" >&2; exit 1; }
