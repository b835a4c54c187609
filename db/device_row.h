// A device as a row has it, and as the code that plans for it does.
#pragma once

#include "db/rows.h"
#include "generator/device_facts.h"

namespace tunesmith {

DeviceRow row_of(const DeviceFacts& device);

/// Limits that the row does not know are those of its compute capability.
DeviceFacts facts_of(const DeviceRow& row);

}  // namespace tunesmith
