// SPDX-License-Identifier: Apache-2.0
// The types of <cuda_fp16.h> and <cuda_bf16.h>, which a described kernel includes itself; the host has a
// twin.
#pragma once
