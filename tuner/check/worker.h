// SPDX-License-Identifier: Apache-2.0
// The worker's side: the same executable, started again with the hidden arguments `worker ROLE`. A role is
//   compile:TARGET   compiles sources for TARGET
//   reference        makes inputs and references of problems, in memory that the tuner hands over
//   DEVICE           checks and times variants on the device of that name (runtime/device_id.h)
// A compiler that hangs or a kernel that kills its process then costs one row, not the run.
#pragma once

#include <string_view>

namespace tunesmith {

/// The whole life of a worker; its result is the process's exit code. Call it before anything else in main():
///   if (argc == 3 && std::string_view(argv[1]) == "worker") return tunesmith::worker_main(argv[2]);
int worker_main(std::string_view role);

}  // namespace tunesmith
