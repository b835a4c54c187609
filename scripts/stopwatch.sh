#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Times what a newcomer does first, and writes a row each for docs/stopwatch.csv: scripts/stopwatch.sh WHEEL [PYTHON] installs a wheel of
# scripts/wheels.sh in a fresh environment, runs README's first Python block and its first `tune`, and draws a report. With the word `clone` in place
# of a wheel it times scripts/quickstart.sh in a fresh clone of this commit. Work of others on the machine makes the seconds longer, and the processor's
# seconds only a little.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
what=${1:?Give the file of a wheel, or the word clone}
commit=$(git rev-parse --short HEAD) root=$PWD
[[ $what == clone ]] || what=$(realpath -e "$what")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TUNESMITH_DB=$scratch/home/tunesmith.db XDG_CACHE_HOME=$scratch/home
mkdir -m 700 "$scratch/home"

# timed WORDS COMMAND...: a row of what the command took. TIMEFORMAT: seconds, user's and system's processor seconds.
timed() {
  local words=$1 TIMEFORMAT='%0R %0U %0S' wall user system
  shift
  { time "$@" >"$scratch/said" 2>&1 </dev/null; } 2>"$scratch/took" || { cat "$scratch/said" >&2; die "$words failed."; }
  read -r wall user system <"$scratch/took"
  printf '%s,%s,%s,%s,%s\n' "$words" "$wall" "$((user + system))" "$(nproc)" "$commit"
}

cd "$scratch"
echo 'what,seconds,processor_seconds,processors,commit'
if [[ $what == clone ]]; then
  git clone -q "$root" clone
  timed 'scripts/quickstart.sh in a fresh clone' clone/scripts/quickstart.sh
  exit
fi
python=$(command -v "${2:-python3}")
timed 'a fresh environment' "$python" -m venv environment
export PATH=$scratch/environment/bin:$PATH
timed 'pip install of the wheel with what a report needs' python -m pip install -q --disable-pip-version-check "$what" plotly
sed -n '/^```python$/,/^```$/p' "$root/README.md" | sed '1d;/^```/,$d' >first.py
timed 'the first Python block of README' python first.py
cp "$root/examples/user_kernels/softmax_rows.cu" .
timed 'the first tune of README' tunesmith tune softmax_rows.cu --device host --budget 4 --problem 'rows=64 cols=1000'
timed 'a query' tunesmith query softmax_rows.cu
timed 'a report' tunesmith report --kernel softmax_rows.cu
