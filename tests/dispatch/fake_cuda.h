// SPDX-License-Identifier: Apache-2.0
// A CUDA runtime of a test's own: link fake_cuda.cpp, which stands before the static runtime library.
#pragma once

namespace fake_cuda {

extern bool capturing;      ///< a stream is being captured
extern bool refuses_loads;  ///< in a capture, whatever the thread says
extern bool capture_ended;  ///< by a call that a capture does not allow
extern int launches;        ///< of kernels

}  // namespace fake_cuda
