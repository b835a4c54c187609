// SPDX-License-Identifier: Apache-2.0
// What the op tests take of an op's problems and configs.
#include "tests/op_cases.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

TEST(OpCases, SampledShowsEveryWordInFewItems) {
  const std::vector<std::string> items = {"a", "b", "a b", "c", "b c", "a", "a b c", "b"};
  const auto itself = [](const std::string& item) { return item; };
  EXPECT_EQ(sampled(items, 1, itself), std::vector<std::string>{"a b c"});
  const std::vector<std::string> three = sampled(items, 3, itself);
  EXPECT_EQ(three.size(), 3u);
  EXPECT_EQ(three, sampled(items, 3, itself)) << "the same in every run";
  EXPECT_EQ(sampled(items, 99, itself).size(), items.size());
  EXPECT_EQ(sampled(std::vector<std::string>{"a", "b", "c"}, 1, itself).size(), 3u);
  EXPECT_TRUE(sampled(std::vector<std::string>(), 1, itself).empty());
}

class Counting : public Toolchain {
 public:
  std::string identity() const override { return "counting"; }
  Compilation compile(const Source& source, const Patience& /*patience*/) const override {
    ++calls;
    Compilation compiled;
    compiled.ok = true;
    compiled.bytes = source.target + source.text;
    return compiled;
  }
  mutable std::atomic<int> calls = 0;
};

TEST(OpCases, TheSameSourceIsCompiledOnce) {
  std::vector<Source> sources(5);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    sources[s].text = s % 2 == 0 ? "even" : "odd";
    sources[s].target = s == 4 ? "sm_90a" : "host";
  }
  const Counting toolchain;
  const std::vector<Compilation> compiled = compile_all(toolchain, sources);
  EXPECT_EQ(toolchain.calls, 3);
  for (std::size_t s = 0; s < sources.size(); ++s)
    EXPECT_EQ(compiled[s].bytes, sources[s].target + sources[s].text);
}

}  // namespace
}  // namespace tunesmith
