#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program tunes the problems that an application saved; then the application loses less time.
set -euxo pipefail
application=$1 tunesmith=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$application" app.txt --device host --db app.db
grep '^conv2d weight=.* # 20 launches, base' app.txt
grep '^transpose weight=.* # 1 launch, base' app.txt
[[ $(grep -v '^#' app.txt | sort -t= -k2 -n -r) == "$(grep -v '^#' app.txt)" ]]
"$tunesmith" tune --problems app.txt --device host --budget 2 --db app.db
"$application" app.txt --device host --db app.db | tee app.out
grep '^transpose weight=0 ' app.txt
