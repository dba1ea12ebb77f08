#!/bin/bash
# Checks that a program was built with the hardening of cmake/compiler.cmake, by
# what readelf says of it.
#
#   tools/check_hardening.sh FILE...
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: tools/check_hardening.sh FILE..." >&2; exit 2; }
command -v readelf >/dev/null ||
  { echo "check_hardening: readelf is missing (package binutils)" >&2; exit 2; }

failed=0
for file in "$@"; do
  fail() { echo "check_hardening: $file: $*" >&2; failed=1; }
  if ! header=$(readelf -hW "$file" 2>/dev/null); then
    fail "is not an ELF file"
    continue
  fi
  segments=$(readelf -lW "$file")
  dynamic=$(readelf -dW "$file")
  symbols=$(readelf -W --dyn-syms "$file")

  # A position-independent executable has a type of shared objects and a flag.
  grep -q 'Type:.* DYN ' <<<"$header" && grep -q 'FLAGS_1.*PIE' <<<"$dynamic" ||
    fail "is not position independent (-fPIE -pie)"
  # Full RELRO: the segment, and every symbol bound before main.
  grep -q GNU_RELRO <<<"$segments" && grep -qE 'FLAGS.*NOW' <<<"$dynamic" ||
    fail "has no full RELRO (-Wl,-z,relro,-z,now)"
  grep -q 'GNU_STACK.* RW ' <<<"$segments" ||
    fail "has an executable stack (-Wl,-z,noexecstack)"
  grep -q ' LOAD .* RWE ' <<<"$segments" &&
    fail "has memory that is writable and executable"
  grep -qE 'TEXTREL' <<<"$dynamic" && fail "has text relocations"
  grep -q __stack_chk_fail <<<"$symbols" ||
    fail "has no stack protector (-fstack-protector-strong)"
  grep -qE '__(memcpy|memmove|memset|snprintf|vsnprintf|read|pread|recv)\w*_chk' \
    <<<"$symbols" || fail "has no checked functions (-D_FORTIFY_SOURCE)"
  grep -q __glibcxx_assert_fail <<<"$symbols" ||
    fail "has no checked containers (-D_GLIBCXX_ASSERTIONS)"
  # The linker marks a program only if all of libc is marked, so the landing
  # pads are counted: without the flag there are some of libc, with it thousands.
  if grep -q 'Machine:.*X86-64' <<<"$header"; then
    pads=$(LC_ALL=C grep -oaP '\xf3\x0f\x1e\xfa' "$file" | wc -l)
    [[ $pads -ge 1000 ]] ||
      fail "has no control-flow protection (-fcf-protection=full)"
  fi
done
exit "$failed"
