#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to tuned kernels in an application: scripts/quickstart.sh [PICTURE.png]
picture=$(realpath -e "$@" 2>/dev/null || true)
(($# == 0)) || [[ -r $picture ]] || { echo "quickstart.sh: The picture $* cannot be read; give the name of one PNG file, or none." >&2; exit 2; }
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing
python=$(cuda_by_pip "$PWD/build/cuda_by_pip")
build quickstart ${python:+"-DPython_EXECUTABLE=$python"}
export PATH="$PWD/build/quickstart/cli:$PATH"

say "The devices of this machine"
tunesmith devices

say "Tuning conv2d for two problems (running it again is quick: known variants are not measured again)"
tunesmith tune conv2d --budget "${TUNESMITH_BUDGET:-8s}" \
  --problem "height=200 width=200 mask_height=13 mask_width=13 mode=convolution" \
  --problem "height=1000 width=2000 mask_height=3 mask_width=3 mode=correlation"

say "Filtering a picture with the winners"
(cd build/quickstart && examples/filter_image ${picture:+"$picture"} && echo "in:      $PWD")

say "What the database holds now"
tunesmith query conv2d
tunesmith db status
