#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests what scripts/quickstart.sh gets by pip: nothing without a GPU or with a toolkit, else the packages for the driver, or a sentence.
# cuda_by_pip_test.sh SOURCE
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/scripts" "$scratch/bin"
cp "$source/scripts/common.sh" "$scratch/scripts"
for program in bash dirname getent id cut head; do ln -s "$(command -v "$program")" "$scratch/bin"; done
cat >"$scratch/bin/python3" <<'END'
#!/usr/bin/env bash
# python3 -m venv FOLDER, with a Python that writes down what it is to install.
mkdir -p "$3/bin"
printf '#!/usr/bin/env bash\necho "$@" >>"%s/installed"\n[[ ! -e "%s/fails" ]]\n' "$3/.." "$3/.." >"$3/bin/python"
chmod +x "$3/bin/python"
END
echo 'source "$(dirname "$0")/common.sh"; cuda_by_pip "$1"' >"$scratch/scripts/asked.sh"
chmod +x "$scratch/bin/python3"
chmod +x "$scratch"/scripts/*.sh
for needed in mkdir chmod; do ln -s "$(command -v "$needed")" "$scratch/bin"; done

# expect PYTHON WORDS: what is printed, and what was installed or said.
expect() {
  local printed said
  rm -f "$scratch/installed"
  printed=$(PATH=$scratch/bin CUDA_PATH=${toolkit:-$scratch/none} bash "$scratch/scripts/asked.sh" "$scratch/environment" 2>"$scratch/said")
  said=$(cat "$scratch/said" "$scratch/installed" 2>/dev/null || true)
  [[ $printed == "$1" && $said == *"$2"* ]] || { echo "expected \"$1\" and \"$2\", got \"$printed\" and: $said" >&2; exit 1; }
}
expect '' ''  # no driver
driver() { printf '#!/usr/bin/env bash\necho %s\n' "$1" >"$scratch/bin/nvidia-smi"; chmod +x "$scratch/bin/nvidia-smi"; }
driver 'No devices were found'
expect '' ''
driver 580.159.04
expect "$scratch/environment/bin/python" 'nvidia-cuda-runtime>=13 nvidia-cuda-crt>=13 nvidia-cuda-nvrtc>=13'
toolkit=$scratch expect '' ''
driver 550.54.15
expect "$scratch/environment/bin/python" 'nvidia-cuda-runtime-cu12>=12,<13 nvidia-cuda-nvcc-cu12>=12,<13 nvidia-cuda-nvrtc-cu12>=12,<13'
touch "$scratch/fails"
expect '' 'The GPU is LEFT OUT'
