#!/usr/bin/env bash
# A parameter row whose field has another type must not compile; the same row rightly typed must.
#   check_row_types.sh SOURCE_ROOT CC
set -eu
flags=$(pkg-config --cflags json-glib-1.0)
$2 -std=gnu17 -I"$1" $flags -fsyntax-only "$1/tests/compile/good-row.c"
if message=$($2 -std=gnu17 -I"$1" $flags -fsyntax-only "$1/tests/compile/bad-row.c" 2>&1); then
  echo "a float row on an int field compiled"; exit 1
fi
case $message in *"row and field of value differ in type"*) ;; *) echo "$message"; exit 1 ;; esac
