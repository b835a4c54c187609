// SPDX-License-Identifier: Apache-2.0
// broken: an op whose only kernel does not compile.
extern "C" __global__ void ENTRY(broken_base)(T* x) { x[threadIdx.x] = nothing_of_that_name; }
