// conv2d: the 'same' convolution or correlation of a batch of images with one mask; samples outside an image
// count as zero. The centre of a mask of even size is that of scipy.ndimage.correlate and convolve
// (mode="constant").

#include "generator/op.h"

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

struct Dims {
  explicit Dims(const Problem& problem)
      : batch(problem.integer("batch")),
        height(problem.integer("height")),
        width(problem.integer("width")),
        mask_height(problem.integer("mask_height")),
        mask_width(problem.integer("mask_width")),
        turned(problem.word("mode") == "convolution"),
        top(turned ? mask_height - 1 - mask_height / 2 : mask_height / 2),
        left(turned ? mask_width - 1 - mask_width / 2 : mask_width / 2) {}

  std::int64_t batch, height, width, mask_height, mask_width;
  bool turned;             // the mask is read backwards
  std::int64_t top, left;  // rows above and columns before the output's own that the mask covers
};

std::int64_t ceil_divide(std::int64_t value, std::int64_t divisor) { return (value + divisor - 1) / divisor; }

// CUDA's limit for the grid's y and z; the kernels walk what is beyond it in strides.
constexpr std::int64_t grid_limit = 65535;

std::vector<std::int64_t> image_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.height, d.width};
}

std::vector<std::int64_t> mask_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.mask_height, d.mask_width};
}

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
    for (std::int64_t x = x0; x < x1; ++x) sizes[x] *= terms * unit;
    at += x1 - x0;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // height, width, batch: odd sizes, one pixel, one row, one column, widths that vectors need, several tiles.
  static constexpr std::int64_t sizes[][3] = {{37, 53, 2}, {1, 1, 1},  {70, 132, 1},
                                              {3, 4, 3},   {1, 67, 1}, {45, 1, 1}};
  std::vector<Problem> found;
  for (const auto& [height, width, batch] : sizes) {
    Problem other = problem;
    other.set("height", height);
    other.set("width", width);
    other.set("batch", batch);
    found.push_back(std::move(other));
  }
  return found;
}

Template base() {
  return {
      .name = "base",
      .what = "One thread an output, every sample read from global memory; serves every problem.",
      .kernels = {"conv2d_base"},
      .space =
          [](const Problem&) {
            return Space({{"BLOCK_X", {32, 16, 64, 128}, "threads of a block along a row"},
                          {"BLOCK_Y", {8, 4, 16, 2, 1}, "threads of a block across rows"}},
                         {{"A block has at most 1024 threads.", {"BLOCK_X", "BLOCK_Y"}, [](const Config& c) {
                             return c.integer("BLOCK_X") * c.integer("BLOCK_Y") <= 1024;
                           }}});
          },
      .work =
          [](const Problem& problem, const Config& config) {
            const Dims d(problem);
            const auto int32 = [](std::int64_t dim) { return static_cast<std::int32_t>(dim); };
            Launch launch{.kernel = "conv2d_base",
                          .grid = {ceil_divide(d.width, config.integer("BLOCK_X")),
                                   std::min(ceil_divide(d.height, config.integer("BLOCK_Y")), grid_limit),
                                   std::min(d.batch, grid_limit)},
                          .block = {config.integer("BLOCK_X"), config.integer("BLOCK_Y"), 1},
                          .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2},
                                        int32(d.batch), int32(d.height), int32(d.width), int32(d.mask_height),
                                        int32(d.mask_width), std::int32_t{d.turned}}};
            return Work{.steps = {launch}};
          }};
}

}  // namespace

Op ops_conv2d() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;  // columns and rows are int in the kernels
  return {
      .name = "conv2d",
      .what =
          "output[b, y, x] = sum over (i, j) of mask[i, j] image[b, y + i - mask_height/2, x + j - "
          "mask_width/2] "
          "(correlation), or with the mask turned by half a turn (convolution); zero outside the image.",
      .parameters =
          {{.name = "batch", .what = "images", .maximum = side, .initial = Value(1)},
           {.name = "height", .what = "rows of an image", .maximum = side},
           {.name = "width", .what = "columns of an image", .maximum = side},
           {.name = "mask_height", .what = "rows of the mask", .maximum = 4096},
           {.name = "mask_width", .what = "columns of the mask", .maximum = 4096},
           {.name = "mode",
            .what = "direction of the mask",
            .words = {"correlation", "convolution"},
            .initial = "correlation"},
           {.name = "boundary", .what = "samples outside the image", .words = {"zero"}, .initial = "zero"},
           {.name = "dtype",
            .what = "element type of all three arrays",
            .words = {"f32", "f64"},
            .initial = "f32"}},
      .arguments = {{.name = "image", .role = Role::input, .extents = image_extents},
                    {.name = "mask", .role = Role::input, .extents = mask_extents},
                    {.name = "output", .role = Role::output, .extents = image_extents}},
      .templates = {base()},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            return 2.0 * static_cast<double>(d.batch * d.height * d.width) *
                   static_cast<double>(d.mask_height * d.mask_width);
          },
      .bytes_moved =
          [](const Problem& problem) {
            const Dims d(problem);
            return static_cast<double>(bytes(dtype_of(problem))) *
                   static_cast<double>(2 * d.batch * d.height * d.width + d.mask_height * d.mask_width);
          },
      .companions = companions,
  };
}

}  // namespace tunesmith
