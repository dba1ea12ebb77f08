#!/usr/bin/env bash
# clang-tidy over every source, with .clang-tidy; BUILD_DIR is a configured
# clang build. Usage: check_tidy.sh BUILD_DIR [FILE...]
set -euo pipefail
build=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'src/*.cc' | grep -v -e _test.cc -e _fuzz.cc)
  set -- "${files[@]}"
fi
printf '%s\n' "$@" |
  xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" 2>/dev/null
