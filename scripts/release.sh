#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes and tests the files of a release in build/release-VERSION: wheels, sdist, archives and Debian packages, the static export of the shipped
# winners, a conda recipe, a Containerfile, checksums. It needs no network but pip's.
#   scripts/release.sh --prepare VERSION   writes the version into CMakeLists.txt and the pages, and today's date into CHANGELOG.md; then commit
#   scripts/release.sh [PYTHON...]         makes the release of this commit, for all installed Pythons by default
#   scripts/release.sh --trial [PYTHON...] does the same for a tree that is no release yet, and says what a release would refuse
#   scripts/release.sh --trial --built FOLDER  a trial of what a build with TUNESMITH_PYTHON=ON has compiled already, as build/cuda: minutes
#   scripts/release.sh --sources           makes only the sources that the release is built from, in build/release-sources
# TUNESMITH_TARGETS=host, TUNESMITH_FAST_BUILD=ON and so on choose what is built, for trials. TUNESMITH_URL is the address of the project's repository:
# the release is built from a copy of the commit that names it (scripts/name_url.py), and the conda recipe gets the sdist from its releases.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
version_in() { sed -n 's/^set(TUNESMITH_VERSION \([0-9.]*\) .*/\1/p' "$1"; }
version=$(version_in CMakeLists.txt)
pages=(docs/packaging.md docs/design.md docs/why.md SUPPORT.md)  # what names the library's version

if [[ ${1:-} == --prepare ]]; then
  next=${2:-}
  [[ $next =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "The version is \"$next\"; it has three numbers, such as 0.2.0."
  grep -q "^## ${next//./\\.}, not released yet$" CHANGELOG.md || die "CHANGELOG.md has no section \"## $next, not released yet\"; write what users get, then try again."
  sed -i "s/^## ${next//./\\.}, not released yet$/## $next, $(date -u +%F)/" CHANGELOG.md
  sed -i "s/^set(TUNESMITH_VERSION [0-9.]* /set(TUNESMITH_VERSION $next /" CMakeLists.txt
  [[ $(version_in CMakeLists.txt) == "$next" ]] || die "CMakeLists.txt has no line set(TUNESMITH_VERSION ...)."
  old=${version%.*} new=${next%.*}
  sed -i -e "s/libtunesmith\.so\.${old//./\\.}/libtunesmith.so.$new/g; s/libtunesmith${old//./\\.}\b/libtunesmith$new/g; s/TUNESMITH_${old//./\\.}\b/TUNESMITH_$new/g" \
    -e "s/v${old//./_}\b/v${new//./_}/g; s/v${old//./_}_with/v${new//./_}_with/g" -e "s/this is version ${old//./\\.};/this is version $new;/" "${pages[@]}"
  sed -i "s/^version: .*/version: $next/" CITATION.cff
  say "Version $next is written; look at it, and commit it"
  git diff --stat
  exit
fi
trial= only_sources= built=
[[ ${1:-} != --trial ]] || { trial=yes; shift; }
[[ ! $trial || ${1:-} != --built ]] || { built=$(realpath -e "${2:?--built needs the folder of a build with TUNESMITH_PYTHON=ON}"); shift 2; }
[[ ${1:-} != --sources ]] || { only_sources=yes; shift; }
case ${1:-} in -*) die "$1 is not known; see the top of scripts/release.sh." ;; esac

# refuse WORDS: ends a release; a trial only says it.
refuse() { if [[ $trial ]]; then say "A release would end here: $*"; else die "$*"; fi; }

say "Checking version $version"
heading=$(grep -m1 '^## ' CHANGELOG.md)
pattern="^## ${version//./\\.}, ([0-9]{4}-[0-9]{2}-[0-9]{2})$"
if [[ $heading =~ $pattern ]]; then
  dated=${BASH_REMATCH[1]}
  [[ $(date -u -d "$dated" +%F 2>/dev/null) == "$dated" && ! $dated > $(date -u +%F) ]] || refuse "CHANGELOG.md dates $version $dated, which is no day up to today."
else
  refuse "CHANGELOG.md begins with \"$heading\", and CMakeLists.txt says version $version. scripts/release.sh --prepare VERSION writes both."
fi
[[ -z $(git status --porcelain) ]] || refuse "There are changes that are not committed; a release is made of a commit."
for page in "${pages[@]}"; do
  other=$(grep -oE 'libtunesmith(\.so\.)?[0-9]+\.[0-9]+\b|tunesmith::v[0-9]+_[0-9]+|this is version [0-9]+\.[0-9]+' "$page" | grep -vE "${version%.*}$|v$(tr . _ <<<"${version%.*}")$" | head -1 || true)
  [[ -z $other ]] || refuse "$page says $other, and this is version $version."
done
[[ -z ${TUNESMITH_TARGETS:-} || ${TUNESMITH_TARGETS} == all ]] || refuse "TUNESMITH_TARGETS is $TUNESMITH_TARGETS; a release has kernels for all GPUs."

out=$PWD/build/release-$version
commit=$(git rev-parse --short HEAD) committed=$(git log -1 --format=%ct)
if [[ -n ${TUNESMITH_URL:-} || $only_sources ]]; then
  say "Naming ${TUNESMITH_URL:-no address, since TUNESMITH_URL is not set} in the sources, in build/release-sources"
  sources=$PWD/build/release-sources
  rm -rf "$sources"
  mkdir -p "$sources"
  git archive HEAD | tar -x -C "$sources"
  [[ -z ${TUNESMITH_URL:-} ]] || python3 -B scripts/name_url.py "$sources"
  [[ ! $only_sources ]] || exit 0
  cd "$sources"
fi
rm -rf "$out"
mkdir -p "$out"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say "Getting what makes the sdist, and a CMake that knows abi3"
python3 -m venv "$scratch/tools"
needed=('scikit-build-core>=0.10' pathspec)
# One CMake for the wheels and the packages: another one would compile everything again.
printf '3.26\n%s\n' "$(cmake --version | sed -n 's/^cmake version //p')" | sort -VC || needed+=('cmake>=3.26')
"$scratch/tools/bin/python" -m pip install -q --disable-pip-version-check "${needed[@]}"
mkdir "$scratch/bin"  # without the environment's Python, which is not to be taken for an installed one
for program in cmake cpack ctest; do
  [[ ! -x $scratch/tools/bin/$program ]] || ln -s "$scratch/tools/bin/$program" "$scratch/bin/$program"
done
export PATH="$scratch/bin:$PATH"
hash -r

say "Wheels"
rm -f build/wheels/tunesmith-*.whl
scripts/wheels.sh ${built:+--built "$built"} "$@"
cp build/wheels/tunesmith-"$version"-*.whl "$out"

say "Archives and Debian packages"
if [[ ! $built ]]; then
  built=$PWD/build/wheels/build  # the build of the wheels, without the package
  cmake -S . -B "$built" -DTUNESMITH_PYTHON=OFF
  cmake --build "$built" -j "$(nproc)"
fi
packages=$built/packages
rm -rf "$packages"
generators=TGZ
command -v dpkg-deb >/dev/null && generators+=";DEB" || say "There is no dpkg-deb here, so no Debian packages are made; on Debian, apt-get install dpkg."
cpack --config "$built/CPackConfig.cmake" -G "$generators" -B "$packages"
value_of() { sed -n "s/^$1:[A-Z]*=//p" "$built/CMakeCache.txt"; }
cmake -D "build=$built" -D "source=$PWD" -D "version=$version" -D "soversion=${version%.*}" -D "packages=$packages" -D generator=Ninja \
  -D "compiler=$(value_of CMAKE_CXX_COMPILER)" -D "c_compiler=$(command -v cc)" -D "launcher=$(value_of CMAKE_CXX_COMPILER_LAUNCHER)" -D flags= \
  -D "pkg_config=$(command -v pkg-config || true)" -D "dpkg_deb=$(command -v dpkg-deb || true)" -D "nm=$(value_of CMAKE_NM)" -P tests/install/consume.cmake
for archive in "$packages"/*.tar.gz; do  # of each component
  cp "$archive" "$out/tunesmith-$version-linux-$(uname -m)-${archive##*-}"
done
cp "$packages"/*.deb "$out" 2>/dev/null || true

say "Static export"
program=$built/cli/tunesmith
export TUNESMITH_DB=$scratch/none.db  # only what is shipped
"$program" export --static --target host --to "$scratch/tunesmith-static-$version"
tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$committed" -czf "$out/tunesmith-static-$version.tar.gz" "tunesmith-static-$version"
echo "conv2d height=200 width=300 mask_height=3 mask_width=3" >"$scratch/problems.txt"  # those of examples/minimal.cpp
"$program" export --static --target host --problems "$scratch/problems.txt" --to "$scratch/kernels"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(application CXX)' 'add_subdirectory(kernels)' \
  "add_executable(application $PWD/examples/minimal.cpp)" 'target_link_libraries(application PRIVATE tunesmith::dispatch)' >"$scratch/CMakeLists.txt"
cmake -S "$scratch" -B "$scratch/build" -G Ninja -DTUNESMITH_TARGETS=host -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER_LAUNCHER=$(value_of CMAKE_CXX_COMPILER_LAUNCHER)"
cmake --build "$scratch/build" -j "$(nproc)"
"$scratch/build/application"

say "sdist"
"$scratch/tools/bin/python" -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$out"
tar -C "$scratch" -xzf "$out/tunesmith-$version.tar.gz"
cmake -S "$scratch/tunesmith-$version" -B "$scratch/from_sdist" -G Ninja -DTUNESMITH_TESTS=OFF -DTUNESMITH_CUDA=OFF  # all files are there
cmake --build "$scratch/from_sdist" --target help >/dev/null

say "Recipes"
sum_of() { sha256sum "$1" | cut -d' ' -f1; }
sed -e "s|@version@|$version|; s|@url@|${TUNESMITH_URL:+$TUNESMITH_URL/releases/download/v$version}|; s|url: /|url: ./|; s|@sha256@|$(sum_of "$out/tunesmith-$version.tar.gz")|" scripts/release/meta.yaml.in >"$out/meta.yaml"
sed -e "s|@version@|$version|g; s|@soversion@|${version%.*}|g" scripts/release/Containerfile.in >"$out/Containerfile"
[[ -n ${TUNESMITH_URL:-} ]] || say "TUNESMITH_URL is not set, so meta.yaml takes the sdist that lies beside it."
if docker info >/dev/null 2>&1; then
  docker build -q -f "$out/Containerfile" "$out"
else
  say "The Containerfile was NOT TRIED: there is no docker that runs. Elsewhere: docker build -f Containerfile ."
fi
say "meta.yaml was NOT TRIED: that needs conda's packages. Elsewhere: conda build ."

say "Sizes"
(cd "$out" && sha256sum -- * >SHA256SUMS && sha256sum --quiet -c SHA256SUMS)
ls -l "$out"
check_sizes "$out"/*
say "Done: $out, of commit $commit"
