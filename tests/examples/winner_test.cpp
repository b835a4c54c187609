// SPDX-License-Identifier: Apache-2.0
// Tests the way from a tuned database to a picture: the example launches the winner, and not the variant that
// is ready at once, as the dispatcher's notes and `tunesmith explain` say.
#include <gtest/gtest.h>

#include "tests/cli/run.h"
#include "tests/dispatch/fixture.h"

namespace tunesmith {
namespace {

class TunedPicture : public DispatcherTest {
 protected:
  bool prints(const std::string& command, const std::string& words) const {
    const Outcome outcome = scratch_.shell(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    const bool found = outcome.out.find(words) != std::string::npos;
    if (!found) last_ = outcome.out;
    return found;
  }
  Scratch scratch_;
  mutable std::string last_;
};

TEST_F(TunedPicture, IsFilteredWithTheWinner) {
  const std::string problem = "height=200 width=200 mask_height=3 mask_width=3 mode=correlation";
  tune(
      {.op = "conv2d", .problem = problem, .template_name = "sliding", .config = "OUT_X=4 OUT_Y=4 VECTOR=4"});
  const std::string filter = FILTER_IMAGE " --device host --mask sharpen3 --db " + database();
  EXPECT_TRUE(prints(filter, "variant: sliding ")) << last_;
  EXPECT_TRUE(prints(filter, "match:   exact")) << last_;

  const std::string explain = std::string(program_path) + " explain conv2d --device host --problem '" +
                              problem + "' --db " + database();
  const std::string at_first = "An application whose cache has no binary of it launches base ";
  EXPECT_FALSE(prints(explain, at_first)) << "the picture's is in the cache";
  EXPECT_TRUE(prints("rm -r cache && " + explain, at_first)) << last_;
  EXPECT_TRUE(prints(explain, "match: exact")) << last_;
  EXPECT_TRUE(prints(explain, "The binaries of 1 winner for the host are not run, such as that of conv2d "))
      << last_;
}

}  // namespace
}  // namespace tunesmith
