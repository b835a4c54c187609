#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of a real mpirun tune their shards on the host; after a merge the finals choose the winners. Exit code 77: no mpirun.
set -euo pipefail
command -v mpirun >/dev/null || { echo "mpirun is not installed (Debian: openmpi-bin), so shards are not tried with it."; exit 77; }
tunesmith=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 XDG_CACHE_HOME=$scratch/cache
ranks() { mpirun --oversubscribe -n 3 "$tunesmith" tune transpose --device host --budget 3 --jobs 1 --shard auto "$@"; }
expect() { local is; is=$(sqlite3 "$1" "$2"); [[ $is == "$3" ]] || { echo "$1: $2 gives $is, not $3."; exit 1; }; }

printf 'height=64 width=48\nheight=48 width=64\nheight=33 width=65\nheight=17 width=9\n' >problems.txt
ranks --problems problems.txt --db tuned.db
[[ ! -e tuned.db ]] || { echo "A shard wrote to tuned.db."; exit 1; }
expect tuned.1-of-3.db "SELECT count(DISTINCT problem_id) FROM measurement" 2
expect tuned.2-of-3.db "SELECT count(DISTINCT problem_id) FROM measurement" 1
"$tunesmith" db merge tuned.db tuned.*-of-3.db
expect tuned.db "SELECT count(DISTINCT problem) FROM winners" 4
expect tuned.db "SELECT count(*) FROM winners WHERE has_binary" 0
"$tunesmith" finals transpose --device host --db tuned.db
expect tuned.db "SELECT count(*) FROM winners WHERE NOT has_binary" 0
expect tuned.db "SELECT count(DISTINCT problem) FROM winners" 4

# With one problem each rank has its own seed; a strategy that does not learn divides the points, and only the base occurs twice.
ranks --problem "height=40 width=40" --db learnt.db
"$tunesmith" db merge learnt.db learnt.*-of-3.db
expect learnt.db "SELECT count(DISTINCT variant_id) > 4 FROM measurement" 1
ranks --problem "height=40 width=40" --strategy random --db one.db
"$tunesmith" db merge one.db one.*-of-3.db
expect one.db "SELECT count(*) FROM (SELECT variant_id FROM measurement WHERE NOT is_base GROUP BY variant_id
               HAVING count(DISTINCT session_id) > 1)" 0
expect one.db "SELECT count(DISTINCT session_id) FROM measurement" 3
