#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the surveys and velocity models of data/surveys anew: data/surveys/make.sh [FOLDER]
# FOLDER is data/surveys unless it is given; lithoscope-cli is the one on the path, or else that of build/.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:$here/../../build/app
out=$(realpath "${1:-$here}")
mkdir -p "$out"/{noise,holes,trough,salt,shots,tip-waves}
cd "$out"
make_survey() { lithoscope-cli synth "$@" --force; }

# A fault over a dome in white noise, 3 dB of signal over noise, and the cube without noise.
make_survey fault inlines=20 xlines=40 samples=150 snr=3 -o noise/noisy.sgy

# Curved events, two traces of five taken away, and the whole cube.
make_survey curved inlines=24 xlines=32 samples=128 snr=20 missing=40 -o holes/holes.sgy

# A zero-offset section over a trough, and the velocity cube to migrate it with.
make_survey models model=syncline inlines=1 xlines=100 samples=200 depths=70 depth=500 --velocity --no-truth -o trough/stack.sgy

# A zero-offset section over a fast body between two reflectors, and its velocity.
make_survey models model=salt inlines=1 xlines=120 samples=250 depths=90 depth=500 --velocity --no-truth -o salt/stack.sgy

# Three shot records of one line over a dipping reflector, and its velocity.
make_survey models model=dipping record=shot inlines=1 xlines=61 samples=160 depths=60 depth=500 source_x=300 source_y=0 \
  shots=3 shot_step=300 --velocity --no-truth -o shots/shots.sgy

# Depth and velocity without the fast body.
printf '%s\n' '0 3000' '500 3000' '520 3450' '2000 3450' > salt/table.txt

# Points x, y, z (m) of a dome on a slope.
awk 'BEGIN { for (x = -800; x <= 800; x += 50) for (y = -300; y <= 300; y += 50)
  printf "%d %d %.1f\n", x, y, 600 - 120 * exp(-((x - 100) / 300)^2) + 0.04 * x }' > tip-waves/horizon.txt
