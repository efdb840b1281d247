#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_fuzz.sh PROGRAM SECONDS [CORPUS]: fuzz from the program's seeds and the kept corpus for so long; a finding fails.
set -e
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/seeds" "$here/new"
"$1" --seeds "$here/seeds"
ASAN_OPTIONS=allocator_may_return_null=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 "$1" "$here/new" ${3:+"$3"} "$here/seeds" \
    -max_len=20000 -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -artifact_prefix="${TMPDIR:-/tmp}/litho-" -print_final_stats=1 -verbosity=0
