#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each line that begins with "$ " inside the ```console blocks of a page; a line that ends with a backslash goes
# on. Fails at the first command that fails. The output on the page is not compared: it changes with the machine.
# A search ends after 3 variants or 3 seconds where the page lets it go on for longer: that it does find more is not what is tested here.
set -euo pipefail
page=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$root/db" "$root/bench" "$root/examples" "$root/generated" "$root/templates" .  # what a page may name in a checkout
export TUNESMITH_DB="$scratch/tunesmith.db" XDG_CACHE_HOME="$scratch/cache"
awk '/^```/ { inside = ($0 == "```console"); next }
     inside && (more || /^\$ /) { more = /\\$/; sub(/^\$ /, ""); print }' "$page" |
  sed -E 's/ --(budget|total) ([4-9]|[1-9][0-9]+)(s?)(,[0-9]+)?/ --\1 3\3/' >commands
[[ -s commands ]] || { echo "$page has no commands"; exit 0; }
bash -exo pipefail commands
