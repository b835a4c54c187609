// SPDX-License-Identifier: Apache-2.0
#include "generator/conditions.h"

#include <gtest/gtest.h>

#include "generator/error.h"

namespace tunesmith {
namespace {

struct Row {
  std::string caches, launches, objective;
};

TEST(Conditions, AreTheTextsOfARow) {
  for (const char* caches : {"warm", "cold"})
    for (const char* launches : {"apart", "chained"})
      for (const char* objective : {"time", "energy", "edp"}) {
        const Conditions conditions = conditions_of(Row{caches, launches, objective});
        EXPECT_EQ(to_text(conditions), std::string(caches) + " " + launches + " " + objective);
        EXPECT_EQ(conditions == Conditions(), to_text(conditions) == "warm apart time");
      }
}

TEST(Conditions, OtherWordsAreRefusedWithThoseThatAreAllowed) {
  const auto complaint = [](const Row& row) -> std::string {
    try {
      static_cast<void>(conditions_of(row));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({"tepid", "apart", "time"}), "The caches tepid are not known; give warm or cold.");
  EXPECT_EQ(complaint({"warm", "", "time"}), "The launches  are not known; give apart or chained.");
  EXPECT_EQ(complaint({"warm", "apart", "power"}),
            "The objective power is not known; give time, energy, or edp (the product of both).");
}

TEST(Conditions, LaunchesOnTheHostAreApart) {
  EXPECT_EQ(on_device(DeviceKind::cuda, {}), Conditions());
  EXPECT_EQ(on_device(DeviceKind::cuda, {.launches = Launches::chained}).launches, Launches::chained);
  EXPECT_EQ(on_device(DeviceKind::host, {.launches = Launches::chained}).launches, Launches::apart);
  EXPECT_EQ(on_device(DeviceKind::host, {.objective = Objective::edp}).objective, Objective::edp);
}

}  // namespace
}  // namespace tunesmith
