#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the job of docs/scaling.md with two tasks on the host. Exit code 77: Slurm does not run here.
set -euo pipefail
tunesmith=$(realpath "$1") page=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
awk '/^```/ { inside = ($0 == "```bash"); next } inside' "$page" >job.sh
[[ $(head -1 job.sh) == '#!/bin/bash' ]] || { echo "$page has no job."; exit 1; }
bash -n job.sh
command -v sbatch >/dev/null && timeout 20 sinfo --noheader --states=idle 2>/dev/null | grep -q . ||
  { echo "No idle node of Slurm: the grammar of the job was checked, and it was not run."; exit 77; }
ln -s "$tunesmith" tunesmith
export PATH=$scratch:$PATH XDG_CACHE_HOME=$scratch/cache
printf 'height=64 width=48\nheight=48 width=64\nheight=33 width=65\n' >problems.txt
sed -i 's/--ntasks=8/--ntasks=2/; /gpus-per-task/d; s/--cpus-per-task=16/--cpus-per-task=1/
        s/conv2d/transpose/; s/--device cuda/--device host/; s/--budget 60s/--budget 3/' job.sh
timeout 200 sbatch --wait --output=job.out job.sh || { cat job.out; exit 1; }
is=$(sqlite3 tuned.db "SELECT count(DISTINCT problem) || ' ' || min(has_binary) || ' ' || (SELECT count(*) FROM session) FROM winners")
[[ $is == "3 1 3" ]] || { echo "Winners' problems, their binaries, sessions: $is, not 3 1 3."; exit 1; }
