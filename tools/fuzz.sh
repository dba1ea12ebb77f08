#!/usr/bin/env bash
# Runs every fuzzer of the preset `asan` for some seconds, one on each core,
# from the corpora in testdata/fuzz; what it finds stays in build/fuzz. Usage:
# fuzz.sh SECONDS [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."

# fuzz_one SECONDS NAME: quiet, but for one line, and the log if it failed.
fuzz_one() {
  local seconds=$1 name=$2 program runs options=()
  program=$(find build/asan/src -name "$name" -type f)
  [ -n "$program" ] || { echo "$name: not built" >&2; return 1; }
  mkdir -p "build/fuzz/corpus/$name"
  [ -f "testdata/fuzz/$name.dict" ] && options+=(-dict="testdata/fuzz/$name.dict")
  if ! "$program" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 "${options[@]}" \
    "build/fuzz/corpus/$name" "testdata/fuzz/$name" \
    >"build/fuzz/$name.log" 2>&1; then
    tail -n 40 "build/fuzz/$name.log"
    echo "$name: failed" >&2
    return 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log")
  echo "$name: $runs runs in $seconds s"
}
export -f fuzz_one

seconds=$1
shift
if [ $# -eq 0 ]; then
  mapfile -t found < <(find build/asan/src -name '*_fuzz' -type f | sort)
  set -- "${found[@]##*/}"
fi
[ $# -gt 0 ] || { echo "no fuzzer is built" >&2; exit 1; }
printf '%s\n' "$@" |
  xargs -P "$(nproc)" -I '{}' bash -euo pipefail -c "fuzz_one $seconds {}"
