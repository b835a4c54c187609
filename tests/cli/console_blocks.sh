#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each line that begins with "$ " inside the ```console blocks of a page; a line that ends with a backslash goes
# on. Fails at the first command that fails. The output on the page is not compared: it changes with the machine.
set -euo pipefail
page=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$root/db" "$root/bench" "$root/examples" "$root/generated" "$root/templates" .  # what a page may name in a checkout
export TUNESMITH_DB="$scratch/tunesmith.db" XDG_CACHE_HOME="$scratch/cache"
awk '/^```/ { inside = ($0 == "```console"); next }
     inside && (more || /^\$ /) { more = /\\$/; sub(/^\$ /, ""); print }' "$page" >commands
[[ -s commands ]] || { echo "$page has no commands"; exit 0; }
bash -exo pipefail commands
