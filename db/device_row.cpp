// SPDX-License-Identifier: Apache-2.0
#include "db/device_row.h"

#include "generator/target.h"

namespace tunesmith {

DeviceRow row_of(const DeviceFacts& device) {
  DeviceRow row;
  row.kind = to_text(device.kind);
  row.name = device.name;
  row.target = device.target;
  if (device.compute_capability > 0) row.compute_capability = capability_text(device.compute_capability);
  row.sm_count = device.multiprocessors;
  row.memory_bytes = device.memory_bytes;
  row.l2_bytes = device.l2_bytes;
  row.shared_bytes_per_sm = device.shared_bytes_per_multiprocessor;
  row.max_threads_per_sm = device.max_threads_per_multiprocessor;
  row.max_shared_bytes_per_block = device.max_shared_bytes_per_block;
  return row;
}

DeviceFacts facts_of(const DeviceRow& row) {
  DeviceFacts device = facts_of_capability(parse_capability(row.compute_capability).value_or(0));
  device.kind = device_kind_of(row.kind);
  device.name = row.name;
  device.target = row.target;
  device.multiprocessors = static_cast<int>(row.sm_count);
  device.memory_bytes = row.memory_bytes;
  device.l2_bytes = row.l2_bytes;
  if (row.shared_bytes_per_sm > 0) device.shared_bytes_per_multiprocessor = row.shared_bytes_per_sm;
  if (row.max_threads_per_sm > 0)
    device.max_threads_per_multiprocessor = static_cast<int>(row.max_threads_per_sm);
  if (row.max_shared_bytes_per_block > 0) device.max_shared_bytes_per_block = row.max_shared_bytes_per_block;
  return device;
}

}  // namespace tunesmith
