#!/usr/bin/env bash
# Runs every fuzzer of the preset `fuzz` for some seconds, from the corpora in
# testdata/fuzz; what it finds stays in build/fuzz. Usage: fuzz.sh SECONDS [NAME...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=$1
shift
if [ $# -eq 0 ]; then
  mapfile -t found < <(find build/fuzz/src -name '*_fuzz' -type f | sort)
  set -- "${found[@]##*/}"
fi
[ $# -gt 0 ] || { echo "no fuzzer is built" >&2; exit 1; }
for name in "$@"; do
  program=$(find build/fuzz/src -name "$name" -type f)
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  dictionary=testdata/fuzz/$name.dict
  options=()
  [ -f "$dictionary" ] && options+=(-dict="$dictionary")
  echo "$name for $seconds s"
  "$program" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 \
    "${options[@]}"     "$corpus" "testdata/fuzz/$name" >"build/fuzz/$name.log" 2>&1 ||
    { tail -n 40 "build/fuzz/$name.log"; exit 1; }
  grep -E 'stat::number_of_executed_units|stat::new_units_added' \
    "build/fuzz/$name.log"
done
