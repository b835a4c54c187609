// What the build packs into the library, with the ops that it ships.
#include "dispatch/packed.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/export.h"
#include "generator/ops.h"

namespace tunesmith {
namespace {

// What is committed in generated/ is what the templates render to.
TEST(Generated, RendersExactly) { EXPECT_EQ(check_exported(GENERATED_FOLDER), std::vector<std::string>()); }

// Each op's base is in the library for every word that it compiles in, whatever the sizes.
TEST(Packed, HasTheBases) {
  int found = 0;
  for (const Op& op : ops()) {
    const Template& base = op.templates.front();
    for (const std::string& example : op.examples) {
      const Problem problem = complete_problem(op, Values::parse(example));
      const bool known = std::all_of(op.parameters.begin(), op.parameters.end(), [&](const Parameter& p) {
        return !p.refuses_text || !compiled_in(op, base, problem).has(p.name) ||
               std::find(p.words.begin(), p.words.end(), problem.word(p.name)) != p.words.end();
      });
      if (!known) continue;  // a user's expression
      const auto expect_packed = [&](const std::string& target) {
        const Source source = render(op, base, problem, base_config(op, problem), target);
        EXPECT_FALSE(packed(packed_name(target, source.hash)).empty())
            << op.name << " " << target << " " << example;
        ++found;
      };
      expect_packed("host");
#ifdef TUNESMITH_WITH_CUDA
      for (const char* target :
           {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a", "compute_75"}) {
        expect_packed(target);
      }
#endif
    }
  }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace tunesmith
