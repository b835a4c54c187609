// SPDX-License-Identifier: Apache-2.0
// Converts a device between its database row and DeviceFacts, which the planning code uses.
#pragma once

#include "db/rows.h"
#include "generator/device_facts.h"

namespace tunesmith {

DeviceRow row_of(const DeviceFacts& device);

/// If the row does not know a limit, the limit of its compute capability is used.
DeviceFacts facts_of(const DeviceRow& row);

}  // namespace tunesmith
