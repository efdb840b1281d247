# shellcheck shell=bash
# Sourced by run.sh and test.sh: installs missing packages (Debian 12's own) and builds.

runtime_packages=(
  gcc libc6-dev meson ninja-build pkg-config python3-minimal ca-certificates
  libgtk-4-dev libepoxy-dev libcairo2-dev libpng-dev
  libsegyio-dev libjson-glib-dev
  libfftw3-dev libopenblas-dev libzstd-dev
  libgl1-mesa-dri libgl1 libegl1 fonts-dejavu-core adwaita-icon-theme
)
# The CUDA toolkit compiles its host code with a C++ compiler.
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then runtime_packages+=(g++); fi
test_packages=(
  g++ xvfb xauth at-spi2-core dbus python3 python3-numpy python3-pyatspi libasan8 libubsan1 libtsan2
  clang libclang-rt-14-dev desktop-file-utils appstream
)

say() { printf '%s\n' "$*" >&2; }

# install PACKAGE...: only what is missing; nothing happens on repeat runs.
install_missing() {
  local missing=() p
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)" = installed ] || missing+=("$p")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "These packages are missing and neither root nor sudo is at hand: ${missing[*]}"; return 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}

# build_in FOLDER [meson options]: configures once, then builds what changed.
build_in() {
  local dir=$1; shift
  local log=$dir/build.log
  if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "$@" || return 1
  fi
  mkdir -p "$dir"
  if ! ninja -C "$dir" >"$log" 2>&1; then
    grep -E 'error|FAILED|undefined|warning' -A3 "$log" | head -60 >&2
    say "The build failed; the whole log is $log"
    return 1
  fi
}
