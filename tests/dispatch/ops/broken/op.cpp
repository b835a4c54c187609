// SPDX-License-Identifier: Apache-2.0
// broken: an op whose base does not compile, to test the build's message.
#include "generator/op.h"

namespace tunesmith {

Op ops_broken() {
  return {.name = "broken",
          .what = "nothing",
          .parameters = {{.name = "n", .what = "elements"},
                         {.name = "dtype", .what = "element type", .categories = {"f32"}, .initial = "f32"}},
          .arguments = {{"x", Role::output, {"n"}}},
          .templates = {{.name = "base",
                         .what = "does not compile",
                         .kernels = {"broken_base"},
                         .space = [](const Problem&) { return Space({}, {}); },
                         .work =
                             [](const Problem&, const Config&) {
                               return Work{.steps = {Launch{.kernel = "broken_base",
                                                            .arguments = {ArgumentPointer{0}}}}};
                             }}},
          .reference = nullptr,
          .flops = [](const Problem&) { return 1.0; }};
}

}  // namespace tunesmith
