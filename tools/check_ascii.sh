#!/usr/bin/env bash
# Fails if a source or a script holds a byte outside ASCII: what looks alike
# must be alike. Text in other scripts stands as escapes, or in testdata/.
set -euo pipefail
cd "$(dirname "$0")/.."
if git ls-files -z -- . ':!testdata' ':!third_party' |
   xargs -0 grep -nP '[^\x00-\x7F]' /dev/null; then
  echo "non-ASCII bytes: see above" >&2
  exit 1
fi
