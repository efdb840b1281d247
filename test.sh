#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests under a virtual display. Ends with the line
# "N passed, N failed, N skipped"; the exit status is 0 when nothing failed.
#   QUICK=1 ./test.sh   leaves out the sanitizer builds
set -euo pipefail
cd "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. .ci/setup.sh
exec 3>&1 1>&2   # everything but the last line goes to standard error

install_missing "${runtime_packages[@]}" "${test_packages[@]}"
install_optional "${optional_packages[@]}" "${optional_test_packages[@]}"
# Warnings are errors where somebody watches; elsewhere a newer compiler's new warning stops nobody.
werror=-Dwerror=false
[ -z "${CI:-}" ] || werror=-Dwerror=true
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)}
export LITHO_SCREENSHOTS=$PWD/build-test/screenshots   # left there to be looked at
status=0
logs=()

# tests FOLDER [meson test options]. One more at a time than there are processors: window tests wait for
# frames and tests of files for the disk.
run_tests() {
  local dir=$1; shift
  xvfb-run -a -s '-screen 0 2560x1440x24 +extension GLX' \
    meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes $(($(nproc) + 1)) "$@" || status=1
  logs+=("$dir/meson-logs/testlog.json")
}

# Code for the cards that are here. Where there are none it is compiled to be looked at: for one kind, as
# quickly as nvcc does; five kinds take five times as long, and the last optimizations half of it.
archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -un | paste -sd, || true)
nvcc_args=; [ -n "$archs" ] || nvcc_args=-Xcicc,-O1,-Xptxas,-O1
# Lines of the sources are told where the sanitizers need them; elsewhere they cost a sixth of the time.
build_in build-test -Doptimization=2 -Ddebug=false $werror -Dfuzz=true -Dgpu_archs="${archs:-80}" -Dnvcc_args="$nvcc_args" || status=2
mkdir -p "$LITHO_SCREENSHOTS"

# GTK, drivers and OpenMP's runtime are not ours to check: the parts that read files, keep state
# and share data between threads are. Four checks of every access cost as much as all others and find
# little that the address sanitizer does not; the fuzzer (clang's sanitizers) has them.
build_sanitizers() {
  build_targets='quick-tests lithoscope-gmo' build_in build-asan -Doptimization=2 -Ddebug=false $werror -Db_sanitize=address,undefined \
    -Dc_args='-g1 -fno-sanitize=alignment,null,object-size,pointer-overflow' \
    -Db_lundef=false -Dcuda=disabled -Dwindow=disabled || return
  build_targets='tests/test-engine tests/test-worker tests/test-stream' build_in build-tsan -Doptimization=1 -Ddebug=false -Dc_args=-g1 $werror -Db_sanitize=thread \
    -Db_lundef=false -Dcuda=disabled -Dwindow=disabled
}

# Tests wait for frames, timers and the disk: the sanitizers' builds take the processors' idle time.
sanitizers=
if [ -z "${QUICK:-}" ] && [ $status -eq 0 ]; then
  mkdir -p build-asan
  set -m   # a process group of its own, to be ended as one
  { chrt -i -p 0 $BASHPID || renice -n 19 -p $BASHPID; build_sanitizers; } >build-asan/progress.txt 2>&1 &
  sanitizers=$!
  set +m
  trap 'kill -- -$sanitizers 2>/dev/null || true' EXIT
fi
[ $status -eq 0 ] && run_tests build-test --timeout-multiplier 4   # slow machines

if [ -n "$sanitizers" ]; then
  say "The sanitizers' builds:"
  wait "$sanitizers" || status=2
  cat build-asan/progress.txt
  sanitizers=
  if [ $status -ne 2 ]; then
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 LSAN_OPTIONS=suppressions=$PWD/.ci/lsan.supp:print_suppressions=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
      run_tests build-asan --suite quick --timeout-multiplier 12
    # GLib's slices pass memory between threads under locks that the sanitizer cannot see.
    G_SLICE=always-malloc run_tests build-tsan engine worker stream --timeout-multiplier 12
  fi
fi

.ci/count "${logs[@]}" >&3 || status=1
exit $status
