// rank_filter/base: the plain kernel, which serves every problem.

#include <algorithm>

#include "templates/rank_filter/op.h"

namespace tunesmith::rank_filter_op {
namespace {

Space base_space(const Problem& /*problem*/) { return Space({{BLOCK, {256, 64}, "threads per block"}}); }

Work base_work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  if (d.empty()) return {};
  const std::int64_t block = config[BLOCK];
  Launch launch{.kernel = "rank_filter_base",
                .grid = {std::min(ceil_divide(d.image.product(), block), std::int64_t{1} << 20)},
                .block = {block},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, d.image.z, d.image.y, d.image.x,
                              int32(d.window.z), int32(d.window.y), int32(d.window.x), int32(d.before.z),
                              int32(d.before.y), int32(d.before.x), int32(problem.integer("rank")),
                              int32(counted_places(problem))}};
  add_outside(launch, problem);
  const std::string bits = footprint_bits(problem);
  launch.arguments.emplace_back(std::int32_t{!bits.empty()});
  for (std::int64_t word = 0; word < footprint_words; ++word) {
    std::uint64_t packed = 0;
    for (std::size_t n = 0; n < 64; ++n) {
      const std::size_t place = static_cast<std::size_t>(word) * 64 + n;
      if (place < bits.size() && bits[place] == 'x') packed |= std::uint64_t{1} << n;
    }
    launch.arguments.emplace_back(static_cast<std::int64_t>(packed));
  }
  return {.steps = {std::move(launch)}};
}

}  // namespace

Template base() {
  return {.name = "base",
          .what = "One thread per output; serves every problem.",
          .kernels = {"rank_filter_base"},
          .space = base_space,
          .work = base_work};
}

}  // namespace tunesmith::rank_filter_op
