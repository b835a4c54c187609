// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>

#include "choose/timing_table.h"
#include "generator/ops.h"
#include "generator/render.h"

namespace tunesmith {

// Hashes are kept, because each takes some tenths of a millisecond.
bool is_current(const Op& op, const Template& tmpl, std::string_view digits) {
  static std::mutex mutex;
  // Never destroyed, because threads of a static dispatcher may ask while the process ends.
  static auto& hashes = *new std::map<const Template*, std::string>;
  const std::scoped_lock lock(mutex);
  std::string& hash = hashes[&tmpl];
  if (hash.empty()) hash = body_hash(op, tmpl, files_of(op));
  return hash.starts_with(digits);
}

}  // namespace tunesmith
