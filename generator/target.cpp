// SPDX-License-Identifier: Apache-2.0
#include "generator/target.h"

#include "generator/number_text.h"

namespace tunesmith {
namespace {

constexpr std::string_view gpu_prefix = "sm_";
constexpr std::string_view ptx_prefix = "compute_";

constexpr int oldest = 50;       // 5.0: CUDA 12 does not compile for earlier ones
constexpr int too_large = 1000;  // three digits at most

}  // namespace

std::string capability_text(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

std::optional<int> parse_capability(std::string_view text) {
  const auto major = take_number<int>(text);
  if (!major || *major < 0 || *major >= too_large / 10 || text.empty() || text.front() != '.')
    return std::nullopt;
  text.remove_prefix(1);
  const auto minor = take_number<int>(text);
  if (!minor || *minor < 0 || *minor > 9 || !text.empty()) return std::nullopt;
  return 10 * *major + *minor;
}

std::optional<Target> Target::parse(std::string_view word) {
  if (word == "host") return Target{};
  Target target;
  if (word.starts_with(gpu_prefix)) {
    target.kind = Kind::gpu;
    word.remove_prefix(gpu_prefix.size());
  } else if (word.starts_with(ptx_prefix)) {
    target.kind = Kind::ptx;
    word.remove_prefix(ptx_prefix.size());
  } else {
    return std::nullopt;
  }
  const auto number = take_number<int>(word);
  if (!number || *number < oldest || *number >= too_large) return std::nullopt;
  target.compute_capability = *number;
  if (word == "a" || word == "f") {
    target.extension = word.front();
  } else if (!word.empty()) {
    return std::nullopt;
  }
  return target;
}

Target Target::of_gpu(int compute_capability) {
  // From 9.0 on there are instructions (wgmma, tcgen05) that only the architecture's own target has.
  return {Kind::gpu, compute_capability, compute_capability >= 90 ? 'a' : '\0'};
}

std::string Target::text() const {
  if (kind == Kind::host) return "host";
  std::string word(is_virtual() ? ptx_prefix : gpu_prefix);
  word += std::to_string(compute_capability);
  if (extension != 0) word += extension;
  return word;
}

}  // namespace tunesmith
