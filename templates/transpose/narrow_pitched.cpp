// SPDX-License-Identifier: Apache-2.0
// The template `narrow_pitched` (narrow_pitched.cu), for matrices with a short side whose short rows have
// gaps between them: strips pass through shared memory.

#include "templates/axes.h"
#include "templates/transpose/sides.h"

namespace tunesmith::transpose_op {
namespace {

std::string refuses(const Problem& problem) {
  const Sides s(problem);
  if (std::string why = s.too_wide("narrow_pitched"); !why.empty()) return why;
  return s.short_pitch > s.rows
             ? ""
             : "The template narrow_pitched is for short rows with gaps between them; take narrow.";
}

Space space(const Problem& problem) {
  const Sides s(problem);
  return Space({{VECTOR, halves(16 / s.element), "elements of an access to the long rows"},
                {STRIP, {256, 1024, 512, 128, 64}, "elements of each long row that a block moves"},
                block_axis({256, 128, 512}),
                {ITEMS, {4, 8, 2}, "loads of a thread before it puts them into shared memory"},
                load_axis({"plain", "no_allocate"}),
                store_axis(),
                start_axis(),
                trigger_axis()},
               {{"The long rows' vector must divide their length and pitch.",
                 [=](const Config& c) { return s.length % c[VECTOR] == 0 && s.pitch % c[VECTOR] == 0; }},
                {"A block has a thread for each vector of a long row's STRIP.",
                 [=](const Config& c) { return c[STRIP] <= c[BLOCK] * c[VECTOR]; }},
                {"A strip is at most 48 KiB, what every device has room for.",
                 [=](const Config& c) { return s.shared_bytes(c[STRIP]) <= static_shared_limit; }}},
               {{"A strip holds at least 4 bytes for each thread.",
                 [=](const Config& c) { return c[STRIP] * s.rows * s.element >= 4 * c[BLOCK]; }},
                trigger_rule()});
}

Work work(const Problem& problem, const Config& config) {
  const Sides s(problem);
  if (s.d.empty()) return {};
  return {.steps = {Launch{.kernel = "transpose_narrow_pitched",
                           .grid = grid_of(s.d, ceil_divide(s.length, config[STRIP])),
                           .block = {config[BLOCK]},
                           .dynamic_shared_bytes = s.shared_bytes(config[STRIP]),
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, s.d.batch, int32(s.rows),
                                         s.length, s.pitch, s.short_pitch},
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template narrow_pitched() {
  return {
      .name = "narrow_pitched",
      .what =
          "Strips through shared memory where one side is at most 32 and its rows have gaps between them.",
      .kernels = {"transpose_narrow_pitched"},
      .constants =
          [](const Problem& problem) {
            return Values{{"TALL", Sides(problem).tall ? 1 : 0}};
          },
      .refuses = refuses,
      .untuned = by_default,
      .space = space,
      .work = work,
      .alignment_bytes = [](const Problem& problem,
                            const Config& c) { return c[VECTOR] * bytes(dtype_of(problem)); }};
}

}  // namespace tunesmith::transpose_op
