#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The compiler of kernels for the host in a run of the tests (TUNESMITH_CXX): what another test of the run has had compiled already, with the
# same options, is copied from $TUNESMITH_COMPILED. A third of all kernels of a run have a text that another one has too.
PATH=$PATH:/usr/bin:/bin
compiler=${TUNESMITH_COMPILER:-c++}
options=()
text=
object=
words=("$@")
for ((i = 0; i < $#; ++i)); do
  case ${words[i]} in
    -o) object=${words[++i]} ;;
    *.cpp) text=${words[i]} ;;
    *) options+=("${words[i]}") ;;
  esac
done
[[ -n $text && -n $object && -d ${TUNESMITH_COMPILED:-} ]] || exec "$compiler" "$@"
read -r name _ < <({ printf '%s\n' "$compiler" "${options[@]}" && cat -- "$text"; } | sha256sum)
known=$TUNESMITH_COMPILED/$name
if [[ -e $known ]] && cp -- "$known" "$object"; then
  exit
fi
said=$("$compiler" "$@" 2>&1)
status=$?
[[ -z $said ]] || printf '%s\n' "$said" >&2
# A warning is said each time. Others see a whole file or none.
if ((status == 0)) && [[ -z $said ]]; then
  cp -- "$object" "$known.$$" && mv -- "$known.$$" "$known"
fi
exit $status
