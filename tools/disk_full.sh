#!/bin/bash
# Crawls the simulated web onto a disk that is too small, makes room, and counts.
#
# Needs root (or user namespaces), since the disk is a tmpfs in a mount namespace
# of its own; nothing of it is left. The crawl must wait, say so, go on by itself
# when there is room, and have each page once. Not part of the tests, which use
# the file system in memory for the same (src/crawl/disk_full_test.cc).
#
#   tools/disk_full.sh [PATH/TO/nephila]
set -euo pipefail

nephila=$(realpath "${1:-build/release/src/cli/nephila}")
if [[ -z ${NEPHILA_MOUNTS:-} ]]; then
  NEPHILA_MOUNTS=1 exec unshare --map-root-user --mount --net "$0" "$nephila"
fi

ip link set lo up
disk=$(mktemp -d)
work=$(mktemp -d)
mount -t tmpfs -o size=44m tmpfs "$disk"
sim=
finish() {
  [[ -z $sim ]] || kill "$sim" 2>/dev/null || true
  wait 2>/dev/null || true
  umount "$disk"
  rm -rf "$disk" "$work"
}
trap finish EXIT

cat > "$work/sim.toml" <<'TOML'
[web]
hosts = 100
plds = 40
addresses = 10
pages_per_host = 60
largest_site = 120
page_bytes = 60000
TOML
"$nephila" sim --scenario "$work/sim.toml" --port 8080 --dns-port 5353 \
  > "$work/sim.out" 2>&1 &
sim=$!
until grep -q . "$work/sim.out"; do sleep 0.1; done
"$nephila" sim seeds 3 --scenario "$work/sim.toml" --link-port 8080 \
  > "$work/seeds"

crawl() {  # crawl JOB FLOOR [OPTION...]
  local job=$1 floor=$2
  shift 2
  "$nephila" crawl --job "$job" --profile broad --seeds "$work/seeds" \
    --set agent.contact=https://example.org/bot --set guard.allow=127.0.0.0/8 \
    --set dns.servers=127.0.0.1:5353 --set disk.floor="$floor" \
    --set disk.margin=1MiB --set memory=64MiB --set disk=256MiB \
    --set crawl.max_pages=3000 --set store.max_file_size=4MiB \
    --set politeness.host_delay=0s --set politeness.host_delay_floor=0s \
    --set politeness.server_delay=0s --set politeness.server_delay_floor=0s \
    "$@" 2> >(tee "$work/err" >&2)
}
pages() {  # pages FOLDER...: the URL of each response, sorted
  find "$@" \( -name '*.warc.gz' -o -name '*.warc.gz.open' \) -print0 |
    xargs -0 "$nephila" warc ls --json |
    grep -E '"type": ?"(response|revisit)"' | grep -v 'robots\.txt' |
    grep -oE '"uri": ?"[^"]*"' | sort
}
expect_once() {  # expect_once FOLDER...
  local count twice
  count=$(pages "$@" | wc -l)
  twice=$(pages "$@" | uniq -d | wc -l)
  echo "  $count pages, $twice of them twice"
  [[ $count -ge 3000 && $twice -eq 0 ]]
}
wait_for() {  # wait_for TEXT: in the last crawl's messages
  for _ in $(seq 600); do
    grep -q "$1" "$work/err" 2>/dev/null && return
    sleep 0.1
  done
  echo "it never said: $1" >&2
  cat "$work/err" "$work/out" | tail -20 >&2
  df -h "$disk" >&2
  return 1
}

for floor in 0 8MiB; do
  echo "a full disk, disk.floor=$floor: waits and goes on"
  : > "$work/err"
  crawl "$disk/job" "$floor" --quiet > "$work/out" &
  pid=$!
  wait_for 'waiting$'
  sleep 3
  df --output=avail -h "$disk" | tail -1
  mount -o remount,size=512m "$disk"
  wait "$pid"
  grep -q 'going on' "$work/err"
  expect_once "$disk/job/archive"
  rm -rf "$disk/job"
  mount -o remount,size=44m "$disk"

  echo "a full disk, disk.floor=$floor: SIGINT ends it, and it goes on later"
  : > "$work/err"
  crawl "$disk/job" "$floor" --quiet > "$work/out" &
  pid=$!
  wait_for 'waiting$'
  pkill -INT -P "$pid" || kill -INT "$pid"
  wait "$pid"
  grep '^stopped' "$work/out"
  mount -o remount,size=512m "$disk"
  crawl "$disk/job" "$floor" --quiet > "$work/out"
  expect_once "$disk/job/archive"
  rm -rf "$disk/job"
  mount -o remount,size=44m "$disk"

  echo "a second folder, disk.floor=$floor: no wait"
  : > "$work/err"
  crawl "$work/job" "$floor" --quiet \
    --set "store.folders=[\"$disk/archive\", \"archive\"]" > "$work/out" &
  pid=$!
  # Its last index may have no room: it waits for that alone.
  for _ in $(seq 600); do
    kill -0 "$pid" 2>/dev/null || break
    [[ $(find "$work/job/archive" -name '*.warc.gz*' 2>/dev/null | wc -l) -gt 3 ]] && break
    sleep 0.1
  done
  sleep 5
  mount -o remount,size=512m "$disk"
  wait "$pid"
  expect_once "$work/job/archive" "$disk/archive"
  rm -rf "$work/job" "$disk/archive"
  mount -o remount,size=44m "$disk"
done
echo "all well"
