#!/usr/bin/env bash
# Installs what is missing, builds, and opens Lithoscope; `./run.sh --help` tells more.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$top/.ci/setup.sh"

usage() {
  cat <<'END'
usage: ./run.sh [-Doption=value ...] [FILE ...]

Installs the Debian packages that are missing (as root or by sudo), builds in build/ and opens
Lithoscope on FILE, or on a generated cube. Without a display the demo runs headless: pictures and a
timing table in demo/, exit status 0.

  -Doption=value  an option of the build, kept from then on:
                    -Dgpu_archs=90       code for one GPU architecture only: a faster build
                    -Dcuda=disabled      no CUDA module, even where nvcc is found
                    -Dmpi=disabled       no MPI module
                    -Dnative=false       code for any x86-64 processor
  -h, --help      this text
END
}

files=() options=()
for word in "$@"; do
  case $word in
    -h|--help) usage; exit 0 ;;
    -D?*) options+=("$word") ;;
    -*) printf 'run.sh: there is no option %s\n' "$word" >&2; usage >&2; exit 2 ;;
    *) [ -e "$word" ] || { printf 'run.sh: there is no file %s\n' "$word" >&2; exit 2; }
       files+=("$(realpath -- "$word")") ;;
  esac
done
cd "$top"
install_missing "${runtime_packages[@]}"
install_optional "${optional_packages[@]}"
build_in build --buildtype=release -Dtests=false ${options[@]+"${options[@]}"}

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  if [ ${#files[@]} -gt 0 ]; then exec build/app/lithoscope "${files[@]}"; fi
  exec build/app/lithoscope --demo
fi

say "No display: running the demo headless."
cli=build/app/lithoscope-cli
mkdir -p demo
if [ ${#files[@]} -gt 0 ]; then
  in=${files[0]}
else
  in=demo/survey.sgy
  $cli synth survey -o "$in" --force
fi
$cli info "$in" | tee demo/info.txt
$cli run fx -i "$in" -o demo/filtered.sgy --force --timings demo/timings.json
$cli render "$in" --against demo/filtered.sgy -o demo/fx.png --force
$cli bench fx --size 64x64x256 --backends cpu1,cpu --repeat 3 --json demo/bench.json --force | tee demo/bench.txt
say "Pictures and tables are in $top/demo."
