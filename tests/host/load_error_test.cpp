// SPDX-License-Identifier: Apache-2.0
// Tests the cause in a load error: the tuner's verdict, and the next step of a dispatcher, depend on it.
#include <gtest/gtest.h>

#include <optional>

#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

using Kind = LoadError::Kind;

template <typename Load>
std::optional<Kind> refusal_of(const Load& load) {
  try {
    load();
    return std::nullopt;
  } catch (const LoadError& error) {
    return error.kind;
  }
}

TEST(LoadErrors, DamagedBytesAreRefused) {
  EXPECT_EQ(refusal_of([] { load_host("not a shared object", "_test", Work{}); }), Kind::refused);
}

TEST(LoadErrors, WhatIsTooMuchIsAboutResources) {
  const Op& op = find_op("conv2d");
  const Template& tmpl = find_template(op, "tiled");
  const Problem problem =
      complete_problem(op, Problem::parse("height=40 width=64 mask_height=3 mask_width=3"));
  const Config config = tmpl.space(problem).complete(Values::parse("SMEM_ALLOC=static SMEM_LAYOUT=flat"));
  const Source source = render(op, tmpl, problem, config, "host");
  const Compilation compiled = make_host_toolchain()->compile(source);
  ASSERT_TRUE(compiled.ok) << compiled.log;
  const Work work = tmpl.work(problem, config);
  const auto executable = load_host(compiled.bytes, source.suffix, work);
  const std::int64_t static_bytes = executable->facts().static_shared_bytes;
  ASSERT_GT(static_bytes, 0);

  const auto refusal = [&](const auto& change) {
    Work changed = work;
    for (Step& step : changed.steps) {
      if (auto* launch = std::get_if<Launch>(&step)) change(*launch);
    }
    return refusal_of([&] { executable->with(changed); });
  };
  const std::int64_t limit = host_facts().max_shared_bytes_per_block;
  EXPECT_EQ(refusal([&](Launch& launch) { launch.dynamic_shared_bytes = limit - static_bytes; }),
            std::nullopt);
  EXPECT_EQ(refusal([&](Launch& launch) { launch.dynamic_shared_bytes = limit - static_bytes + 1; }),
            Kind::resources);  // only the binary tells the static part
  EXPECT_EQ(refusal([](Launch& launch) { launch.block = {2048, 1, 1}; }), Kind::resources);
  EXPECT_EQ(refusal([](Launch& launch) { launch.grid.y = 65536; }), Kind::resources);
  EXPECT_EQ(refusal([](Launch& launch) { launch.kernel = "missing"; }), Kind::refused);
}

}  // namespace
}  // namespace tunesmith
