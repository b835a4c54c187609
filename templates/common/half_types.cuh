// SPDX-License-Identifier: Apache-2.0
// Replaces <cuda_fp16.h> and <cuda_bf16.h>, which a described kernel includes itself on the device. The host
// has a twin of this file.
#pragma once
