// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime of some tests: link fake_cuda.cpp, which takes precedence over the static runtime library.
#pragma once

namespace fake_cuda {

extern bool capturing;      ///< a stream is being captured
extern bool refuses_loads;  ///< in a capture, in every mode of the thread
extern bool capture_ended;  ///< by a call that a capture does not allow
extern int launches;        ///< number of kernel launches

}  // namespace fake_cuda
