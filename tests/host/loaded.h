// SPDX-License-Identifier: Apache-2.0
// A small kernel, compiled and loaded like any variant, with one launch.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tests/host_source.h"

namespace tunesmith {

struct LoadedBinary {
  std::unique_ptr<Executable> executable;
  int run(std::vector<void*> arguments) { return executable->launch(arguments.data(), nullptr, nullptr); }
};

/// The kernel's parameters are the first `pointers` arguments, then `extra`. `before` precedes the whole
/// text.
inline LoadedBinary load(const std::string& body, Extent grid, Extent block, int pointers = 1,
                         std::int64_t dynamic_bytes = 0, const std::vector<KernelArgument>& extra = {},
                         const std::string& before = "") {
  static const std::unique_ptr<Toolchain> toolchain = make_host_toolchain();
  Source source = host_source(body);
  source.text = before + source.text;
  const Compilation compiled = toolchain->compile(source);
  EXPECT_TRUE(compiled.ok) << compiled.log;
  Launch launch{.kernel = "kernel", .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_bytes};
  for (int n = 0; n < pointers; ++n) launch.arguments.push_back(ArgumentPointer{n});
  launch.arguments.insert(launch.arguments.end(), extra.begin(), extra.end());
  return {load_host(compiled.bytes, source.suffix, Work{.steps = {launch}})};
}

}  // namespace tunesmith
