// SPDX-License-Identifier: Apache-2.0
// conv2d: the convolution or correlation of a batch of images with one mask. Boundaries and origins are those
// of scipy.ndimage.correlate and convolve; sizes of the output are those of scipy.signal.convolve2d.

#include "templates/conv2d/op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "templates/array_limits.h"
#include "templates/image/origin.h"
#include "templates/image/rules.h"

namespace tunesmith {
namespace conv2d_op {
namespace {

// One dimension: the number of outputs, and the samples of a window before its output's own sample.
struct Side {
  std::int64_t outputs, before;
};

// `valid` uses no sample from outside. If the mask is larger, it has the outputs whose windows hold all
// samples.
Side side_of(const std::string& size, std::int64_t samples, std::int64_t weights, std::int64_t origin,
             bool turned) {
  if (samples == 0) return {0, 0};
  if (size == "full") return {samples + weights - 1, weights - 1};
  if (size == "valid") return {std::abs(samples - weights) + 1, std::max<std::int64_t>(weights - samples, 0)};
  return {samples, places_before(weights, origin, turned)};
}

}  // namespace

Dims::Dims(const Problem& problem)
    : batch(problem.integer("batch")),
      height(problem.integer("height")),
      width(problem.integer("width")),
      mask_height(problem.integer("mask_height")),
      mask_width(problem.integer("mask_width")),
      turned(problem.string("mode") == "convolution"),
      boundary(problem.string("size") == "valid" ? Boundary::zero : boundary_of(problem)) {
  const std::string& size = problem.string("size");
  const Side rows = side_of(size, height, mask_height, problem.integer("origin_y"), turned);
  const Side columns = side_of(size, width, mask_width, problem.integer("origin_x"), turned);
  out_height = rows.outputs;
  out_width = columns.outputs;
  top = rows.before;
  left = columns.before;
}

std::string not_plain(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  std::string given;
  const auto differs = [&](const std::string& what) { given += (given.empty() ? "" : " ") + what; };
  if (problem.string("boundary") != "zero") differs("boundary=" + problem.string("boundary"));
  if (problem.string("size") != "same") differs("size=" + problem.string("size"));
  for (const char* origin : {"origin_y", "origin_x"}) {
    if (problem.integer(origin) != 0) differs(origin + ("=" + std::to_string(problem.integer(origin))));
  }
  if (dtype != DType::f32 && dtype != DType::f64) differs("dtype=" + problem.string("dtype"));
  if (given.empty()) return "";
  return "This template has boundary=zero, size=same, origins of 0 and images of f32 or f64 only, not " +
         given + "; take another template.";
}

}  // namespace conv2d_op

namespace {

using conv2d_op::Dims;

constexpr std::int64_t longest_side = (std::int64_t{1} << 31) - 1024;  // columns and rows are int in kernels
constexpr std::int64_t longest_mask = 4096;                            // the limit of each side

// The permitted error is the bound for summing n products one by one in the dtype, n u sum|w x| with the unit
// roundoff u (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), plus one rounding for the
// store.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::vector<double>& image = arguments[0];
  const std::vector<double>& mask = arguments[1];
  // Twice the unit roundoff for f64: the sums here are in double too.
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-52 : 0x1p-24;
  const double outside = value_of(problem, sum_dtype(problem));
  const double terms = static_cast<double>(d.mask_height * d.mask_width) + 1;
  std::fill(value.begin(), value.end(), 0.0);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  for (std::int64_t at = begin; at < end;) {
    // Computes a stretch of an output row at a time. The outer loops run over the mask, so that the inner
    // loop runs along the row.
    const std::int64_t row = at / d.out_width;
    const std::int64_t x0 = at % d.out_width;
    const std::int64_t x1 = std::min(d.out_width, x0 + end - at);
    const std::int64_t y = row % d.out_height;
    const double* const first_row = image.data() + row / d.out_height * d.height * d.width;
    double* sums = value.data() + (at - begin) - x0;
    double* sizes = permitted_error.data() + (at - begin) - x0;
    for (std::int64_t i = 0; i < d.mask_height; ++i) {
      const std::int64_t source_y = sample_at(y + i - d.top, d.height, d.boundary);
      if (source_y < 0 && d.boundary == Boundary::zero) continue;
      const double* source = first_row + std::max<std::int64_t>(source_y, 0) * d.width;
      for (std::int64_t j = 0; j < d.mask_width; ++j) {
        const std::int64_t mask_at = i * d.mask_width + j;
        const double weight =
            mask[static_cast<std::size_t>(d.turned ? d.mask_height * d.mask_width - 1 - mask_at : mask_at)];
        const std::int64_t shift = j - d.left;
        const auto add = [&](std::int64_t x, double sample) {
          const double term = weight * sample;
          sums[x] += term;
          sizes[x] += std::abs(term);
        };
        const auto add_outside = [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t x = from; x < to; ++x) {
            const std::int64_t source_x = source_y < 0 ? -1 : sample_at(x + shift, d.width, d.boundary);
            add(x, source_x < 0 ? outside : source[source_x]);
          }
        };
        const std::int64_t first = std::clamp(-shift, x0, x1);
        const std::int64_t last = std::clamp(d.width - shift, first, x1);
        if (source_y < 0) {
          add_outside(x0, x1);
          continue;
        }
        if (d.boundary != Boundary::zero) add_outside(x0, first);
        for (std::int64_t x = first; x < last; ++x) add(x, source[x + shift]);
        if (d.boundary != Boundary::zero) add_outside(last, x1);
      }
    }
    // An infinity comes out as expected or as NaN: no error is permitted there.
    for (std::int64_t x = x0; x < x1; ++x) sizes[x] = std::isfinite(sizes[x]) ? sizes[x] * terms * unit : 0;
    at += x1 - x0;
  }
}

// Draws squares and frames of cameras and screens. Masks are mostly odd squares, small ones more often, with
// mostly zeros outside. Other boundaries, sizes and types are for users who come from SciPy.
void usual_images(Random& random, Problem& problem) {
  if (draw_chance(random, 65)) {
    problem.set("boundary", "zero");
    problem.set("size", "same");
  } else {
    problem.set("boundary", draw(random, choices<Boundary>()));
    problem.set("size", draw_chance(random, 60) ? "same" : draw_chance(random, 50) ? "full" : "valid");
  }
  draw_sample_type(random, problem);
  static const std::vector<std::array<std::int64_t, 2>> frames = {
      {1080, 1920}, {720, 1280}, {2160, 3840}, {480, 640}, {600, 800}, {1200, 1600}, {3000, 4000}};
  static const std::vector<std::int64_t> odd = {3, 3, 3, 5, 5, 5, 7, 7, 9, 11, 13, 15, 17, 19, 21, 25, 31};
  draw_image(random, problem, 16384, 30, frames);
  const auto set = [&](std::int64_t rows, std::int64_t columns) {
    problem.set("mask_height", rows);
    problem.set("mask_width", columns);
  };
  const std::int64_t side = draw(random, odd);
  switch (random.below(10)) {
    case 0:
      return set(1, draw_size(random, 2, 63) | 1);
    case 1:
      return set(draw_size(random, 2, 63) | 1, 1);
    case 2: {
      const std::int64_t any = draw_size(random, 2, 63);
      return set(any, any);
    }
    case 3:
      return;  // the sizes stay as drawn
    default:
      return set(side, side);
  }
}

// The template, which refuses images without pixels. The base serves these and launches nothing.
Template with_pixels(Template tmpl) {
  return refusing([](const Problem& problem) { return refuses_empty(Dims(problem).empty()); },
                  std::move(tmpl));
}

Template plain(Template tmpl) { return with_pixels(refusing(conv2d_op::not_plain, std::move(tmpl))); }

std::string check(const Problem& problem) {
  const Dims d(problem);
  const auto pixels = [&](std::int64_t height, std::int64_t width) {
    return static_cast<double>(d.batch) * static_cast<double>(height) * static_cast<double>(width);
  };
  if (are_too_many(pixels(d.height, d.width))) {
    return "The conv2d problem's images, batch=" + std::to_string(d.batch) +
           " height=" + std::to_string(d.height) + " width=" + std::to_string(d.width) +
           ", have more than the " + most_elements_text + " elements that are allowed.";
  }
  if (are_too_many(pixels(d.out_height, d.out_width)) || std::max(d.out_height, d.out_width) > longest_side) {
    return "The conv2d problem's outputs, " + std::to_string(d.batch) + " of " +
           std::to_string(d.out_height) + " x " + std::to_string(d.out_width) + ", are more than " +
           most_elements_text + " elements or have more than " + std::to_string(longest_side) +
           " rows or columns; take smaller images or size=same.";
  }
  for (const char* name : {"origin_y", "origin_x"}) {
    if (problem.integer(name) == 0 || problem.string("size") == "same") continue;
    return "The conv2d problem's " + std::string(name) + " is " + std::to_string(problem.integer(name)) +
           ", but size is " + problem.string("size") + "; an origin is for size=same only.";
  }
  const std::string wrong = refuses_origin(problem, "origin_y", d.mask_height);
  return wrong.empty() ? refuses_origin(problem, "origin_x", d.mask_width) : wrong;
}

std::vector<std::int64_t> output_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.out_height, d.out_width};
}

// The problems have odd sizes, one pixel, widths that vectors need, several tiles, one row, one column.
std::vector<Problem> companions(const Problem& problem) {
  static constexpr const char* of_all[] = {"height=37 width=53 batch=2",  "height=1 width=1 batch=1",
                                           "height=70 width=132 batch=1", "height=3 width=4 batch=3",
                                           "height=1 width=67 batch=1",   "height=45 width=1 batch=1"};
  std::vector<Problem> found;
  for (const char* text : of_all) {
    Problem& other = found.emplace_back(problem);
    const Values given = Values::parse(text);
    for (const auto& [name, value] : given.entries()) other.set(name, value);
  }
  if (conv2d_op::not_plain(problem).empty()) return found;
  // Problems with other boundaries, for templates that serve them all; their rows are aligned to vectors like
  // the problem's.
  struct BoundedShape {
    std::int64_t height, width, batch;
    const char* boundary;
  };
  static constexpr BoundedShape of_bounded[] = {{70, 132, 1, "reflect"},
                                                {5, 64, 2, "mirror"},
                                                {40, 4, 1, "wrap"},
                                                {41, 148, 1, "nearest"},
                                                {38, 56, 2, "constant"}};
  for (const BoundedShape& one : of_bounded) {
    Problem& other = found.emplace_back(problem);
    other.set("height", one.height);
    other.set("width", one.width + problem.integer("width") % 4);
    other.set("batch", one.batch);
    other.set("boundary", one.boundary);
    other.set("value", "-2.5");
  }
  return found;
}

}  // namespace

Op ops_conv2d() {
  constexpr std::int64_t side = longest_side;
  return {
      .name = "conv2d",
      .what =
          "output[b, y, x] = sum over (i, j) of mask[i, j] image[b, y + i - mask_height/2 - origin_y, x + j "
          "- mask_width/2 - origin_x] (correlation), or with the mask turned by half a turn (convolution); "
          "`boundary` says what is outside the image, `size` which outputs there are.",
      .parameters =
          {{.name = "batch",
            .what = "images",
            .minimum = 0,
            .maximum = side,
            .initial = Value(1),
            .usual = UsualSizes{2, 1024}},
           {.name = "height",
            .what = "rows of an image",
            .minimum = 0,
            .maximum = side,
            .usual = UsualSizes{16, 16384}},
           {.name = "width",
            .what = "columns of an image",
            .minimum = 0,
            .maximum = side,
            .usual = UsualSizes{16, 16384}},
           {.name = "mask_height",
            .what = "rows of the mask",
            .maximum = longest_mask,
            .usual = UsualSizes{1, 31}},
           {.name = "mask_width",
            .what = "columns of the mask",
            .maximum = longest_mask,
            .usual = UsualSizes{1, 31}},
           {.name = "mode",
            .what = "direction of the mask",
            .categories = {"correlation", "convolution"},
            .initial = "correlation"},
           boundary_parameter("samples outside the image, as in scipy.ndimage", Boundary::zero),
           sample_dtype_parameter("element type of the image; mask and output are f64 for f64, else f32"),
           {.name = "size",
            .what = "outputs: as many as the image has, for each overlap with the mask, or for each whole "
                    "overlap",
            .categories = {"same", "full", "valid"},
            .initial = "same"},
           origin_parameter("origin_y",
                            "rows by which the window begins above the centred one (below it in a "
                            "convolution); for size=same",
                            longest_mask),
           origin_parameter("origin_x", "columns by which the window begins before the centred one, likewise",
                            longest_mask),
           value_parameter("samples outside the image")},
      .check = check,
      .arguments = {{.name = "image",
                     .role = Role::input,
                     .extents = {"batch", "height", "width"},
                     .contents = summed_contents()},
                    {.name = "mask",
                     .role = Role::input,
                     .extents = {"mask_height", "mask_width"},
                     .dtype = sum_dtype,
                     .finite = true},
                    {.name = "output", .role = Role::output, .extents = output_extents, .dtype = sum_dtype}},
      .templates = {conv2d_op::base(), plain(conv2d_op::tiled()), plain(conv2d_op::tensor()),
                    plain(conv2d_op::warpgroup()), with_pixels(conv2d_op::sliding()),
                    plain(conv2d_op::tensor_any()), plain(conv2d_op::warpgroup_any()),
                    with_pixels(conv2d_op::bounded())},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(d.batch * d.out_height * d.out_width) *
                   static_cast<double>(d.mask_height * d.mask_width);
          },
      .companions = companions,
      .launch_numbers = value_at_launch(sum_dtype),
      .sizes = sizes_of({"batch", "height", "width", "mask_height", "mask_width"}),
      .examples = {"height=200 width=200 mask_height=13 mask_width=13 mode=convolution",
                   "height=70 width=128 mask_height=31 mask_width=31",
                   "height=37 width=64 mask_height=24 mask_width=20 mode=convolution",
                   "height=66 width=44 batch=2 mask_height=17 mask_width=33",
                   "height=5 width=8 mask_height=13 mask_width=12",
                   "height=9 width=400 mask_height=1 mask_width=70 mode=convolution",
                   "height=300 width=4 mask_height=40 mask_width=1",
                   "height=64 width=36 mask_height=4 mask_width=6 mode=convolution batch=3",
                   "height=45 width=66 mask_height=7 mask_width=7 dtype=f64",
                   "height=45 width=64 mask_height=4 mask_width=5 dtype=f64 mode=convolution",
                   "height=33 width=40 mask_height=5 mask_width=5",
                   "height=150 width=260 mask_height=7 mask_width=7 batch=2",
                   "height=1 width=1 mask_height=1 mask_width=1",
                   "height=61 width=72 mask_height=5 mask_width=4 boundary=reflect dtype=u8 mode=convolution",
                   "height=40 width=95 mask_height=4 mask_width=7 boundary=mirror origin_y=-2 origin_x=3",
                   "height=3 width=2 mask_height=31 mask_width=12 boundary=wrap size=full dtype=f64",
                   "height=50 width=64 mask_height=3 mask_width=6 boundary=constant value=7.25 dtype=i16",
                   "height=33 width=47 mask_height=6 mask_width=3 boundary=nearest size=full dtype=f16",
                   "height=70 width=40 mask_height=31 mask_width=31 size=valid dtype=bf16",
                   "height=4 width=5 mask_height=9 mask_width=7 size=valid dtype=u16 mode=convolution"},
      .sample = usual_images,
  };
}

}  // namespace tunesmith
