#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the guide's pictures with the program itself: docs/guide/pictures.sh [FOLDER]
# FOLDER is docs/guide unless it is given; lithoscope-cli is the one on the path, or else that of build/.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:$here/../../build/app
out=$(realpath "${1:-$here}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cli() { lithoscope-cli "$@" --progress none; }

lithoscope-cli synth survey inlines=40 xlines=60 samples=150 -o survey.sgy

# Looking: three slices and the scene.
cli render survey.sgy --inline 1020 --time 300ms --size 760x330 -o "$out/slices.png" --force

# Comparing: one section as input, split and removed.
cli demo "$here/pictures.json" -o frames --size 700x370
for n in 0:input 1:split 2:removed; do
  cp "frames/frame-0000${n%%:*}.png" "$out/compare-${n#*:}.png"
done

# Tuning: values side by side, with the figures that judge them.
cli sweep fx prewhitening=0,1,100,1000 -i survey.sgy -o "$out/sweep.png" --force

# Reading: a good and a bad setting.
cli sweep fx prewhitening=10,1000 --show removed -i survey.sgy -o "$out/removed.png" --force
cli sweep fx prewhitening=10,1000 --show similarity -i survey.sgy -o "$out/similarity.png" --force

# Which operator: a bow tie and the trough that it is; seismograms of a dome.
lithoscope-cli synth models model=syncline inlines=1 xlines=100 samples=200 depths=70 depth=500 --velocity -o tie.sgy
cli run migrate velocity=tie-velocity.sgy nz=80 -i tie.sgy -o trough.sgy
cli render tie.sgy --inline 1 --size 380x300 -o "$out/bow-tie.png" --title "Stack" --force
cli render trough.sgy --inline 1 --size 380x300 -o "$out/trough.png" --title "Depth image" --force
