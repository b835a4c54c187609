#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs all tests: scripts/test.sh [ctest options], such as -L unit or -R Store. Large samples of kernels, and other projects'
# tests, take turns from commit to commit, except for the templates whose kernels the last commit touched: TUNESMITH_TEST_TURN= scripts/test.sh
# takes all.
# Then a fifth of the libraries' tests is repeated with sanitizers, in turn too, except whole runs of tuning, searching, merging and
# dispatch, whose parts are tested one by one, and comparisons of whole spaces, whose rules other tests ask too; TUNESMITH_ASAN=0 leaves
# that out, `cmake --build build/asan && ctest --preset asan` takes all.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing tests
python_for_tests build/python
if [[ -z ${TUNESMITH_TEST_TURN+set} ]] && TUNESMITH_TEST_TURN=$(git rev-list --count HEAD 2>/dev/null); then
  # A folder's shared kernel code stands for the op, a body or a room for its templates: "conv1d", "conv1d/tiled", "tensor/contract".
  TUNESMITH_TEST_WHOLE=$({ git diff --name-only HEAD~1 2>/dev/null || true; } |
    sed -n -e '/^templates\/common\//d' -e '/test[^/]*$/d' -e 's#^templates/\([a-z0-9_]*\)/[^/]*\.\(inl\|cuh\)$#\1#p' \
      -e 's#^templates/\([a-z0-9_]*/[a-z0-9_]*\)\(\.cu$\|/.*\.\(cu\|inl\)$\)#\1#p' | sort -u | tr '\n' ' ')
  export TUNESMITH_TEST_TURN TUNESMITH_TEST_WHOLE
  say "Samples have turn $TUNESMITH_TEST_TURN, taken as a whole for: ${TUNESMITH_TEST_WHOLE:-no template}"
fi
turn_of_three=${TUNESMITH_TEST_TURN:+$((TUNESMITH_TEST_TURN % 3))}
touched=$(git diff --name-only HEAD~1 2>/dev/null) || touched=
left_out= # programs and libraries of tests that are not built
untested='_NOT_BUILT$'
# turn_of TURN FOLDERS TARGETS TESTS: these are built and run in one of three commits, and in those that touch one of the folders.
turn_of() {
  [[ -z $turn_of_three || $turn_of_three == "$1" ]] || grep -qE "^($2)/" <<<"$touched" || { left_out+="$3;" untested+="|$4"; }
}
turn_of 0 'bench|cmake|tests/(adding_an_op|bench|install)' 'bench_compiles;example_op_tests;tunesmith_examples' '^docs\.adding_an_op\.commands$|^Install\.AnOpOfOnesOwn$'
turn_of 1 'cmake|examples|tests/(consumer|install)' '' '^Install\.AConsumerFindsThePackage$'
nvidia-smi -L >/dev/null 2>&1 || turn_of 1 'runtime|tests/cuda' 'gpu_tests;cuda_dispatch_tests' '^gpu_tests'
turn_of 2 'cli/static|cmake|tests/(shared_library|static)' 'tunesmith_next;user_of_next;two_versions_test' '^RenderedText\.|^StaticExport\.IsBuiltWithoutSqlite'
# thirds SUITE FOLDERS NAME...: of these tests, which take seconds each, a third has its turn; all where one of the folders was touched.
thirds() {
  local suite=$1 folders=$2 at=${TUNESMITH_TEST_TURN:-0} name
  shift 2
  [[ -n $turn_of_three ]] && ! grep -qE "^($folders)" <<<"$touched" || return 0
  for name; do
    ((at++ % 3 == 0)) || grep -qxF "$name" <<<"$touched" || untested+="|^$suite\.$name\$"
  done
}
names_in() { sed -n "s/^TEST_F*($1, \(.*\)) {/\1/p" "$2"; }
thirds UserKernelTest '(cli|kernel_file|tuner)/' $(names_in UserKernelTest tests/cli/user_kernel_test.cpp)
thirds Flow '(choose|cli|tuner)/' $(names_in Flow tests/cli/flow_test.cpp)
thirds docs cli/ $(grep -lx '```console' ./*.md ./*/*.md templates/*/*.md | sed 's#^\./##')
thirds python '(python|tests/python)/' $(for file in tests/python/test_*.py; do file=${file##*/test_}; echo "${file%.py}"; done)
# It runs where one of the two that unpack them does: ctest forgets what -E leaves out, also as another test's fixture.
[[ $untested != *AnOpOfOnesOwn* || $untested != *AConsumerFindsThePackage* ]] || untested+='|^Install\.Packages$'
# Kernels are packed for the host, for one of five GPUs, and for the GPU whose kernels others run too, which is enough for all tests of dispatch.
# A fifth of the GPUs' bases has its turn, one of each width of transpose. Only the names of the others, of winners and of portfolios are packed, and the tests compile those
# that they use: this saves some minutes of NVRTC. Budgets are in units of calibrate().
spend "build" 340 build cuda -DTUNESMITH_WERROR="${TUNESMITH_WERROR:-OFF}" -DTUNESMITH_FAST_BUILD=ON -DTUNESMITH_PORTFOLIOS=named \
  "-DTUNESMITH_TARGETS=host;sm_80;sm_90a" "-DTUNESMITH_BASES=${TUNESMITH_TEST_TURN:+$((TUNESMITH_TEST_TURN % 5))/5}" "-DTUNESMITH_TESTS_LEFT_OUT=$left_out" -DTUNESMITH_PYTHON="${python_for_tests:+ON}" \
  -DPython_EXECUTABLE="$PWD/$python_for_tests"
jobs=$(($(nproc) + 1)) # some tests wait for the disk, or for a process that is to hang
say "Testing"
export TUNESMITH_COMPILED=$kept/tests
mkdir -p "$TUNESMITH_COMPILED"
find "$TUNESMITH_COMPILED" -type f -mtime +3 -delete
# with_shared_kernels COMMAND...: its tests compile a kernel for the host once for all of them, and for the runs of the next days.
with_shared_kernels() { TUNESMITH_COMPILER=$(command -v "${TUNESMITH_CXX:-c++}") TUNESMITH_CXX=$PWD/tests/compile_once.sh "$@"; }
spend "tests" 280 with_shared_kernels ctest --preset cuda -j "$jobs" -E "$untested" "$@"
if [[ ${TUNESMITH_ASAN:-1} != 0 ]]; then
  # The libraries of the part are watched, and the others are those of build/cuda. Five parts take turns, so that samples, which have three
  # turns, are each in each part at some time.
  case ${TUNESMITH_TEST_TURN:+$((TUNESMITH_TEST_TURN % 5))} in
    0) part=core labels='unit' watched='generator;language;kernel_file' ;;
    1) part=kernels labels='host' watched='generator;language' ;;
    2) part=tuner labels='unit|db' watched='generator;db;tuner' ;;
    3) part=ops labels='host' watched='generator;language;templates' ;;
    4) part=dispatch labels='dispatch|fuzz' watched='generator;choose;dispatch' ;;
    *) part=libraries labels='.' watched='' ;;
  esac
  # A report then names functions but not lines; `cmake --preset asan` builds with lines, and optimises: that takes the compiler twice as long.
  target=tests_of_$part spend "build with sanitizers" 90 \
    build asan -DTUNESMITH_FAST_BUILD=ON -DTUNESMITH_EXAMPLES=OFF "-DTUNESMITH_SANITIZED_LIBRARIES=$watched" "-DTUNESMITH_BUILT=$PWD/build/cuda" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 -DNDEBUG"
  say "Testing $part under the address and undefined-behaviour sanitizers"
  spend "tests with sanitizers" 60 with_shared_kernels ctest --preset asan -j "$jobs" -L "$labels" -LE 'cli|nvrtc|docs|install|soak' \
    -E '(_NOT_BUILT$|^(OneDefinition|DeviceRuns|Search/(Learners|Strategies)|Counts/Simulated|Dispatcher.*RandomProblems|SharedLibrary|Pack))' "$@"
fi
tell_spent
