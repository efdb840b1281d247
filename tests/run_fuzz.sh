#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_fuzz.sh FUZZ-SEGY SECONDS [CORPUS]: fuzz from the seed corpus for so long; a finding fails.
set -e
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/seeds" "$here/corpus"
"$1" --seeds "$here/seeds"
ASAN_OPTIONS=allocator_may_return_null=1 "$1" "${3:-$here/corpus}" "$here/seeds" -max_len=12500 \
    -max_total_time="$2" -timeout=20 -rss_limit_mb=3000 -artifact_prefix="${TMPDIR:-/tmp}/litho-" \
    -verbosity=0
