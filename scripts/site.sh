#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the site of the documentation in build/site/html, to be read without a network: the pages, and the reference of Python, C++, C and the
# program. scripts/site.sh [BUILD] takes the Python package and the program from a build with TUNESMITH_PYTHON=ON, as build/cuda, by default the
# first that there is. It needs doxygen, and gets Sphinx and its kin by pip into build/site/python once. Warnings are errors.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
folder=$PWD/build/site
built=${1:-}
if [[ -z $built ]]; then
  for built in build/*/ ''; do [[ -e $built/python/tunesmith/__init__.py && -x $built/cli/tunesmith ]] && break; done
fi
[[ -n $built && -e $built/python/tunesmith/__init__.py && -x $built/cli/tunesmith ]] ||
  die "${built:-No build folder} has the Python package and the program; build them with cmake --preset cuda -DTUNESMITH_PYTHON=ON, or name the folder of such a build."
built=$(realpath "$built")
interpreter=$(sed -n 's/^Python_EXECUTABLE:[A-Z]*=//p' "$built/CMakeCache.txt")
command -v doxygen >/dev/null || die "There is no doxygen; install it (Debian: apt-get install doxygen)."

mkdir -p "$folder"
python=$folder/python/bin/python
packages=(sphinx furo myst_parser breathe numpy)
if ! "$python" -c "import $(IFS=,; echo "${packages[*]}")" 2>/dev/null; then
  say "Getting ${packages[*]}"
  "${interpreter:-python3}" -m venv "$folder/python"
  "$python" -m pip install -q --disable-pip-version-check 'sphinx>=8,<10' furo 'myst-parser>=4,<6' breathe numpy
fi

rm -rf "$folder/source" "$folder/xml"
mkdir -p "$folder/source/reference"
say "Reading the headers"
{
  cat docs/site/Doxyfile
  echo "INPUT = $(ls -d choose/include/tunesmith/*.h dispatch/include/tunesmith/*.h templates/*/tunesmith/*.h | tr '\n' ' ')"
  echo "OUTPUT_DIRECTORY = $folder"
  echo "INPUT_FILTER = \"$python -B docs/site/header_text.py\""
} | doxygen -

say "Reading the pages and the program's help"
"$python" -B docs/site/stage.py . "$folder/source"
"$python" -B scripts/program_texts.py "$built/cli/tunesmith" --page "$folder/source/reference/program.md"

say "Making the site"
export PYTHONPATH=$built/python PYTHONDONTWRITEBYTECODE=1
version=$(sed -n 's/^set(TUNESMITH_VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
rm -rf "$folder/html" "$folder/doctrees"  # from an earlier run C++ names would be many times in Sphinx's tables, and take minutes
"$python" -m sphinx -q -E -W --keep-going -d "$folder/doctrees" -D "release=$version" -D "html_title=Tunesmith $version" \
  -D "breathe_projects.tunesmith=$folder/xml" "$folder/source" "$folder/html"
say "$folder/html/index.html"
