// SPDX-License-Identifier: Apache-2.0
#include "templates/choice.h"

#include <gtest/gtest.h>

#include "generator/parameter.h"
#include "generator/space.h"

namespace tunesmith::choice_test {
namespace {

enum class Edge : std::uint8_t { zero, nearest, wrap, unnamed };
constexpr auto names_of(Edge) { return std::to_array<std::string_view>({"zero", "nearest", "wrap"}); }

static_assert(name_of(Edge::nearest) == "nearest");
static_assert(named<Edge>("wrap") == Edge::wrap);
static_assert(!named<Edge>("unnamed"));

TEST(Choice, IsWhatAProblemOrAConfigSays) {
  constexpr CategoricalAxis EDGE("EDGE");
  const Parameter parameter = {.name = "edge", .what = "what is outside", .categories = choices<Edge>()};
  const Space space({{EDGE, choices<Edge, Value>(), "what is outside"}});
  ASSERT_EQ(parameter.categories.size(), 3U);
  for (std::size_t n = 0; n < 3; ++n) {
    const Problem problem = {{"edge", parameter.categories[n]}};
    EXPECT_EQ(choice<Edge>(problem, "edge"), static_cast<Edge>(n));
    EXPECT_EQ(choice<Edge>(space.all()[n], EDGE), static_cast<Edge>(n));
    EXPECT_EQ(name_of(static_cast<Edge>(n)), parameter.categories[n]);
  }
}

TEST(Choice, OfAnotherWordIsAnError) {
  try {
    choice<Edge>(Problem{{"edge", "mirror"}}, "edge");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "edge is mirror; allowed are zero, nearest, wrap.");
  }
}

}  // namespace
}  // namespace tunesmith::choice_test
