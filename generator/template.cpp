// SPDX-License-Identifier: Apache-2.0
#include "generator/template.h"

#include "generator/dtype.h"
#include "generator/target.h"

namespace tunesmith {

std::string body_path(std::string_view op, const Template& tmpl) {
  return std::string(op) + "/" + tmpl.room + tmpl.name + ".cu";
}

std::optional<std::string> why_not(const Template& candidate, const Problem& problem,
                                   const DeviceFacts& device) {
  const int needed = candidate.minimum_compute_capability;
  if (needed > device.compute_capability || (!candidate.later_too && needed < device.compute_capability)) {
    return "The template " + candidate.name + " needs a CUDA device of compute capability " +
           capability_text(needed) + (candidate.later_too ? " or higher; " : " and no other; ") +
           device.name +
           (device.kind == DeviceKind::host ? " is the host."
                                            : " has " + capability_text(device.compute_capability) + ".");
  }
  if (candidate.refuses) {
    if (std::string why = candidate.refuses(problem); !why.empty()) return why;
  }
  return std::nullopt;
}

std::int64_t alignment_bytes(const Template& tmpl, const Problem& problem, const Config& config) {
  return tmpl.alignment_bytes ? tmpl.alignment_bytes(problem, config) : bytes(dtype_of(problem));
}

}  // namespace tunesmith
