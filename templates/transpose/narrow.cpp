// SPDX-License-Identifier: Apache-2.0
// The template `narrow` (narrow.cu), for matrices with a short side: strips pass through shared memory. One
// array has few long rows, the other is one stretch in which their elements alternate.

#include "templates/axes.h"
#include "templates/transpose/sides.h"

namespace tunesmith::transpose_op {
namespace {

// Elements per access to the rows and to the stretch.
std::int64_t row_vector(const Sides& s, const Config& c) { return s.tall ? c[VECTOR_OUT] : c[VECTOR_IN]; }
std::int64_t stretch_vector(const Sides& s, const Config& c) { return s.tall ? c[VECTOR_IN] : c[VECTOR_OUT]; }

std::string refuses(const Problem& problem) {
  const Sides s(problem);
  if (std::string why = s.too_wide("narrow"); !why.empty()) return why;
  return s.short_pitch > s.rows
             ? "The template narrow is for short rows without gaps between them; take narrow_pitched."
             : "";
}

std::vector<Axis> axes(std::int64_t element) {
  const std::vector<Value> vectors = halves(16 / element);
  return {
      {VECTOR_IN, vectors, "elements of a load"},
      {VECTOR_OUT, vectors, "elements of a store"},
      {STRIP, {1024, 512, 256, 128, 64, 2048}, "elements of each long row that a block moves"},
      block_axis({256, 128, 512}),
      {ITEMS, {8, 4, 2}, "loads of a thread before it puts them into shared memory"},
      load_axis({"plain", "no_allocate"}),
      store_axis(),
      start_axis(),
      trigger_axis(),
  };
}

std::vector<Rule> must(const Sides& s) {
  return {
      {"The long rows' vector must divide their length and pitch.",
       [=](const Config& c) { return s.length % row_vector(s, c) == 0 && s.pitch % row_vector(s, c) == 0; }},
      {"The stretch's vector must divide a matrix's elements.",
       [=](const Config& c) { return s.length * s.rows % stretch_vector(s, c) == 0; }},
      {"A block has a thread for each vector of a long row's STRIP.",
       [=](const Config& c) { return c[STRIP] <= c[BLOCK] * row_vector(s, c); }},
      {"A strip is at most 48 KiB, what every device has room for.",
       [=](const Config& c) { return s.shared_bytes(c[STRIP]) <= static_shared_limit; }},
  };
}

std::vector<Rule> worth(const Sides& s) {
  return {
      {"A strip holds at least 4 bytes for each thread.",
       [=](const Config& c) { return c[STRIP] * s.rows * s.element >= 4 * c[BLOCK]; }},
      trigger_rule(),
  };
}

Space space(const Problem& problem) {
  const Sides s(problem);
  return Space(axes(s.element), must(s), worth(s));
}

Work work(const Problem& problem, const Config& config) {
  const Sides s(problem);
  if (s.d.empty()) return {};
  return {.steps = {Launch{.kernel = "transpose_narrow",
                           .grid = grid_of(s.d, ceil_divide(s.length, config[STRIP])),
                           .block = {config[BLOCK]},
                           .dynamic_shared_bytes = s.shared_bytes(config[STRIP]),
                           .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, s.d.batch, int32(s.rows),
                                         s.length, s.pitch},
                           .overlaps_previous = config[START] == "overlapped"}}};
}

}  // namespace

Template narrow() {
  return {
      .name = "narrow",
      .what = "Strips through shared memory where one side is at most 32: few long rows, and one stretch.",
      .kernels = {"transpose_narrow"},
      .constants =
          [](const Problem& problem) {
            return Values{{"TALL", Sides(problem).tall ? 1 : 0}};
          },
      .refuses = refuses,
      .untuned = by_default,
      .space = space,
      .work = work,
      .alignment_bytes =
          [](const Problem& problem, const Config& c) {
            return std::max(c[VECTOR_IN], c[VECTOR_OUT]) * bytes(dtype_of(problem));
          }};
}

}  // namespace tunesmith::transpose_op
