// Loading a binary on the host.
#include <gtest/gtest.h>

#include "runtime/executable.h"

namespace tunesmith {
namespace {

TEST(HostExecutable, DamagedBytesAreALoadError) {
  EXPECT_THROW(load_host("not a shared object", "_test", Work{}), LoadError);
}

}  // namespace
}  // namespace tunesmith
