// SPDX-License-Identifier: Apache-2.0
// The reference of histogram, which compares every element with NumPy's edges.

#include <algorithm>
#include <atomic>
#include <thread>

#include "generator/threads.h"
#include "templates/histogram/op.h"

namespace tunesmith::histogram_op {
namespace {

// Counts the results of `bin` for the elements [begin, end). Results outside [first, last) are not counted.
template <typename Bin>
void count(const std::vector<double>& values, std::int64_t stride, std::int64_t begin, std::int64_t end,
           std::int64_t first, std::span<double> counts, const Bin& bin) {
  std::vector<std::int64_t> found(counts.size());
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::uint64_t>(bin(values[static_cast<std::size_t>(i * stride)]) - first);
    if (at < found.size()) ++found[at];
  }
  for (std::size_t at = 0; at < found.size(); ++at) counts[at] += static_cast<double>(found[at]);
}

}  // namespace

void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  std::fill(value.begin(), value.end(), 0.0);
  const auto part = [&](std::int64_t from, std::int64_t to, std::span<double> counts) {
    if (problem.string("function") == "bincount") {
      count(arguments[0], d.stride, from, to, begin, counts,
            [](double x) { return static_cast<std::int64_t>(x); });
      return;
    }
    const Range range(problem);
    std::vector<double> edges;
    edges.reserve(static_cast<std::size_t>(d.bins) + 1);
    for (std::int64_t i = 0; i <= d.bins; ++i) edges.push_back(range.edge(i));
    count(arguments[0], d.stride, from, to, begin, counts, [&, last = d.bins - 1](double x) -> std::int64_t {
      if (!(x >= edges.front() && x <= edges.back())) return -1;
      auto bin = static_cast<std::int64_t>((x - range.lo) / range.step);
      bin = std::clamp<std::int64_t>(bin, 0, last);
      while (x < edges[static_cast<std::size_t>(bin)]) --bin;
      while (bin < last && x >= edges[static_cast<std::size_t>(bin) + 1]) ++bin;
      return bin;
    });
  };
  // The input is read once for all outputs of a call. If it is long and few calls share the processors,
  // several threads read parts of it.
  const std::int64_t calls = std::max<std::int64_t>(1, d.bins / std::max<std::int64_t>(1, end - begin));
  const std::int64_t threads =
      std::clamp<std::int64_t>(std::thread::hardware_concurrency() / calls, 1, 1 + d.length / (1 << 22));
  std::vector<std::vector<double>> partial(static_cast<std::size_t>(threads),
                                           std::vector<double>(value.size()));
  std::atomic<std::int64_t> next = 0;
  run_in_threads(static_cast<std::size_t>(threads), [&] {
    for (std::int64_t t = next++; t < threads; t = next++)
      part(d.length / threads * t, t + 1 == threads ? d.length : d.length / threads * (t + 1),
           partial[static_cast<std::size_t>(t)]);
  });
  for (const std::vector<double>& counts : partial) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += counts[i];
  }
}

}  // namespace tunesmith::histogram_op
