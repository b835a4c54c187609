// SPDX-License-Identifier: Apache-2.0
// transpose: each matrix of a batch, out of place, element by element without a change of its bits. Rows may
// be a pitch apart; the gaps between them are neither read nor written.

#include "templates/transpose/op.h"

#include <algorithm>
#include <limits>

#include "generator/sample.h"

namespace tunesmith {
namespace {

using transpose_op::Dims;

constexpr double most_bytes = 0x1p40;  // per array, so that its tiles fit into a grid

std::string check(const Problem& problem) {
  const Dims d(problem);
  const auto too_short = [](const char* name, std::int64_t pitch, const char* row, std::int64_t length) {
    return std::string("The transpose problem's ") + name + " is " + std::to_string(pitch) +
           ", shorter than a row, whose " + row + " is " + std::to_string(length) +
           "; a pitch is at least that, or 0 for rows without gaps.";
  };
  if (d.input_pitch < d.width) return too_short("input_pitch", d.input_pitch, "width", d.width);
  if (d.output_pitch < d.height) return too_short("output_pitch", d.output_pitch, "height", d.height);
  const double rows = std::max(static_cast<double>(d.height) * static_cast<double>(d.input_pitch),
                               static_cast<double>(d.width) * static_cast<double>(d.output_pitch));
  if (rows * static_cast<double>(d.batch) * static_cast<double>(bytes(dtype_of(problem))) > most_bytes) {
    return "The transpose problem " + problem.text() +
           " has an array of more than 2^40 bytes; ask for smaller sizes.";
  }
  return "";
}

// The type by which arrays are checked: it has many different values; an element of sixteen bytes is checked
// as two numbers.
DType checked_as(const Problem& problem) {
  switch (bytes(dtype_of(problem))) {
    case 1:
      return DType::u8;
    case 2:
      return DType::f16;
    case 4:
      return DType::f32;
    default:
      return DType::f64;
  }
}

std::int64_t parts(const Problem& problem) { return bytes(dtype_of(problem)) / bytes(checked_as(problem)); }

// The result is exact. The gaps between the output's rows are not checked.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::int64_t of_element = parts(problem);
  for (std::int64_t at = begin; at < end; ++at) {
    const std::int64_t element = at / of_element, row = element / d.output_pitch,
                       y = element % d.output_pitch;
    const std::int64_t b = row / d.width, x = row % d.width;
    const auto to = static_cast<std::size_t>(at - begin);
    const bool gap = y >= d.height;
    const std::int64_t from = ((b * d.height + y) * d.input_pitch + x) * of_element + at % of_element;
    value[to] = gap ? 0 : arguments[0][static_cast<std::size_t>(from)];
    permitted_error[to] = gap ? std::numeric_limits<double>::infinity() : 0;
  }
}

// Draws squares often, and sometimes rows with gaps.
void usual_matrices(Random& random, Problem& problem) {
  if (draw_chance(random, 30)) problem.set("width", problem.integer("height"));
  const auto pitch = [&](std::int64_t row) {
    return draw_chance(random, 50) ? round_up(row, 64) : row + static_cast<std::int64_t>(random.below(64));
  };
  if (draw_chance(random, 8)) problem.set("input_pitch", pitch(problem.integer("width")));
  if (draw_chance(random, 8)) problem.set("output_pitch", pitch(problem.integer("height")));
}

}  // namespace

Op ops_transpose() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;
  return {
      .name = "transpose",
      .what = "output[b, x, y] = input[b, y, x], bit by bit, out of place.",
      .parameters = {{.name = "batch",
                      .what = "matrices",
                      .minimum = 0,
                      .maximum = side,
                      .initial = Value(1),
                      .usual = UsualSizes{2, 4096}},
                     {.name = "height",
                      .what = "rows of the input",
                      .minimum = 0,
                      .maximum = side,
                      .usual = UsualSizes{2, 10'000'000}},
                     {.name = "width",
                      .what = "columns of the input",
                      .minimum = 0,
                      .maximum = side,
                      .usual = UsualSizes{2, 10'000'000}},
                     {.name = "input_pitch",
                      .what = "elements from row to row of the input; 0: width",
                      .minimum = 0,
                      .maximum = side,
                      .initial = Value(0)},
                     {.name = "output_pitch",
                      .what = "elements from row to row of the output; 0: height",
                      .minimum = 0,
                      .maximum = side,
                      .initial = Value(0)},
                     {.name = "dtype",
                      .what = "bits of an element, whatever they mean",
                      .categories = {"b8", "b16", "b32", "b64", "b128"},
                      .initial = "b32"}},
      .check = check,
      .arguments = {{.name = "input",
                     .role = Role::input,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.height, d.input_pitch * parts(problem)};
                         },
                     .dtype = checked_as,
                     .contents = {{Contents::ascending, 0, 60000}, {Contents::few, 0, 255}}},
                    {.name = "output",
                     .role = Role::output,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.width, d.output_pitch * parts(problem)};
                         },
                     .dtype = checked_as}},
      .templates = {transpose_op::base(), transpose_op::tiled(), transpose_op::shifted(),
                    transpose_op::narrow(), transpose_op::narrow_pitched()},
      .reference = reference,
      .flops = [](const Problem&) { return 0.0; },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(bytes(dtype_of(problem))) * static_cast<double>(d.batch) *
                   static_cast<double>(d.height) * static_cast<double>(d.width);
          },
      .companions = {"height=137 width=53 batch=2 input_pitch=0 output_pitch=0",
                     "height=1 width=1 batch=1 input_pitch=0 output_pitch=0",
                     "height=80 width=144 batch=2 input_pitch=0 output_pitch=0",
                     "height=1 width=67 batch=1 input_pitch=0 output_pitch=0",
                     "height=45 width=1 batch=1 input_pitch=0 output_pitch=48",
                     "height=16 width=32 batch=3 input_pitch=48 output_pitch=64",
                     "height=272 width=16 batch=1 input_pitch=17 output_pitch=0",
                     "height=64 width=128 batch=1 input_pitch=160 output_pitch=80",
                     "height=7 width=1037 batch=2 input_pitch=1040 output_pitch=0",
                     "height=2064 width=16 batch=2 input_pitch=0 output_pitch=0",
                     "height=5 width=0 batch=1 input_pitch=3 output_pitch=0"},
      // The distance of two problems depends on the vectors that their rows allow more than on their sizes. A
      // pitch counts only in these vectors.
      .sizes =
          [](const Problem& problem) {
            const Dims d(problem);
            const std::int64_t element = bytes(dtype_of(problem));
            return Values{{"batch", d.batch},
                          {"height", d.height},
                          {"width", d.width},
                          {"input_vector", transpose_op::widest_vector(element, d.width, d.input_pitch)},
                          {"output_vector", transpose_op::widest_vector(element, d.height, d.output_pitch)}};
          },
      .examples = {"height=160 width=288", "height=67 width=131 batch=2 dtype=b8",
                   "height=272 width=144 dtype=b8", "height=136 width=272 batch=2 dtype=b16",
                   "height=300 width=77 dtype=b16", "height=100 width=60 input_pitch=64 output_pitch=128",
                   "height=133 width=70 dtype=b64", "height=3 width=1300",
                   "height=1030 width=12 batch=2 dtype=b8", "height=3 width=1100 output_pitch=16 dtype=b16",
                   "height=700 width=5 input_pitch=8 batch=2", "height=0 width=5"},
      .large_examples = {"height=46349 width=46351 dtype=b8", "height=49152 width=46080 dtype=b8"},
      .sample = usual_matrices,
  };
}

}  // namespace tunesmith
