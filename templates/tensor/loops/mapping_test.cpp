// SPDX-License-Identifier: Apache-2.0
// Which threads of a kernel that the template `loops` writes have which outputs and loops: each output is
// written once, and each loop is somewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernel_file/find_op.h"
#include "templates/tensor/drawer.h"
#include "templates/tensor/loops/loops.h"
#include "tests/rounds.h"

namespace tunesmith::tensor_op::loops_mapping_test {
namespace {

Problem problem_of(const std::string& words) {
  return complete_problem(find_op("tensor"), Problem::parse(words));
}

// Outputs of a thread along an index: those from `from` on up to `to`, of which the ones before `first` are
// another thread's and are not written.
struct OutputRange {
  std::int64_t first = 0, from = 0, to = 1;
};
OutputRange range_of(std::int64_t place, std::int64_t each, std::int64_t extent) {
  const std::int64_t first = place * each;
  if (first >= extent) return {0, 0, 0};
  const std::int64_t from = std::min(first, extent - each);
  return {first, from, from + each};
}

// How often each output is written, by the places that the kernels' text gives threads.
std::vector<int> written(const LoopKernel& kernel, const LoopMapping& m, std::int64_t threads) {
  const Nest& nest = kernel.nest;
  std::vector<int> times(static_cast<std::size_t>(nest.outputs()), 0);
  for (std::int64_t block = 0; block < m.blocks; ++block)
    for (std::int64_t thread = 0; thread < threads / m.lanes; ++thread) {
      std::int64_t tile = block;
      std::int64_t flat = tile % m.x_tiles * m.block_x + (m.block_y > 1 ? thread % m.block_x : thread);
      tile /= m.x_tiles;
      if (flat >= m.x_places) continue;
      std::vector<std::int64_t> indices(nest.free, 0);
      OutputRange y, z;
      const auto count = [&](const std::vector<std::size_t>& of, std::int64_t& counter) {
        for (const std::size_t i : of) {
          indices[i] = counter % nest.extents[i];
          counter /= nest.extents[i];
        }
      };
      if (kernel.has_neighbours()) {
        const std::int64_t extent = nest.extent(kernel.along_y), places = ceil_divide(extent, m.thread_y);
        y = range_of(flat % places, m.thread_y, extent);
        flat /= places;
      }
      count(m.x, flat);
      if (m.has_rows && !kernel.has_neighbours()) {
        y = range_of(tile % m.y_tiles * m.block_y + thread / m.block_x, m.thread_y,
                     nest.extent(kernel.along_y));
        tile /= m.y_tiles;
      }
      if (m.thread_z > 1) {
        z = range_of(tile % m.z_tiles, m.thread_z, nest.extent(kernel.along_z));
        tile /= m.z_tiles;
      }
      count(m.rest, tile);
      for (std::int64_t at_y = std::max(y.first, y.from); at_y < y.to; ++at_y)
        for (std::int64_t at_z = std::max(z.first, z.from); at_z < z.to; ++at_z) {
          if (m.has_rows) indices[static_cast<std::size_t>(kernel.along_y)] = at_y;
          if (m.thread_z > 1) indices[static_cast<std::size_t>(kernel.along_z)] = at_z;
          std::int64_t place = 0;
          for (std::size_t i = 0; i < nest.free; ++i) place = place * nest.extents[i] + indices[i];
          ++times[static_cast<std::size_t>(place)];
        }
    }
  return times;
}

void check(const LoopKernel& kernel, const LoopShape& shape) {
  const LoopMapping m(kernel, shape);
  const Nest& nest = kernel.nest;
  const std::vector<int> times = written(kernel, m, shape.threads);
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), std::ssize(times)) << kernel.text;

  // Each further index is a loop of one kind.
  std::vector<std::size_t> loops;
  for (const auto* const kind : {&m.rolled, &m.unrolled, &m.serial})
    loops.insert(loops.end(), kind->begin(), kind->end());
  if (m.shared >= 0) loops.push_back(static_cast<std::size_t>(m.shared));
  if (m.chunk > 0) loops.push_back(static_cast<std::size_t>(kernel.window));
  std::sort(loops.begin(), loops.end());
  std::vector<std::size_t> expected;
  for (std::size_t i = nest.free; i < nest.rank(); ++i) expected.push_back(i);
  EXPECT_EQ(loops, expected) << kernel.text;

  EXPECT_EQ(m.lanes > 1, m.shared >= 0);
  EXPECT_EQ(m.lanes * m.block_x * m.block_y, shape.threads);
  if (m.chunk > 0) {
    EXPECT_LE(m.chunk, nest.extent(kernel.window));
  }
  std::int64_t terms = std::max<std::int64_t>(m.chunk, 1) * m.thread_y * m.thread_z;
  for (const std::size_t i : m.unrolled) terms *= std::max<std::int64_t>(nest.extents[i], 1);
  EXPECT_LE(terms, std::max(shape.unroll, m.thread_y * m.thread_z)) << "are written out";
}

// As they are written; the kernel of a plain product.
LoopKernel kernel_of(const std::string& words) {
  const LoopForm form = loop_forms(problem_of(words))->forms.front();
  EXPECT_EQ(form.kernels.size(), 1U);
  return form.kernels.front();
}

TEST(TensorLoopMapping, OfAFilterHasOutputsOfAThreadInARow) {
  const LoopKernel kernel = kernel_of("expression=\"y[i] += x[i+j] * w[j]\" i=203 j=9");
  ASSERT_TRUE(kernel.has_neighbours());
  ASSERT_GE(kernel.window, 0);
  const LoopMapping m(kernel, {.threads = 64, .thread_y = 4, .unroll = 64});
  EXPECT_EQ(m.thread_y, 4);
  EXPECT_EQ(m.x_places, 51);  // of four outputs, the last of three that are its own
  EXPECT_EQ(m.blocks, 1);
  EXPECT_EQ(m.chunk, 9);
  EXPECT_TRUE(m.rolled.empty());
  check(kernel, {.threads = 64, .thread_y = 4, .unroll = 64});
}

TEST(TensorLoopMapping, OfLongSumsHasThreadsThatShareThem) {
  const LoopKernel kernel = kernel_of("expression=\"y[i] += a[i,k] * x[k]\" i=13 k=701");
  const LoopMapping m(kernel, {.threads = 256, .lanes = 32});
  EXPECT_EQ(m.lanes, 32);
  EXPECT_EQ(m.shared, kernel.nearest());
  EXPECT_EQ(m.block_x, 8);
  EXPECT_EQ(m.blocks, 2);
  EXPECT_EQ(LoopMapping(kernel, {.threads = 256, .lanes = 1}).shared, -1);
}

// TUNESMITH_TEST_MAPPINGS: how many expressions.
TEST(TensorLoopMapping, OfDrawnExpressionsWritesEachOutputOnce) {
  std::size_t tiled = 0, shared = 0, chunks = 0, checked = 0;
  const std::uint64_t drawn = rounds_of("TUNESMITH_TEST_MAPPINGS", 40);
  for (std::uint64_t seed = 1; seed <= drawn; ++seed) {
    Drawer drawer(seed, 13);
    Problem problem = {{"expression", drawer.expression()}, {"may", std::string("distribute")}};
    const Expression e = parse(problem.string("expression")).expression;
    const std::vector<std::int64_t> extents = drawer.extents(e);
    for (std::size_t i = 0; i < extents.size(); ++i) problem.set(e.indices[i].name, extents[i]);
    SCOPED_TRACE(problem.text());
    problem = complete_problem(find_op("tensor"), problem);
    std::mt19937_64 random(seed);
    const auto one_of = [&](const auto& values) { return values[random() % values.size()]; };
    const std::shared_ptr<const LoopForms> all = loop_forms(problem);
    for (const LoopForm& form : all->forms) {
      if (form.kernels.empty()) continue;
      const LoopForm in_parts = with_parts(form, one_of(std::array<std::int64_t, 3>{1, 4, 16}));
      for (const LoopKernel& kernel : in_parts.kernels) {
        if (kernel.nest.outputs() > 10000) continue;
        const std::int64_t block_y = kernel.along_y < 0 ? 1 : one_of(std::array<std::int64_t, 3>{1, 4, 16});
        const LoopShape shape = {.threads = one_of(std::array<std::int64_t, 2>{32, 64}) * block_y,
                                 .block_y = block_y,
                                 .thread_y = one_of(std::array<std::int64_t, 4>{1, 2, 4, 8}),
                                 .thread_z = one_of(std::array<std::int64_t, 3>{1, 2, 4}),
                                 .lanes = one_of(std::array<std::int64_t, 3>{1, 1, 8}),
                                 .unroll = one_of(std::array<std::int64_t, 3>{16, 64, 256})};
        check(kernel, shape);
        const LoopMapping m(kernel, shape);
        tiled += m.thread_y * m.thread_z > 1 ? 1 : 0;
        shared += m.lanes > 1 ? 1 : 0;
        chunks += m.chunk > 0 ? 1 : 0;
        ++checked;
      }
    }
    if (testing::Test::HasFailure()) return;
  }
  for (const std::size_t seen : {tiled, shared, chunks}) EXPECT_GT(seen, checked / 50);
}

}  // namespace
}  // namespace tunesmith::tensor_op::loops_mapping_test
