#!/usr/bin/env bash
# Builds and runs all tests: scripts/test.sh [ctest options], such as -L unit or -R Store.
# Then repeats them, except those of NVRTC, the pages' examples, the packages and the soak, under the sanitizers; TUNESMITH_ASAN=0 leaves that out.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing tests
python_for_tests build/python
build cuda -DTUNESMITH_FAST_BUILD=ON -DTUNESMITH_PYTHON="${python_for_tests:+ON}" -DPython_EXECUTABLE="$PWD/$python_for_tests"
say "Testing"
ctest --preset cuda -j "$(nproc)" "$@"
if [[ ${TUNESMITH_ASAN:-1} != 0 ]]; then
  build asan -DTUNESMITH_FAST_BUILD=ON
  say "Testing under the address and undefined-behaviour sanitizers"
  ctest --preset asan -j "$(nproc)" -LE 'nvrtc|docs|install|soak' "$@"
fi
