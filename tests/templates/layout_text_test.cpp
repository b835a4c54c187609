// SPDX-License-Identifier: Apache-2.0
#include "templates/layout_text.h"

#include <gtest/gtest.h>

#include <numeric>

#include "generator/random.h"

namespace tunesmith::layout_text_test {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::size_t most = 6;

// Numbers of all sizes, mostly small ones.
std::int64_t number(Random& random) {
  const std::uint64_t bits = random.below(3) > 0 ? 4 : random.below(63);
  return static_cast<std::int64_t>(random.below(std::uint64_t{1} << bits));
}

TEST(LayoutText, OfALayoutIsReadAsTheSame) {
  Random random(1);
  int allowed = 0;
  for (int n = 0; n < 2000; ++n) {
    ArrayLayout layout;
    for (std::size_t rank = random.below(most + 2); rank > 0; --rank) {
      layout.extents.push_back(number(random));
      layout.strides.push_back(number(random));
    }
    const std::string text = text_of(layout), why = refuses_layout(text, 1, most);
    const ArrayLayout read = layout_of(text, {});
    EXPECT_EQ(read.extents, layout.extents) << text;
    EXPECT_EQ(read.strides, layout.strides) << text;
    EXPECT_EQ(shape_of(text), layout.extents) << text;
    bool is_allowed = !layout.extents.empty() && layout.extents.size() <= most;
    double last = 0;
    for (std::size_t d = 0; d < layout.extents.size(); ++d) {
      is_allowed = is_allowed && layout.extents[d] <= most_elements &&
                   (layout.extents[d] <= 1 || layout.strides[d] <= most_elements);
      last += static_cast<double>(layout.extents[d] - 1) * static_cast<double>(layout.strides[d]);
    }
    EXPECT_EQ(why.empty(), is_allowed) << text << ": " << why;
    allowed += static_cast<int>(is_allowed);
    if (std::count(layout.extents.begin(), layout.extents.end(), 0) > 0) {
      EXPECT_EQ(memory(layout), 0) << text;
    } else if (is_allowed) {
      EXPECT_EQ(memory(layout).has_value(), !are_too_many(last + 1)) << text;
      EXPECT_EQ(static_cast<double>(memory(layout).value_or(0)), are_too_many(last + 1) ? 0 : last + 1)
          << text;
    }
  }
  EXPECT_GT(allowed, 500);
}

TEST(LayoutText, WithoutStridesHasNoGaps) {
  Random random(2);
  for (int n = 0; n < 500; ++n) {
    Numbers extents;
    for (std::size_t rank = 1 + random.below(most); rank > 0; --rank)
      extents.push_back(1 + static_cast<std::int64_t>(random.below(90)));
    const ArrayLayout layout = layout_of(joined(extents), {});
    EXPECT_EQ(memory(layout),
              std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>()));
    EXPECT_EQ(layout_of("dense", extents).strides, layout.strides);
  }
}

// Texts of the same characters: a text that is not refused can be read.
TEST(LayoutText, OfAnyCharactersIsReadOrRefused) {
  Random random(3);
  int read = 0;
  for (int n = 0; n < 20000; ++n) {
    std::string text;
    for (std::size_t size = random.below(9); size > 0; --size) text += "0123xx:- "[random.below(9)];
    const std::string why = refuses_layout(text, 0, most);
    if (!why.empty()) {
      EXPECT_TRUE(why.ends_with(".")) << why;
      continue;
    }
    const ArrayLayout layout = layout_of(text, {});
    EXPECT_EQ(layout.extents.size(), layout.strides.size()) << text;
    ++read;
  }
  EXPECT_GT(read, 500);
  EXPECT_EQ(refuses_layout("4x", 0, most),
            "An extent is a whole number from 0 to 2^40; extents are joined by x, as in 8x100x50.");
  EXPECT_EQ(refuses_layout("", 0, most), "");
  EXPECT_NE(refuses_layout("", 1, most), "");
}

}  // namespace
}  // namespace tunesmith::layout_text_test
