#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The compiler of kernels for the host in a run of the tests (TUNESMITH_CXX): what has been compiled already, by the same compiler with the
# same options, is copied from $TUNESMITH_COMPILED. A third of all kernels of a run have a text that another one has too, and most have the
# text that they had in the run before. A text that includes a file of its own, which the key would not tell, is compiled each time.
PATH=$PATH:/usr/bin:/bin
compiler=${TUNESMITH_COMPILER:-c++}
options=()
text=
object=
words=("$@")
for ((i = 0; i < $#; ++i)); do
  case ${words[i]} in
    -o) object=${words[++i]} ;;
    *.cpp | *.o) text=${words[i]} ;;
    *) options+=("${words[i]}") ;;
  esac
done
[[ -n $text && -n $object && -d ${TUNESMITH_COMPILED:-} && " ${options[*]}" != *\ -[Ii]* ]] || exec "$compiler" "$@"
grep -q -a '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[^<[:blank:]]' -- "$text" && exec "$compiler" "$@"
read -r name _ < <({ stat -L -c '%n %s %Y' -- "$(command -v "$compiler")" && printf '%s\n' "${options[@]}" && cat -- "$text"; } | sha256sum)
known=$TUNESMITH_COMPILED/$name
if [[ -e $known ]] && cp -- "$known" "$object"; then
  touch -c -- "$known"
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
