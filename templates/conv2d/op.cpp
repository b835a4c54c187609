// conv2d: the 'same' convolution or correlation of a batch of images with one mask; samples outside an image
// count as zero. The centre of a mask of even size is that of scipy.ndimage.correlate and convolve
// (mode="constant").

#include "templates/conv2d/op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/sample.h"

namespace tunesmith {
namespace {

using conv2d_op::Dims;

// The error bound of summing n products one by one in the dtype: n u sum|w x|, u the unit roundoff (Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.1), and one rounding more for the store.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const std::vector<double>& image = arguments[0];
  const std::vector<double>& mask = arguments[1];
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double terms = static_cast<double>(d.mask_height * d.mask_width) + 1;
  std::fill(value.begin(), value.end(), 0.0);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  for (std::int64_t at = begin; at < end;) {
    // One stretch of an output row at a time, the mask outside, so that the inner loop runs along the row.
    const std::int64_t row = at / d.width;
    const std::int64_t x0 = at % d.width;
    const std::int64_t x1 = std::min(d.width, x0 + end - at);
    const std::int64_t y = row % d.height;
    double* sums = value.data() + (at - begin) - x0;
    double* sizes = permitted_error.data() + (at - begin) - x0;
    for (std::int64_t i = 0; i < d.mask_height; ++i) {
      const std::int64_t source_y = y + i - d.top;
      if (source_y < 0 || source_y >= d.height) continue;
      const double* source = image.data() + (row - y + source_y) * d.width;
      for (std::int64_t j = 0; j < d.mask_width; ++j) {
        const std::int64_t mask_at = i * d.mask_width + j;
        const double weight =
            mask[static_cast<std::size_t>(d.turned ? d.mask_height * d.mask_width - 1 - mask_at : mask_at)];
        const std::int64_t shift = j - d.left;
        const std::int64_t first = std::max(x0, -shift);
        const std::int64_t last = std::min(x1, d.width - shift);
        for (std::int64_t x = first; x < last; ++x) {
          const double term = weight * source[x + shift];
          sums[x] += term;
          sizes[x] += std::abs(term);
        }
      }
    }
    // An infinity comes out as it should, or as NaN: nothing is permitted there.
    for (std::int64_t x = x0; x < x1; ++x) sizes[x] = std::isfinite(sizes[x]) ? sizes[x] * terms * unit : 0;
    at += x1 - x0;
  }
}

// Squares, frames of cameras and screens; masks are mostly odd squares, the small ones more frequent.
void usual_images(Random& random, Problem& problem) {
  static const std::vector<std::array<std::int64_t, 2>> frames = {
      {1080, 1920}, {720, 1280}, {2160, 3840}, {480, 640}, {600, 800}, {1200, 1600}, {3000, 4000}};
  static const std::vector<std::int64_t> odd = {3, 3, 3, 5, 5, 5, 7, 7, 9, 11, 13, 15, 17, 19, 21, 25, 31};
  const auto set = [&](const char* height, std::int64_t rows, const char* width, std::int64_t columns) {
    problem.set(height, rows);
    problem.set(width, columns);
  };
  if (draw_chance(random, 30)) {
    const std::int64_t side = draw_size(random, 16, 16384);
    set("height", side, "width", side);
  } else if (draw_chance(random, 30)) {
    const auto& [rows, columns] = draw(random, frames);
    set("height", rows, "width", columns);
  }
  const std::int64_t side = draw(random, odd);
  switch (random.below(10)) {
    case 0:
      return set("mask_height", 1, "mask_width", draw_size(random, 2, 63) | 1);
    case 1:
      return set("mask_height", draw_size(random, 2, 63) | 1, "mask_width", 1);
    case 2: {
      const std::int64_t any = draw_size(random, 2, 63);
      return set("mask_height", any, "mask_width", any);
    }
    case 3:
      return;  // as drawn
    default:
      return set("mask_height", side, "mask_width", side);
  }
}

// The base, which then launches nothing, serves images without pixels.
Template with_pixels(Template tmpl) {
  tmpl.refuses = [others = std::move(tmpl.refuses)](const Problem& problem) -> std::string {
    if (Dims(problem).empty()) return "There are no pixels; the base serves that.";
    return others ? others(problem) : "";
  };
  return tmpl;
}

}  // namespace

Op ops_conv2d() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;  // columns and rows are int in the kernels
  return {
      .name = "conv2d",
      .what =
          "output[b, y, x] = sum over (i, j) of mask[i, j] image[b, y + i - mask_height/2, x + j - "
          "mask_width/2] (correlation), or with the mask turned by half a turn (convolution); zero outside "
          "the image.",
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
           {.name = "mask_height", .what = "rows of the mask", .maximum = 4096, .usual = UsualSizes{1, 31}},
           {.name = "mask_width", .what = "columns of the mask", .maximum = 4096, .usual = UsualSizes{1, 31}},
           {.name = "mode",
            .what = "direction of the mask",
            .words = {"correlation", "convolution"},
            .initial = "correlation"},
           {.name = "boundary", .what = "samples outside the image", .words = {"zero"}, .initial = "zero"},
           {.name = "dtype",
            .what = "element type of all three arrays",
            .words = {"f32", "f64"},
            .initial = "f32"}},
      .check = [](const Problem& problem) -> std::string {
        constexpr std::int64_t most = std::int64_t{1} << 40;
        const Dims d(problem);
        if (static_cast<double>(d.batch) * static_cast<double>(d.height) * static_cast<double>(d.width) <=
            static_cast<double>(most))
          return "";
        return "The conv2d problem's images, batch=" + std::to_string(d.batch) +
               " height=" + std::to_string(d.height) + " width=" + std::to_string(d.width) +
               ", have more than the 2^40 elements that are allowed.";
      },
      .arguments =
          {{.name = "image",
            .role = Role::input,
            .extents = {"batch", "height", "width"},
            .contents = {{Contents::uniform, -100, 100},
                         {Contents::few, -1, 1},
                         {Contents::magnitudes, 0x1p-13, 0x1p13},
                         {Contents::ascending, -1, 1}}},
           {.name = "mask", .role = Role::input, .extents = {"mask_height", "mask_width"}, .finite = true},
           {.name = "output", .role = Role::output, .extents = {"batch", "height", "width"}}},
      .templates = {conv2d_op::base(), with_pixels(conv2d_op::tiled()), with_pixels(conv2d_op::tensor()),
                    with_pixels(conv2d_op::warpgroup()), with_pixels(conv2d_op::sliding()),
                    with_pixels(conv2d_op::tensor_any()), with_pixels(conv2d_op::warpgroup_any())},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(d.batch * d.height * d.width) *
                   static_cast<double>(d.mask_height * d.mask_width);
          },
      // Odd sizes, one pixel, widths that vectors need, several tiles, one row, one column.
      .companions = {"height=37 width=53 batch=2", "height=1 width=1 batch=1", "height=70 width=132 batch=1",
                     "height=3 width=4 batch=3", "height=1 width=67 batch=1", "height=45 width=1 batch=1"},
      .examples = {"height=200 width=200 mask_height=13 mask_width=13 mode=convolution",
                   "height=70 width=128 mask_height=31 mask_width=31",
                   "height=37 width=64 mask_height=24 mask_width=20 mode=convolution",
                   "height=66 width=44 batch=2 mask_height=17 mask_width=33",
                   "height=5 width=8 mask_height=13 mask_width=12",
                   "height=9 width=400 mask_height=1 mask_width=70 mode=convolution",
                   "height=300 width=4 mask_height=40 mask_width=1",
                   "height=64 width=36 mask_height=4 mask_width=6 mode=convolution batch=3",
                   "height=45 width=66 mask_height=7 mask_width=7 dtype=f64",
                   "height=33 width=40 mask_height=5 mask_width=5",
                   "height=150 width=260 mask_height=7 mask_width=7 batch=2",
                   "height=1 width=1 mask_height=1 mask_width=1"},
      .sample = usual_images,
  };
}

}  // namespace tunesmith
