#!/usr/bin/env bash
# Packages made by data/packaging/make-deb.sh go into a bare Debian, work there, and leave nothing
# behind. Not in the default suites: needs root, apt's servers and minutes.
#
#   test_deb.sh ROOT.tar|ROOT [BUILD]
#
# ROOT.tar is a bare root as debootstrap makes it, of the release that this machine runs (made with
# debootstrap when the file is not there); a folder is used as it is and not removed. BUILD as for
# make-deb.sh. Exit status 77 when it cannot run.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
skip() { echo "1..0 # SKIP $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can enter a bare root"
command -v dpkg-shlibdeps >/dev/null || skip "there is no dpkg-dev"
given=${1:-}
[ -e "$given" ] || command -v debootstrap >/dev/null || skip "no bare root is given and there is no debootstrap"
work=$(mktemp -d)
if [ -d "$given" ]; then root=$given; else root=$work/root; fi
clean() {
  umount "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT
. /etc/os-release
if [ ! -d "$given" ]; then
  mkdir "$root"
  if [ -e "$given" ]; then tar -C "$root" -xf "$given"; else debootstrap --variant=minbase "$VERSION_CODENAME" "$root" >&2; fi
fi
mkdir -p "$root/proc" "$root/dev"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
files() { (cd "$root" && find etc usr var/lib/dpkg/info -iname '*lithoscope*' | sort); }

n=0 failed=0
check() { # check NAME COMMAND...
  local name=$1 log=$work/log
  shift
  n=$((n + 1))
  if "$@" >"$log" 2>&1; then echo "ok $n $name"; else
    failed=1
    echo "not ok $n $name"
    tail -n 30 "$log" | sed 's/^/# /'
  fi
}

mkdir "$work/packages"
"$top/data/packaging/make-deb.sh" "$work/packages" ${2:+"$2"} >&2
mkdir -p "$root/packages"
cp "$work"/packages/*.deb "$root/packages"
in_root apt-get update >&2
cd "$work"
names=$(cd packages && ls ./*.deb | sed 's|./\([^_]*\)_.*|\1|' | tr '\n' ' ')

install_all() { in_root sh -c 'apt-get install -y --no-install-recommends /packages/*.deb'; }
run_cli() {
  in_root sh -ec 'cd /tmp && lithoscope-cli --version && lithoscope-cli synth planes inlines=12 xlines=12 samples=100 -o in.sgy --force &&
    lithoscope-cli run fx --backend cpu in.sgy out.sgy --force && lithoscope-cli render out.sgy -o out.png --cpu --force &&
    lithoscope-cli compare in-truth.sgy out.sgy && test -s out.png'
}
run_window() { in_root sh -ec 'lithoscope --version && ! ldd /usr/bin/lithoscope | grep -q "not found"'; }
holds_all() {
  in_root sh -ec 'test -s /usr/share/man/man1/lithoscope-cli.1.gz && test -s /usr/share/man/man7/lithoscope-operators.7.gz &&
    test -s /usr/share/bash-completion/completions/lithoscope-cli.bash && test -s /usr/share/lithoscope/recipe.schema.json &&
    test -s /usr/lib/python3/dist-packages/lithoscope/__init__.py && ! find /usr/bin /usr/lib -name "*lithoscope*" -newermt 2000-01-01 -perm /022 -type f | grep .'
}
no_debris() { [ -z "$(files)" ] || { files; false; }; }
use_python() {
  in_root apt-get install -y --no-install-recommends python3-numpy &&
    in_root python3 -B -c 'import lithoscope; a, b = lithoscope.synth("planes", inlines=12, xlines=12, samples=100); print(lithoscope.fx(a, window=8, dt=.004, dx=25, dy=25).shape)'
}
remove_all() { in_root apt-get purge -y $names; }

check "installed with what they depend on" install_all
check "the command line works" run_cli
check "the window finds its libraries" run_window
check "manual pages, completion, schema and the Python package are there" holds_all
check "the Python package works" use_python
check "removed" remove_all
check "nothing is left behind" no_debris
check "installed once more" install_all
check "removed once more" remove_all
echo "1..$n"
exit $failed
