// SPDX-License-Identifier: Apache-2.0
// What <cuda_pipeline.h> has for a kernel, which a described kernel includes itself; the host has a twin.
#pragma once
