#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compile_once_test.sh compile_once.sh: the same text with the same options is compiled once, and nothing else is answered from the folder.
set -euo pipefail
once=$(realpath "$1")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir a b kept
cat >compiler <<'END'
#!/bin/bash
echo "$*" >>calls
[[ $* == *-warns* ]] && echo "a warning" >&2
[[ $* == *-fails* ]] && exit 3
while (($#)); do [[ $1 == -o ]] && echo "object $(wc -l <calls)" >"$2"; shift; done
exit 0
END
chmod +x compiler
export TUNESMITH_COMPILED=$scratch/kept TUNESMITH_COMPILER=$scratch/compiler
calls() { # calls NUMBER WHY
  (($(wc -l <calls) == $1)) || { echo "$2: the compiler was called $(wc -l <calls) times instead of $1"; exit 1; }
}
touch calls
echo "one" >a/variant.cpp
cp a/variant.cpp b/variant.cpp
"$once" -O1 -o a/variant.so a/variant.cpp
"$once" -O1 -o b/variant.so b/variant.cpp
calls 1 "the same text in another folder"
cmp a/variant.so b/variant.so
"$once" -O2 -o b/variant.so b/variant.cpp
calls 2 "another option"
echo "two" >b/variant.cpp
"$once" -O1 -o b/variant.so b/variant.cpp
calls 3 "another text"
for number in 4 5; do
  if "$once" -fails -o b/variant.so b/variant.cpp; then echo "a failure became a success"; exit 1; fi
  calls "$number" "a failure"
done
for number in 6 7; do
  [[ $("$once" -warns -o b/variant.so b/variant.cpp 2>&1) == "a warning" ]] || { echo "a warning was lost"; exit 1; }
  calls "$number" "a warning"
done
printf '#include <math.h>\n  # include "own.h"\n' >b/variant.cpp
for number in 8 9; do
  "$once" -O1 -o b/variant.so b/variant.cpp
  calls "$number" "a text that includes a file of its own"
done
printf '#include <math.h>\n' >b/variant.cpp
for number in 10 11; do
  "$once" -O1 -I a -o b/variant.so b/variant.cpp
  calls "$number" "a folder of headers"
done
"$once" -O1 -o b/variant.so b/variant.cpp
"$once" -O1 -o b/variant.so b/variant.cpp
calls 12 "a header of the system"
printf 'object' >b/variant.o
"$once" -shared -o a/variant.so b/variant.o
"$once" -shared -o b/variant.so b/variant.o
calls 13 "linking the same object"
"$once" --version
calls 14 "no text"
TUNESMITH_COMPILED= "$once" -O1 -o a/variant.so a/variant.cpp
calls 15 "no folder"
touch -d '1 hour ago' compiler
"$once" -O1 -o a/variant.so a/variant.cpp
calls 16 "another compiler of this name"
