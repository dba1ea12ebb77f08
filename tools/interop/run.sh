#!/usr/bin/env bash
# Archives written here, read by an independent reader (npm warcio) and by
# gunzip: fails on any difference. Needs node and npm, and the network once;
# build the preset `release` before.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
folder=$build/interop
rm -rf "$folder"
NEPHILA_INTEROP_DIR=$folder "$build/src/store/store_test" \
  --gtest_filter='*RoundTrip*' >"$build/interop.log" 2>&1 ||
  { cat "$build/interop.log"; exit 1; }
mapfile -t archives < <(find "$folder" -name '*.warc.gz' | sort)
gunzip -t "${archives[@]}"
if [ ! -d tools/interop/node_modules/warcio ]; then
  (cd tools/interop && npm ci --ignore-scripts --silent)
fi
node tools/interop/check.mjs "$build/src/cli/nephila" "${archives[@]}" \
  testdata/warc/warcio/example.warc.gz \
  testdata/warc/commoncrawl-whirlwind/whirlwind.warc.gz
