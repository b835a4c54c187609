#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests: scripts/test.sh [ctest options], such as -L unit or -R Store.
# Then repeats under the sanitizers those of the libraries, except whole runs of tuning, searching, merging and dispatch, whose parts are
# tested one by one, and comparisons of whole spaces, whose rules other tests ask too; TUNESMITH_ASAN=0 leaves that out, `cmake --build build/asan && ctest --preset asan` takes all.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing tests
python_for_tests build/python
# Of winners and portfolios only the names are packed, and the tests compile what they take of them: some minutes of NVRTC less.
build cuda -DTUNESMITH_WERROR="${TUNESMITH_WERROR:-OFF}" -DTUNESMITH_FAST_BUILD=ON -DTUNESMITH_PORTFOLIOS=named -DTUNESMITH_PYTHON="${python_for_tests:+ON}" -DPython_EXECUTABLE="$PWD/$python_for_tests"
say "Testing"
ctest --preset cuda -j "$(nproc)" "$@"
if [[ ${TUNESMITH_ASAN:-1} != 0 ]]; then
  mkdir -p build/asan/dispatch/packed_before # where the build finds the tables solved, a minute with sanitizers
  cp build/cuda/dispatch/packed_before/*.factors build/asan/dispatch/packed_before/
  target=tests_of_libraries build asan -DTUNESMITH_FAST_BUILD=ON -DTUNESMITH_EXAMPLES=OFF
  say "Testing the libraries under the address and undefined-behaviour sanitizers"
  ctest --preset asan -j "$(nproc)" -LE 'cli|nvrtc|docs|install|soak' \
    -E '(_NOT_BUILT$|^(OneDefinition|DeviceRuns|Search/(Learners|Strategies)|Counts/Simulated|Ops/ConditionalAxes|Dispatcher.*RandomProblems|SharedLibrary|Pack))' "$@"
fi
