// SPDX-License-Identifier: Apache-2.0
// local_mean: the mean of a window around each sample of an image. What is outside the image, where the
// window lies, and which samples there are, are those of all image ops: templates/image.
#include "generator/op.h"

#include <cmath>

#include "templates/image/boundary.h"
#include "templates/image/origin.h"
#include "templates/image/samples.h"
#include "templates/image/value.h"

namespace tunesmith {
namespace {

constexpr IntegerAxis BLOCK_X("BLOCK_X"), BLOCK_Y("BLOCK_Y");
constexpr std::int64_t longest_side = grid_limit, longest_window = 255;

struct Dims {
  explicit Dims(const Problem& problem)
      : height(problem.integer("height")),
        width(problem.integer("width")),
        window_height(problem.integer("window_height")),
        window_width(problem.integer("window_width")),
        above(places_before(window_height, problem.integer("origin_y"))),
        before(places_before(window_width, problem.integer("origin_x"))) {}
  std::int64_t height, width, window_height, window_width, above, before;
};

Work work(const Problem& problem, const Config& config) {
  const Dims d(problem);
  Launch launch{.kernel = "local_mean_base",
                .grid = {ceil_divide(d.width, config[BLOCK_X]), ceil_divide(d.height, config[BLOCK_Y])},
                .block = {config[BLOCK_X], config[BLOCK_Y]},
                .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, int32(d.height), int32(d.width),
                              int32(d.window_height), int32(d.window_width), int32(d.above), int32(d.before),
                              static_cast<std::int32_t>(boundary_of(problem))}};
  add_value(launch, problem, sum_dtype(problem));
  return {.steps = {std::move(launch)}};
}

std::string check(const Problem& problem) {
  const Dims d(problem);
  const std::string wrong = refuses_origin(problem, "origin_y", d.window_height);
  return wrong.empty() ? refuses_origin(problem, "origin_x", d.window_width) : wrong;
}

// A sum of n samples one by one is off by at most n u sum|x|, and the division rounds once more; twice the
// unit roundoff for f64, whose sums here are in double too.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const Boundary boundary = boundary_of(problem);
  const double outside = value_of(problem, sum_dtype(problem));
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-52 : 0x1p-24;
  const auto count = static_cast<double>(d.window_height * d.window_width);
  for (std::int64_t at = begin; at < end; ++at) {
    double sum = 0, size = 0;
    for (std::int64_t i = 0; i < d.window_height; ++i) {
      const std::int64_t row = sample_at(at / d.width - d.above + i, d.height, boundary);
      for (std::int64_t j = 0; j < d.window_width; ++j) {
        const std::int64_t column = sample_at(at % d.width - d.before + j, d.width, boundary);
        const bool is_outside = row < 0 || column < 0;
        const double x =
            is_outside ? outside : arguments[0][static_cast<std::size_t>(row * d.width + column)];
        sum += x;
        size += std::abs(x);
      }
    }
    value[static_cast<std::size_t>(at - begin)] = sum / count;
    permitted_error[static_cast<std::size_t>(at - begin)] =
        std::isfinite(size) ? (count + 1) * unit * size / count : 0;
  }
}

}  // namespace

Op ops_local_mean() {
  const auto side = [](const char* name, const char* what, std::int64_t most, UsualSizes usual) {
    return Parameter{.name = name, .what = what, .maximum = most, .usual = usual};
  };
  const Template base = {.name = "base",
                         .what = "One thread per output, every sample read from global memory.",
                         .kernels = {"local_mean_base"},
                         .space =
                             [](const Problem&) {
                               return Space({{BLOCK_X, {32, 64, 128}, "threads of a block along a row"},
                                             {BLOCK_Y, {4, 8, 1}, "threads of a block across rows"}});
                             },
                         .work = work};
  return {
      .name = "local_mean",
      .what =
          "mean[y, x] = the mean of image[y + i - window_height/2 - origin_y, x + j - window_width/2 - "
          "origin_x] over the places (i, j) of the window",
      .parameters = {side("height", "rows of the image", longest_side, {16, 8192}),
                     side("width", "columns of the image", longest_side, {16, 8192}),
                     side("window_height", "rows of the window", longest_window, {1, 31}),
                     side("window_width", "columns of the window", longest_window, {1, 31}),
                     boundary_parameter("samples outside the image, as in scipy.ndimage", Boundary::reflect),
                     origin_parameter("origin_y", "rows by which the window begins above the centred one",
                                      longest_window),
                     origin_parameter("origin_x", "columns by which the window begins before the centred one",
                                      longest_window),
                     sample_dtype_parameter("element type of the image; the mean is f64 for f64, else f32"),
                     value_parameter("samples outside the image")},
      .check = check,
      .arguments =
          {{.name = "image",
            .role = Role::input,
            .extents = {"height", "width"},
            .contents = summed_contents()},
           {.name = "mean", .role = Role::output, .extents = {"height", "width"}, .dtype = sum_dtype}},
      .templates = {base},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(d.height * d.width) *
                   static_cast<double>(d.window_height * d.window_width);
          },
      .companions = {"height=1 width=1 boundary=mirror", "height=7 width=67 boundary=wrap",
                     "height=9 width=20 boundary=constant value=0.75"},
      .launch_numbers = value_at_launch(sum_dtype),
      .sizes = sizes_of({"height", "width", "window_height", "window_width"}),
      .examples = {
          "height=40 width=67 window_height=3 window_width=5",
          "height=9 width=31 window_height=4 window_width=2 boundary=constant value=-2 dtype=u8",
          "height=12 width=20 window_height=31 window_width=6 boundary=mirror origin_x=2 dtype=f64"}};
}

}  // namespace tunesmith
