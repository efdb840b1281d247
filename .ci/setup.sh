# shellcheck shell=bash
# Sourced by run.sh and test.sh: installs missing packages (Debian's own) and builds.

runtime_packages=(
  gcc libc6-dev meson ninja-build pkg-config python3-minimal ca-certificates
  libgtk-4-dev libepoxy-dev libcairo2-dev libpng-dev
  libjson-glib-dev libopenmpi-dev openmpi-bin libzfp-dev
  libfftw3-dev libopenblas-dev libzstd-dev zlib1g-dev
  libgl1-mesa-dri libgl1 libegl1 fonts-dejavu-core adwaita-icon-theme librsvg2-common gettext
)
# The CUDA toolkit compiles its host code with a C++ compiler.
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then runtime_packages+=(g++); fi
test_packages=(
  g++ xvfb xauth at-spi2-core dbus python3 python3-numpy python3-pyatspi libasan8 libubsan1 libtsan2
  clang desktop-file-utils appstream xdotool dpkg-dev xz-utils
)
# Packages that only some releases have, or under another name: taken where they exist.
optional_packages=(libhdf5-dev libnetcdf-dev libblosc-dev)
optional_test_packages=(libsegyio-dev libclang-rt-14-dev libclang-rt-19-dev)

say() { printf '%s\n' "$*" >&2; }

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

# A line of progress every 10 s while a command runs: WHAT, how long, the last line of its
# log. with_progress WHAT LOG COMMAND...
with_progress() {
  local what=$1 log=$2 start=$SECONDS status=0 pid
  shift 2
  "$@" >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM # a background command does not hear Ctrl+C itself
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    local seconds=$((SECONDS - start))
    [ $((seconds % 10)) -ne 0 ] || say "  $what: $seconds s, $(tail -n 1 "$log" | cut -c 1-70)"
  done
  wait "$pid" || status=$?
  trap - INT TERM
  return $status
}

# install_missing PACKAGE...: only what is missing; nothing happens on repeat runs.
install_missing() {
  local missing=() p log
  for p in "$@"; do is_installed "$p" || missing+=("$p"); done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "These packages are missing and neither root nor sudo is at hand: ${missing[*]}"; return 1; }
    as_root=(sudo)
    sudo -v || return 1 # asks for the password here, not in the background
  fi
  log=$(mktemp)
  if ! with_progress "package lists" "$log" ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get update ||
     ! with_progress "packages" "$log" ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}"; then
    tail -n 20 "$log" >&2
    say "The packages could not be installed; the whole log is $log"
    return 1
  fi
  rm -f "$log"
}

# install_optional PACKAGE...: of those that are missing, the ones that this release has.
install_optional() {
  local there=() p
  for p in "$@"; do
    is_installed "$p" || { [ -n "$(apt-cache madison "$p" 2>/dev/null)" ] && there+=("$p"); } || true
  done
  [ ${#there[@]} -eq 0 ] || install_missing "${there[@]}"
}

# Names the tools that the build found and may find: when they change, Meson looks again.
toolchain() {
  command -v nvcc /usr/local/cuda/bin/nvcc || true
  pkg-config --modversion ompi-c zfp segyio gtk4 epoxy 2>/dev/null || true
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' libopenmpi-dev libzfp-dev libsegyio-dev libhdf5-dev libnetcdf-dev libblosc-dev libgtk-4-dev xvfb xdotool 2>/dev/null || true
}

# build_in FOLDER [meson options]: configures when there is something new, then builds what changed:
# the targets that $build_targets names, or all.
build_in() {
  local dir=$1; shift
  local log=$dir/build.log found
  found="$(toolchain)
$*"
  mkdir -p "$dir"
  if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
  elif [ "$found" != "$(cat "$dir/toolchain.txt" 2>/dev/null)" ]; then
    say "The build is configured again: tools, libraries or options have changed."
    { meson configure "$dir" --clearcache && meson setup --reconfigure "$dir" "$@"; } >"$log" 2>&1 || { tail -n 20 "$log" >&2; return 1; }
  fi
  printf '%s\n' "$found" >"$dir/toolchain.txt"
  if ! with_progress "building" "$log" ninja -C "$dir" ${build_targets:-}; then
    grep -E 'error|FAILED|undefined|warning' -A3 "$log" | head -60 >&2
    say "The build failed; the whole log is $log"
    return 1
  fi
}
