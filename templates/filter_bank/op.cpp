// SPDX-License-Identifier: Apache-2.0
// filter_bank: several separable filters of one image in one pass. The output is each filter's result, their
// sum, or their norm.

#include "templates/filter_bank/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "templates/array_limits.h"
#include "templates/image/origin.h"

namespace tunesmith {
namespace filter_bank_op {

Dims::Dims(const Problem& problem)
    : batch(problem.integer("batch")),
      height(problem.integer("height")),
      width(problem.integer("width")),
      channels(problem.integer("channels")),
      filters(problem.integer("filters")),
      taps_y(problem.integer("taps_y")),
      taps_x(problem.integer("taps_x")),
      before_y(places_before(taps_y, problem.integer("origin_y"))),
      before_x(places_before(taps_x, problem.integer("origin_x"))),
      results(choice<FilterBankResults>(problem, "results")),
      boundary(boundary_of(problem)) {}

}  // namespace filter_bank_op

namespace {

using namespace filter_bank_op;

constexpr std::int64_t longest_side = (std::int64_t{1} << 31) - 1024;

std::string check(const Problem& problem) {
  const Dims d(problem);
  double elements = d.results == FilterBankResults::each ? static_cast<double>(d.filters) : 1;
  for (const std::int64_t extent : {d.batch, d.height, d.width, d.channels})
    elements *= static_cast<double>(extent);
  if (are_too_many(elements)) {
    return "The output of batch=" + std::to_string(d.batch) + " height=" + std::to_string(d.height) +
           " width=" + std::to_string(d.width) + " channels=" + std::to_string(d.channels) +
           " has more than the " + most_elements_text + " elements that are allowed.";
  }
  const std::string wrong = refuses_origin(problem, "origin_y", d.taps_y);
  return wrong.empty() ? refuses_origin(problem, "origin_x", d.taps_x) : wrong;
}

std::vector<std::int64_t> output_extents(const Problem& problem) {
  const Dims d(problem);
  if (d.results != FilterBankResults::each) return {d.batch, d.height, d.width, d.channels};
  return {d.filters, d.batch, d.height, d.width, d.channels};
}

// A filter's sums for a stretch of a row of outputs, from element `first` of the row to `last`, and the sums
// of the absolute values. They are computed along the columns first.
struct Sums {
  std::vector<double> value, size;
};

Sums sums_of(const Dims& d, std::span<const std::vector<double>> arguments, double outside,
             std::int64_t filter, std::int64_t plane, std::int64_t y, std::int64_t first, std::int64_t last) {
  const double* const image = arguments[0].data() + plane * d.image_elements();
  const double* const column_mask = arguments[1].data() + filter * d.taps_y;
  const double* const row_mask = arguments[2].data() + filter * d.taps_x;
  const std::int64_t pixel = first / d.channels, pixels = (last - 1) / d.channels + 1 - pixel;
  const auto count = static_cast<std::size_t>((pixels + d.taps_x - 1) * d.channels);
  Sums columns{std::vector<double>(count), std::vector<double>(count)};
  std::vector<std::int64_t> places(count);  // in a row; -1: outside
  for (std::int64_t p = 0; p < pixels + d.taps_x - 1; ++p) {
    const std::int64_t at = sample_at(pixel + p - d.before_x, d.width, d.boundary);
    for (std::int64_t c = 0; c < d.channels; ++c)
      places[static_cast<std::size_t>(p * d.channels + c)] = at < 0 ? -1 : at * d.channels + c;
  }
  for (std::int64_t i = 0; i < d.taps_y; ++i) {
    const std::int64_t row = sample_at(y + i - d.before_y, d.height, d.boundary);
    const double* const line = image + std::max<std::int64_t>(row, 0) * d.row_length();
    for (std::size_t n = 0; n < count; ++n) {
      const double term = column_mask[i] * (row < 0 || places[n] < 0 ? outside : line[places[n]]);
      columns.value[n] += term;
      columns.size[n] += std::abs(term);
    }
  }
  const auto outputs = static_cast<std::size_t>(last - first);
  Sums found{std::vector<double>(outputs), std::vector<double>(outputs)};
  for (std::int64_t j = 0; j < d.taps_x; ++j) {
    const auto from = static_cast<std::size_t>(first - pixel * d.channels + j * d.channels);
    for (std::size_t n = 0; n < outputs; ++n) {
      found.value[n] += row_mask[j] * columns.value[from + n];
      found.size[n] += std::abs(row_mask[j]) * columns.size[from + n];
    }
  }
  return found;
}

double absolute_sum(const std::vector<double>& weights, std::int64_t first, std::int64_t count) {
  double sum = 0;
  for (std::int64_t n = first; n < first + count; ++n) sum += std::abs(weights[static_cast<std::size_t>(n)]);
  return sum;
}

// Each product goes through at most taps_y + taps_x roundings, whichever direction is first: a weight is
// multiplied and added in one operation, or in two, where the product is rounded once more before its sum. So
// the error of a filter's sum is at most gamma(taps_y + taps_x) sum|w x|, gamma(n) = n u / (1 - n u) (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1). This is below (taps_y + taps_x + 1) u for the
// masks that are allowed. A rounding below the normal numbers has an error of half of the smallest subnormal.
// `sum` adds filters - 1 roundings. For `norm`, | |a| - |b| | <= |a - b|, so the sums' errors together make
// at most the root of the sum of their squares. Squares, their sum and the root add (filters / 2 + 6) u of
// the result, of which the root makes 5 u.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const bool wide = dtype_of(problem) == DType::f64;
  // Twice the unit roundoff for f64: the sums here are in double too.
  const double unit = wide ? 0x1p-52 : 0x1p-24;
  const double least = wide ? std::numeric_limits<double>::denorm_min() : 0x1p-149;
  const double outside = value_of(problem, sum_dtype(problem));
  const auto count = static_cast<double>(d.filters);
  const double roundings = static_cast<double>(d.taps_y + d.taps_x) + 1;
  const std::int64_t length = d.row_length(), one = d.batch * d.image_elements();
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / length, first = at % length, last = std::min(length, first + end - at);
    const std::int64_t plane = row / d.height % d.batch, y = row % d.height;
    const bool each = d.results == FilterBankResults::each;
    const auto stretch = static_cast<std::size_t>(last - first), to = static_cast<std::size_t>(at - begin);
    std::vector<double> error(stretch), scale(stretch), sum(stretch);
    for (std::int64_t f = each ? at / one : 0; f < (each ? at / one + 1 : d.filters); ++f) {
      const Sums sums = sums_of(d, arguments, outside, f, plane, y, first, last);
      const double below =
          least * (static_cast<double>(d.taps_x) * (1 + absolute_sum(arguments[1], f * d.taps_y, d.taps_y)) +
                   static_cast<double>(d.taps_y) * (1 + absolute_sum(arguments[2], f * d.taps_x, d.taps_x)));
      for (std::size_t n = 0; n < stretch; ++n) {
        const double one_error = roundings * unit * sums.size[n] + below;
        const bool norm = d.results == FilterBankResults::norm;
        sum[n] += norm ? sums.value[n] * sums.value[n] : sums.value[n];
        scale[n] += std::abs(sums.value[n]);
        error[n] += norm ? one_error * one_error : one_error;
      }
    }
    for (std::size_t n = 0; n < stretch; ++n) {
      double found = sum[n], permitted = error[n];
      if (d.results == FilterBankResults::sum) permitted += (count - 1) * unit * (scale[n] + error[n]);
      if (d.results == FilterBankResults::norm) {
        found = std::sqrt(found);
        permitted = std::sqrt(permitted);
        permitted += (count / 2 + 6) * unit * (found + permitted) + least;
      }
      value[to + n] = found;
      // An infinity comes out as expected or as NaN: no error is permitted there.
      permitted_error[to + n] = std::isfinite(permitted) ? permitted : 0;
    }
    at += last - first;
  }
}

// Draws gradients and Laplacians of Gaussians, and pairs of small derivatives, of images of cameras.
void usual_images(Random& random, Problem& problem) {
  static const std::vector<std::array<std::int64_t, 2>> frames = {{1080, 1920}, {720, 1280},  {2160, 3840},
                                                                  {480, 640},   {1200, 1600}, {3000, 4000}};
  static const std::vector<std::int64_t> odd = {3, 3, 5, 7, 9, 9, 13, 17, 17, 25, 33};
  draw_image(random, problem, 8192, 40, frames);
  const std::int64_t taps = draw(random, odd);
  problem.set("taps_y", taps);
  problem.set("taps_x", taps);
  problem.set("filters", std::int64_t{draw_chance(random, 80) ? 2 : draw_chance(random, 50) ? 3 : 4});
  problem.set("results", draw_chance(random, 40) ? "norm" : draw_chance(random, 60) ? "each" : "sum");
  problem.set("channels", std::int64_t{draw_chance(random, 85) ? 1 : draw_chance(random, 70) ? 3 : 4});
  problem.set("batch", draw_chance(random, 80) ? std::int64_t{1} : draw_size(random, 2, 16));
  draw_boundary(random, problem, Boundary::reflect);
  problem.set("origin_y", std::int64_t{0});
  problem.set("origin_x", std::int64_t{0});
  draw_sample_type(random, problem);
  // Times per element hardly change from a million elements on, and the reference takes every tap.
  draw_smaller(problem, {"height", "width"}, [](const Problem& one) {
    const Dims d(one);
    return static_cast<double>(d.batch * d.image_elements()) *
               static_cast<double>(d.filters * (d.taps_y + d.taps_x)) <=
           4e9;
  });
}

std::vector<Parameter> parameters() {
  const auto extent = [](const char* name, const char* what, std::int64_t most, UsualSizes usual) {
    return Parameter{.name = name, .what = what, .minimum = 0, .maximum = most, .usual = usual};
  };
  const auto usually_one = [](Parameter parameter) {
    parameter.initial = std::int64_t{1};
    return parameter;
  };
  return {
      usually_one(extent("batch", "images", longest_side, {1, 16})),
      extent("height", "rows of an image", longest_side, {16, 8192}),
      extent("width", "columns of an image", longest_side, {16, 8192}),
      usually_one(extent("channels", "numbers of a pixel, each filtered by itself", longest_side, {1, 4})),
      {.name = "filters", .what = "pairs of masks", .maximum = most_filters, .usual = UsualSizes{2, 4}},
      {.name = "taps_y",
       .what = "weights of a column mask",
       .maximum = most_taps,
       .usual = UsualSizes{3, 33}},
      {.name = "taps_x", .what = "weights of a row mask", .maximum = most_taps, .usual = UsualSizes{3, 33}},
      {.name = "results",
       .what = "each filter's image, their sum, or the root of the sum of their squares",
       .categories = choices<FilterBankResults>(),
       .initial = "each"},
      boundary_parameter("samples outside the image, as in scipy.ndimage", Boundary::reflect),
      origin_parameter("origin_y", "rows by which the masks begin above the centred one", most_taps),
      origin_parameter("origin_x", "columns by which the masks begin before the centred one", most_taps),
      sample_dtype_parameter("element type of the image; masks and output are f64 for f64, else f32"),
      value_parameter("samples outside the image")};
}

// The companions have one pixel, an image smaller than a mask, odd rows, several strips, and the problem's
// channels. If there are more images than wanted blocks, a block goes down many rows. With very many
// channels, companions that would be larger than the problem are left out.
std::vector<Problem> companions(const Problem& problem) {
  static const Companions all = {"batch=1 height=1 width=1 boundary=mirror",
                                 "batch=1 height=2 width=3 boundary=wrap",
                                 "batch=2 height=37 width=67 boundary=nearest",
                                 "batch=1 height=45 width=140 boundary=zero",
                                 "batch=2 height=9 width=300 boundary=reflect",
                                 "batch=1 height=50 width=132 boundary=constant value=0.75",
                                 "batch=150 height=40 width=9 boundary=reflect",
                                 "batch=0 height=3 width=5"};
  constexpr std::int64_t few = 1 << 22;
  const auto pixels = [](const Problem& one) { return Dims(one).batch * Dims(one).image_elements(); };
  std::vector<Problem> found = all(problem);
  std::erase_if(
      found, [&, most = std::max(few, pixels(problem))](const Problem& one) { return pixels(one) > most; });
  return found;
}

}  // namespace

Op ops_filter_bank() {
  return {
      .name = "filter_bank",
      .what =
          "filtered[f, b, y, x, c] = sum over (i, j) of column_masks[f, i] row_masks[f, j] image[b, y + i - "
          "taps_y/2 - origin_y, x + j - taps_x/2 - origin_x, c]; the output is each filter's image, their "
          "sum, or the root of the sum of their squares; `boundary` says what is outside the image.",
      .parameters = parameters(),
      .check = check,
      .arguments = {{.name = "image",
                     .role = Role::input,
                     .extents = {"batch", "height", "width", "channels"},
                     .contents = summed_contents()},
                    {.name = "column_masks",
                     .role = Role::input,
                     .extents = {"filters", "taps_y"},
                     .dtype = sum_dtype,
                     .finite = true},
                    {.name = "row_masks",
                     .role = Role::input,
                     .extents = {"filters", "taps_x"},
                     .dtype = sum_dtype,
                     .finite = true},
                    {.name = "output", .role = Role::output, .extents = output_extents, .dtype = sum_dtype}},
      .templates = {base(), sliding()},
      .reference = reference,
      .reference_unit =
          [](const Problem& problem) { return std::max<std::int64_t>(1, Dims(problem).row_length()); },
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(d.batch * d.image_elements()) *
                   static_cast<double>(d.filters * (d.taps_y + d.taps_x));
          },
      .companions = companions,
      .launch_numbers = value_at_launch(sum_dtype),
      .sizes = sizes_of({"batch", "height", "width", "channels", "filters", "taps_y", "taps_x"}),
      .kind =
          [](const Problem& problem) {
            return problem.string("dtype") + ", results " + problem.string("results");
          },
      .examples =
          {"height=60 width=300 filters=2 taps_y=9 taps_x=9 results=norm",
           "height=45 width=133 filters=2 taps_y=3 taps_x=3 boundary=mirror dtype=u8",
           "height=50 width=84 filters=2 taps_y=25 taps_x=25 results=norm boundary=nearest",
           "height=40 width=62 filters=3 taps_y=6 taps_x=4 results=sum boundary=wrap dtype=f16 origin_x=-1",
           "batch=2 height=20 width=37 channels=3 filters=1 taps_y=5 taps_x=7 results=sum origin_y=2",
           "height=33 width=50 filters=4 taps_y=4 taps_x=9 results=norm dtype=f64 boundary=constant value=2",
           "height=3 width=2 filters=2 taps_y=17 taps_x=12 boundary=reflect dtype=i16",
           "height=30 width=56 channels=2 filters=2 taps_y=1 taps_x=5 results=norm dtype=bf16 boundary=zero",
           "height=26 width=41 filters=4 taps_y=7 taps_x=1 dtype=u16 boundary=wrap",
           "height=12 width=20 filters=2 taps_y=101 taps_x=33 results=norm dtype=f64",
           "height=0 width=7 filters=2 taps_y=3 taps_x=3"},
      .large_examples = {"height=65539 width=32801 filters=1 taps_y=3 taps_x=3 results=sum dtype=u8"},
      .sample = usual_images,
  };
}

}  // namespace tunesmith
