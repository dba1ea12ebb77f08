#!/usr/bin/env bash
# clang-tidy over every source of the product, with .clang-tidy (benchmarks, the
# simulated web and the papers' model only if they are named); BUILD_DIR is a
# configured clang build. --analyze adds clang's path-sensitive analyzer, which takes four
# fifths of the time and which tests under sanitizers stand in for: by hand, on
# new files. Usage: check_tidy.sh [--analyze] BUILD_DIR [FILE...]
set -euo pipefail
options=(--quiet)
if [ "$1" = --analyze ]; then
  options+=("--checks=clang-analyzer-core.*,clang-analyzer-cplusplus.*")
  shift
fi
build=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'src/*.cc' | grep -v -e _test.cc \
    -e _fuzz.cc -e _testing.cc -e '^src/bench/' -e '^src/sim/' -e '^src/model/')
  set -- "${files[@]}"
fi
printf '%s\n' "$@" |
  xargs -P "$(nproc)" -n 1 clang-tidy "${options[@]}" -p "$build" 2>/dev/null
