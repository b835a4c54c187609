#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests what scripts/release.sh does before it builds: it writes a version into the files that name it, and refuses what is no release.
# release_test.sh SOURCE
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/docs" "$scratch/scripts"
cp "$source"/{CMakeLists.txt,CHANGELOG.md,SUPPORT.md,CITATION.cff} "$scratch"
cp "$source"/docs/{packaging,design,why}.md "$scratch/docs"
cp "$source"/scripts/{release,common}.sh "$scratch/scripts"
cd "$scratch"
# A section that is still to be released, whatever the checkout's own says.
sed -i '0,/^## .*/s//## 7.8.9, not released yet\n\n## 0.0.1, 2020-01-01/' CHANGELOG.md
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q . && git add . && git commit -qm before

# refuses WORDS ARGUMENTS...: the script must fail and say so.
refuses() {
  local words=$1 said
  shift
  if said=$(scripts/release.sh "$@" 2>&1); then
    echo "release.sh $* should have failed: $said" >&2
    exit 1
  fi
  [[ $said == *"$words"* ]] || { echo "release.sh $* should say \"$words\" and says: $said" >&2; exit 1; }
}
refuses 'it has three numbers' --prepare 0.2
refuses 'has no section "## 1.2.3, not released yet"' --prepare 1.2.3
refuses 'is not known' --wheels
refuses 'CHANGELOG.md begins with "## 7.8.9, not released yet"'
[[ -z $(git status --porcelain) ]] || { echo "A refusal has changed files." >&2; exit 1; }

# Files that are too large end a release.
truncate -s 40000000 largest && truncate -s 40000001 larger
(source scripts/common.sh && check_sizes largest)
said=$( (source scripts/common.sh && check_sizes largest larger) 2>&1) && { echo "A file of more than 40 MB was taken." >&2; exit 1; }
[[ $said == *"larger has 40000001 bytes"* ]] || { echo "check_sizes says $said" >&2; exit 1; }
rm largest larger

scripts/release.sh --prepare 7.8.9 >/dev/null
grep -q "^## 7.8.9, $(date -u +%F)$" CHANGELOG.md
grep -q '^set(TUNESMITH_VERSION 7.8.9 ' CMakeLists.txt
grep -q 'libtunesmith.so.7.8' docs/packaging.md
grep -q 'TUNESMITH_7.8' docs/packaging.md
grep -q 'tunesmith::v7_8_with_GLIBCXX_DEBUG' docs/packaging.md
grep -q 'tunesmith::v7_8`' docs/design.md
grep -q 'libtunesmith.so.7.8' SUPPORT.md
grep -q 'this is version 7.8;' docs/why.md
grep -q '^version: 7.8.9$' CITATION.cff
refuses 'not committed'
sed -i "s/^## 7.8.9, .*/## 7.8.9, 2999-01-01/" CHANGELOG.md
refuses 'is no day up to today'
git checkout -q docs/packaging.md
sed -i "s/^## 7.8.9, .*/## 7.8.9, 2020-01-01/" CHANGELOG.md
git commit -qam prepared
refuses 'and this is version 7.8.9'

# The sources that a release is built from are those of the commit, and name the project's address.
cp "$source"/{pyproject.toml,SECURITY.md,README.md} .
mkdir -p python cmake && cp "$source/python/README.md" python && cp "$source/cmake/install.cmake" cmake && cp "$source/scripts/name_url.py" scripts
sed -i "s/^## 7.8.9, .*/## 7.8.9, 2020-01-01/" CHANGELOG.md
sed -i -E 's/libtunesmith(\.so\.)?[0-9]+\.[0-9]+/libtunesmith\17.8/; s/v[0-9]+_[0-9]+/v7_8/' docs/packaging.md
echo build/ >.gitignore
git add . && git commit -qm sources
TUNESMITH_URL=https://host.invalid/owner/name scripts/release.sh --sources >/dev/null
grep -q '^Repository = "https://host.invalid/owner/name"$' build/release-sources/pyproject.toml
grep -q '^repository-code: "https://host.invalid/owner/name"$' build/release-sources/CITATION.cff
git diff --quiet  # the checkout itself names none
scripts/release.sh --sources >/dev/null
cmp pyproject.toml build/release-sources/pyproject.toml
TUNESMITH_URL=here refuses 'set it to the address of the repository' --sources
