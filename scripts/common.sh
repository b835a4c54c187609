# SPDX-License-Identifier: Apache-2.0
# Sourced by the other scripts of this folder: moves to the repository's root, installs what is missing,
# builds.
set -euo pipefail
export PATH  # if it is unset, bash has a default, but its children do not
export HOME="${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Builds of all checkouts share this folder, each file by what it is made of: packed kernels, and those of the tests.
kept=${TUNESMITH_KEPT:-${XDG_CACHE_HOME:-$HOME/.cache}/tunesmith_build}

say() { printf '\n== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# check_sizes FILE...: ends the script if a file has more than 40 MB, which no file of a release has.
check_sizes() {
  local file bytes
  for file; do
    bytes=$(stat -c %s "$file")
    ((bytes <= 40000000)) || die "${file##*/} has $bytes bytes, and a file of a release has at most 40 MB."
  done
}

has_header() { printf '#include <%s>\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1; }

# install_missing [tests]: installs the Debian packages that the build needs and this machine lacks.
install_missing() {
  local missing=() as_root=()
  command -v c++ >/dev/null || missing+=(g++)
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  has_header sqlite3.h || missing+=(libsqlite3-dev)
  has_header zstd.h || missing+=(libzstd-dev)
  has_header CLI/CLI.hpp || missing+=(libcli11-dev)
  has_header nlohmann/json.hpp || missing+=(nlohmann-json3-dev)
  has_header toml++/toml.h || missing+=(libtomlplusplus-dev)
  has_header zlib.h || missing+=(zlib1g-dev)
  has_header png.h || missing+=(libpng-dev)
  if [[ ${1:-} == tests ]]; then
    has_header gmock/gmock.h || missing+=(libgtest-dev libgmock-dev)
    command -v sqlite3 >/dev/null || missing+=(sqlite3)
    command -v pkg-config >/dev/null || missing+=(pkg-config)
    [[ -d /usr/share/i18n/charmaps ]] || missing+=(locales)
    command -v mpirun >/dev/null || missing+=(openmpi-bin)
    python3 -c 'import ensurepip, sysconfig, os; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
      missing+=(python3-venv python3-dev)
  fi
  if ((${#missing[@]})); then
    local command="apt-get install -y --no-install-recommends ${missing[*]}"
    command -v apt-get >/dev/null || die "These packages are missing, and there is no apt-get to install them: ${missing[*]}. Install what they contain, then try again."
    if (($(id -u) != 0)); then
      command -v sudo >/dev/null || die "Packages are missing, and only root may install them. Run as root: $command"
      as_root=(sudo)
      [[ -t 0 ]] || as_root=(sudo -n)
      "${as_root[@]}" true || die "Packages are missing, and sudo refused. Run as root: $command"
    fi
    say "Installing ${missing[*]}"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
      die "apt-get update failed. Check the network, then run as root: $command"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive $command -q ||
      die "apt-get failed. See its messages above, then run as root: $command"
  fi
  local version
  version=$(cmake --version | sed -n 's/^cmake version //p')
  printf '3.25\n%s\n' "$version" | sort -VC || die "CMake 3.25 or later is needed, and this is $version. Debian 12 and Ubuntu 24.04 have a newer one."
}

# has_toolkit: whether CMake will find a CUDA toolkit.
has_toolkit() { command -v nvcc >/dev/null || [[ -e ${CUDA_PATH:-/usr/local/cuda} ]]; }

# cuda_by_pip FOLDER: where there is a GPU and no toolkit, gets CUDA's runtime and NVRTC into a virtual environment there. Prints its Python, or nothing.
cuda_by_pip() {
  local driver packages=(nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-nvrtc) newest='>=13'
  has_toolkit && return
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1) || return 0
  [[ $driver =~ ^[0-9]+ ]] || return 0
  # NVIDIA's drivers from 580 on run CUDA 13, older ones CUDA 12.
  ((BASH_REMATCH[0] >= 580)) || { packages=(nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12 nvidia-cuda-nvrtc-cu12); newest='>=12,<13'; }
  say "There is a GPU (driver $driver) and no CUDA toolkit: getting ${packages[*]}" >&2
  if python3 -m venv "$1" && "$1/bin/python" -m pip install -q --disable-pip-version-check "${packages[@]/%/$newest}" >&2; then
    echo "$1/bin/python"
  else
    say "The GPU is LEFT OUT: pip could not get them. Install the CUDA toolkit, or python3-venv, and check the network; then run this again." >&2
  fi
}

# build PRESET [cmake options]: configures and builds in build/PRESET; only the target `target`, if that is set.
build() {
  local preset=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # Files that use a precompiled header are cached, and those of one checkout serve another.
  export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
  say "Building (preset $preset)"
  cmake --preset "$preset" "${launcher[@]}" "-DTUNESMITH_PACK_CACHE=$kept/packed" "$@"
  cmake --build "build/$preset" -j "$(nproc)" ${target:+--target "$target"}
}

# python_for_tests FOLDER: makes a virtual environment there with the packages that the package's tests need, and ruff;
# $python_for_tests is its Python, or empty if pip cannot get them. Without ruff the tests still run.
python_for_tests() {
  python_for_tests=$1/bin/python
  local packages=(hypothesis mypy nanobind numpy plotly pytest scipy)
  local install=("$python_for_tests" -m pip install -q --disable-pip-version-check)
  if ! "$python_for_tests" -c "import $(IFS=,; echo "${packages[*]}")" 2>/dev/null; then
    say "Getting ${packages[*]} for the Python package's tests"
    if ! { python3 -m venv "$1" && "${install[@]}" "${packages[@]}"; }; then
      say "The Python package's tests are LEFT OUT: pip could not install ${packages[*]}. Check the network."
      python_for_tests=
      return
    fi
  fi
  [[ -x $1/bin/ruff ]] || "${install[@]}" --retries 0 'ruff==0.17.*' ||
    say "The style of Python files is NOT CHECKED: pip could not install ruff 0.17. Check the network."
}

# calibrate: sets `unit`, the CPU seconds that the compiler takes here for a small source. Compilers take most of the tests' time, so
# a budget in this unit holds on slow machines too.
calibrate() {
  [[ -n ${unit:-} ]] && return
  local source=$'#include <iostream>\n#include <map>\n#include <regex>\nbool f(const std::string& t) { return std::regex_match(t, std::regex("a+|b")); }\n'
  local before now
  for _ in 1 2 3; do # takes the quickest: other processes may be at work
    before=$(cpu_seconds)
    c++ -std=c++20 -O1 -x c++ -c -o /dev/null - <<<"$source"
    now=$(awk "BEGIN { print $(cpu_seconds) - $before }")
    unit=$(awk "BEGIN { print (\"${unit:-}\" == \"\" || $now < ${unit:-0}) ? $now : ${unit:-0} }")
  done
}

# cpu_seconds: the CPU seconds of all processes that this shell has waited for.
cpu_seconds() { awk -v ticks="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($14 + $15) / ticks }' "/proc/$$/stat"; }

# spend NAME BUDGET COMMAND...: runs the command, and notes its CPU seconds for tell_spent.
spend() {
  local name=$1 budget=$2 before
  shift 2
  calibrate
  before=$(cpu_seconds)
  "$@"
  spent+=("$name	$(awk "BEGIN { print $(cpu_seconds) - $before }")	$budget")
}

# tell_spent: prints the time of each part, and the parts that took more than their budget; with
# TUNESMITH_BUDGET=strict that is a failure.
tell_spent() {
  say "CPU seconds; a budget is in units of $unit s, what the compiler takes here for a small source"
  printf '%s\n' "${spent[@]}" | awk -F'\t' -v unit="$unit" '
    { late = $2 > $3 * unit; any = any || late; sum += $2
      printf "%-24s %6.0f s of %6.0f%s\n", $1, $2, $3 * unit, late ? "  OVER ITS BUDGET: make it shorter, or say in CONTRIBUTING.md what it is worth" : "" }
    END { printf "%-24s %6.0f s\n", "together", sum; exit any }' || [[ ${TUNESMITH_BUDGET:-} != strict ]]
}
