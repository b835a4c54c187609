// References of ops whose reference is a kernel (own_op.h): it is compiled and run here, once for a problem.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "generator/op.h"
#include "tuner/check_data.h"

namespace tunesmith {

/// On which device, as DeviceId::text() has it; the host, if nobody says. For this process.
void run_references_on(const std::string& device);

/// What the kernel writes to the argument `output`. What it does not write nobody may write: such elements
/// hold what outputs hold before a launch. Throws Error where it does not compile or its launch fails.
Expected kernel_reference_of(const Op& op, const Problem& problem,
                             std::span<const std::vector<double>> inputs, int output);

}  // namespace tunesmith
