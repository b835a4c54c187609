// SPDX-License-Identifier: Apache-2.0
// The axes and rules that several of scan's tuned templates share.

#include "templates/scan/op.h"

namespace tunesmith::scan_op {

Axis load_axis() { return tunesmith::load_axis({"plain", "streaming"}); }

Axis vector_axis(const Problem& problem, std::int64_t most_bytes) {
  std::vector<Value> values;
  for (std::int64_t vector = most_bytes / bytes(dtype_of(problem)); vector > 4; vector /= 2)
    values.emplace_back(vector);
  std::vector<Value> few = {std::int64_t{4}, std::int64_t{2}, std::int64_t{1}};
  if (bytes(dtype_of(problem)) == 8) few.erase(few.begin());
  values.insert(values.begin(), few.begin(), few.end());
  return {VECTOR, std::move(values), "elements per load"};
}

Rule store_rule(const Problem& problem) {
  return conditional(
      STORE, "plain",
      [size = bytes(output_dtype(problem))](const Config& c) { return c[VECTOR] * size >= 4; },
      "Stores of less than 4 bytes have no hint.");
}

bool suits_narrow(const Problem& problem) {
  const Dims d(problem);
  return d.inner > 1 && d.inner * bytes(dtype_of(problem)) < 64 && d.length >= 64;
}

bool suits_summing(const Problem& problem, const DeviceFacts& device) {
  const Dims d(problem);
  const std::int64_t bytes_of_line = d.length * std::max(bytes(dtype_of(problem)), item_bytes(problem));
  return function_of(problem) != own_expression && refuses_apart(d).empty() && d.length > 2048 &&
         bytes_of_line <= std::int64_t{224} << 10 &&
         d.outer * bytes_of_line <= std::int64_t{16384} * multiprocessors_to_fill(device);
}

std::int64_t usual_vector(const Problem& problem, bool rows) {
  const Dims d(problem);
  const auto fits = [&](std::int64_t vector) {
    const auto divides = [vector](std::int64_t distance) { return distance % vector == 0; };
    if (d.outer > 1 && !divides(d.outer_stride)) return false;
    if (d.inner > 1) return divides(d.inner) && divides(d.stride);
    return (d.outer == 1 && !rows) || divides(d.length);
  };
  std::int64_t vector =
      std::min<std::int64_t>(8, 16 / std::max(bytes(dtype_of(problem)), bytes(output_dtype(problem))));
  while (vector > 1 && !fits(vector)) vector /= 2;
  return vector;
}

std::string usual_store(const Problem& problem, std::int64_t vector) {
  const std::int64_t size = bytes(output_dtype(problem));
  const bool is_large = Dims(problem).lines() * Dims(problem).length * size >= std::int64_t{32} << 10;
  return is_large && vector * size >= 4 ? "streaming" : "plain";
}

std::string usual_load(const Problem& problem, const DeviceFacts& device) {
  const std::int64_t cache = device.l2_bytes > 0 ? device.l2_bytes : std::int64_t{50} << 20;
  return Dims(problem).span() * bytes(dtype_of(problem)) > cache ? "streaming" : "plain";
}

Rule register_rule(const Problem& problem, const std::function<std::int64_t(const Config&)>& elements) {
  return {"A thread has 8 to 256 bytes of items under way.",
          [size = item_bytes(problem), elements](const Config& c) {
            const std::int64_t bytes = elements(c) * size;
            return bytes >= 8 && bytes <= 256;
          }};
}

std::int64_t vector_bytes(const Problem& problem, const Config& config) {
  if (config[VECTOR] == 1) return element_bytes(problem);
  return std::min<std::int64_t>(
      16, config[VECTOR] * std::max(bytes(dtype_of(problem)), bytes(output_dtype(problem))));
}

std::int64_t element_bytes(const Problem& problem) {
  return std::min(bytes(dtype_of(problem)), bytes(output_dtype(problem)));
}

std::vector<std::string> all_but_sizes() {
  return {"dtype", "function", "kind", "sum_dtype", "direction", "expression", "identity"};
}

ChainSpace::ChainSpace(const Problem& problem, std::int64_t lines, std::int64_t tiles, std::int64_t columns,
                       std::int64_t fan) {
  if (tiles == 1) return;  // blocks have nothing to pass on
  const std::int64_t groups = ceil_divide(tiles, fan), sections = ceil_divide(groups, fan);
  messages_at = round_up(4 * (1 + lines * (groups + sections)), 256);
  bytes = messages_at + lines * (tiles + groups + sections) * columns * 2 * item_bytes(problem);
}

}  // namespace tunesmith::scan_op
