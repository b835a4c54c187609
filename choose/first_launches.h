// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels that a library has as binaries for first launches, while the best variant is compiled.
// The build packs them.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "choose/variant.h"
#include "choose/winners_file.h"

namespace tunesmith {

/// Returns the kernels for a device. They are judged on random problems; of all ops together those that save
/// most are taken: by the times of any device of that kind in `tables`, and by the configs that templates
/// name without measurements, of the ops for which `names_defaults` is true. A device without a name has no
/// table of its own, and gets fewer.
std::vector<PackedVariant> first_launches_of(const DeviceFacts& device, std::span<const DeviceTable> tables,
                                             const std::function<bool(const Op&)>& names_defaults);

}  // namespace tunesmith
