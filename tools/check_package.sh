#!/bin/bash
# Builds the Debian package, unpacks it into an empty folder, and uses it there as
# a new user does: not root, in an empty folder, without network.
#
#   tools/check_package.sh
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "check_package: $*" >&2; exit 1; }

package=$(./nephila package)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
dpkg-deb -x "$package" "$work/root"

# Nothing of the machine that built it.
binary=$work/root/usr/bin/nephila
if readelf -d "$binary" | grep -E 'RPATH|RUNPATH'; then fail "has an rpath"; fi
if strings -a "$binary" | grep -F "$PWD/"; then
  fail "has a path of this machine"
fi

tools/check_hardening.sh "$binary"

# What it says of itself.
field() { dpkg-deb -f "$package" "$1"; }
[[ $(field Package) == nephila ]] || fail "is named $(field Package)"
[[ $(field Section) == web ]] || fail "is in section $(field Section)"
[[ $(field Maintainer) == "The nephila authors"* ]] || fail "is of $(field Maintainer)"
for library in ca-certificates libc6 libcurl4 libssl3 libicu; do
  [[ $(field Depends) == *$library* ]] || fail "does not need $library"
done
field Description | grep -q WARC || fail "has no description"

# The files beside it.
share=$work/root/usr/share
for name in man/man1/nephila.1.gz doc/nephila/copyright doc/nephila/LICENSE \
  doc/nephila/NOTICE doc/nephila/README.md doc/nephila/docs/config.md \
  bash-completion/completions/nephila zsh/vendor-completions/_nephila \
  fish/vendor_completions.d/nephila.fish; do
  [[ -s $share/$name ]] || fail "lacks $name"
  [[ $(stat -c %a "$share/$name") == 644 ]] || fail "$name has wrong rights"
done
[[ -z $(find "$work/root" -perm /022 ! -type l) ]] || fail "others may write to it"
zcat "$share/man/man1/nephila.1.gz" | groff -man -Tascii -ww -z 2>"$work/warnings" ||
  fail "the man page cannot be formatted"
[[ ! -s $work/warnings ]] || { cat "$work/warnings"; fail "the man page has faults"; }
bash -n "$share/bash-completion/completions/nephila"

# A new user.
user() {
  if [[ $(id -u) -eq 0 ]]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups env -i \
      HOME="$work/empty" PATH="$work/root/usr/bin:/usr/bin:/bin" "$@"
  else
    env -i HOME="$work/empty" PATH="$work/root/usr/bin:/usr/bin:/bin" "$@"
  fi
}
mkdir "$work/empty"
[[ $(id -u) -ne 0 ]] || chown 65534:65534 "$work/empty"
cd "$work/empty"
user nephila --version
user nephila demo --time 3s --job demo >"$work/out" 2>"$work/err" ||
  { cat "$work/out" "$work/err"; fail "the demo failed"; }
user nephila status --job demo >/dev/null
user nephila check --job demo >/dev/null
user nephila warc ls demo/archive/*.warc.gz >"$work/records"
head -3 "$work/records"

! command -v lintian >/dev/null ||
  lintian --suppress-tags no-changelog,extra-license-file "$package"
echo "check_package: well: $(basename "$package")"
