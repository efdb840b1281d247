#!/usr/bin/env bash
# Installs what is missing, builds, and opens Lithoscope:
#   ./run.sh              on the generated demo cube
#   ./run.sh FILE.sgy     on a file of yours
# Without a display the same demo runs headless: pictures and a timing table in demo/, exit status 0.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$top/.ci/setup.sh"

files=()
for f in "$@"; do files+=("$(realpath -- "$f")"); done
cd "$top"
install_missing "${runtime_packages[@]}"
build_in build --buildtype=release

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
