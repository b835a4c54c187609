// SPDX-License-Identifier: Apache-2.0
// Writes for people how a variant is launched: its steps, repeated ones once.
#pragma once

#include <string>

#include "generator/op.h"
#include "generator/work.h"

namespace tunesmith {

/// One line per step or group of repeated steps, each behind `opening`:
/// "12 times: turn<<<4, 128>>>(first, y, 1000), with other arguments each time".
std::string launched_text(const Op& op, const Work& work, const std::string& opening);

}  // namespace tunesmith
