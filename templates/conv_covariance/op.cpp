// SPDX-License-Identifier: Apache-2.0
// conv_covariance: adds the contribution of a two-dimensional convolution to the covariance of its output,
// for each output channel with itself, from the covariance gamma and the mean mu of its input. It works in
// place on the output's covariance.

#include "templates/conv_covariance/op.h"

#include <cmath>
#include <limits>

#include "generator/sample.h"

namespace tunesmith {
namespace {

using conv_covariance_op::Dims;

std::string check(const Problem& problem) {
  const Dims d(problem);
  for (const char* side : {"height", "width"}) {
    const std::string mask = std::string("mask_") + side;
    if (problem.integer(mask) > problem.integer(side)) {
      return "The conv_covariance problem's " + mask + " is " + std::to_string(problem.integer(mask)) +
             ", but its " + side + " is " + std::to_string(problem.integer(side)) +
             "; a mask is at most as large as the image.";
    }
  }
  // This limit keeps every count and offset in bytes within 63 bits, and a side of a matrix within 31.
  constexpr double most = 0x1p59;
  const auto product = [](std::initializer_list<std::int64_t> factors) {
    double value = 1;
    for (const std::int64_t factor : factors) value *= static_cast<double>(std::max<std::int64_t>(factor, 1));
    return value;
  };
  const double gamma_side = product({d.channels_in, d.height, d.width});
  const double input_side = product({d.channels_out, d.rows, d.columns});
  const double largest = product({d.batch}) * std::pow(std::max(gamma_side, input_side), 2);
  if (largest > most) {
    return "The conv_covariance problem's " + std::string(gamma_side > input_side ? "gamma" : "input") +
           " would have more than 2^59 elements (batch=" + std::to_string(d.batch) + ", a side of " +
           std::to_string(static_cast<std::int64_t>(std::min(std::max(gamma_side, input_side), 0x1p62))) +
           "); choose a smaller batch, fewer channels or a smaller image.";
  }
  return "";
}

std::vector<std::int64_t> input_extents(const Problem& problem) {
  const Dims d(problem);
  return {d.batch, d.channels_out, d.rows, d.columns, d.channels_out, d.rows, d.columns};
}

// The permitted error holds for sums in any order. A sum has 2n summands, n = channels_in mask_height
// mask_width, and half of them are products. Together with the product with c this makes (2n + 2) roundings
// of c times the sum of their absolute values (Higham, Accuracy and Stability of Numerical Algorithms,
// sections 3.1 and 4.2), and one of the result. f16 computes in f32 and rounds once more, to half a unit in
// the last place, at least half of the smallest subnormal.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  const DType dtype = dtype_of(problem);
  const double* input = arguments[0].data();
  const double* gamma = arguments[1].data();
  const double* mu = arguments[2].data();
  const std::vector<double>& c = arguments[3];
  if (d.rows == 0 || d.columns == 0) return;  // check() lets no such problem pass
  const std::int64_t pixels = d.rows * d.columns;
  // Twice the unit roundoff for f64: the sums here are in double too.
  const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-24;
  const double roundings = 2 * static_cast<double>(d.channels_in * d.mask_height * d.mask_width) + 2;
  constexpr double f16_overflow = 65520;  // halfway from the largest number to 2^16
  std::vector<double> sum;
  std::vector<double> size;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t second = at % pixels;
    std::int64_t rest = at / pixels;
    const std::int64_t c0p = rest % d.channels_out;
    rest /= d.channels_out;
    const std::int64_t first = rest % pixels;
    rest /= pixels;
    const std::int64_t c0 = rest % d.channels_out;
    const std::int64_t b = rest / d.channels_out;
    double* to = value.data() + (at - begin);
    double* permitted = permitted_error.data() + (at - begin);
    if (c0 != c0p || d.channels_in == 0) {
      const std::int64_t count = std::min(pixels - second, end - at);
      std::copy_n(input + at, count, to);
      std::fill_n(permitted, count, 0.0);
      at += count;
      continue;
    }
    // Computes a stretch of one row of second pixels at a time, so that the inner loop runs along it.
    const std::int64_t j0p = second % d.columns;
    const std::int64_t count = std::min(d.columns - j0p, end - at);
    sum.assign(static_cast<std::size_t>(count), 0.0);
    size.assign(static_cast<std::size_t>(count), 0.0);
    for (std::int64_t ci = 0; ci < d.channels_in; ++ci) {
      const std::int64_t plane = ci * d.height * d.width;
      for (std::int64_t ii = 0; ii < d.mask_height; ++ii) {
        for (std::int64_t ji = 0; ji < d.mask_width; ++ji) {
          const std::int64_t x = plane + (first / d.columns + ii) * d.width + first % d.columns + ji;
          const std::int64_t xp = plane + (second / d.columns + ii) * d.width + j0p + ji;
          const double left = mu[b * d.gamma_pitch() + x];
          const double* right = mu + b * d.gamma_pitch() + xp;
          const double* covariance = gamma + (b * d.gamma_pitch() + x) * d.gamma_pitch() + xp;
          for (std::int64_t k = 0; k < count; ++k) {
            const double product = left * right[k];
            sum[static_cast<std::size_t>(k)] += product + covariance[k];
            size[static_cast<std::size_t>(k)] += std::abs(product) + std::abs(covariance[k]);
          }
        }
      }
    }
    const double weight = c[static_cast<std::size_t>(c0)];
    for (std::int64_t k = 0; k < count; ++k) {
      to[k] = input[at + k] + weight * sum[static_cast<std::size_t>(k)];
      permitted[k] = 0;
      if (!std::isfinite(to[k])) continue;
      permitted[k] =
          unit * (roundings * std::abs(weight) * size[static_cast<std::size_t>(k)] + std::abs(to[k]));
      if (dtype != DType::f16) continue;
      permitted[k] += std::max(0x1p-11 * (std::abs(to[k]) + permitted[k]), 0x1p-25);
      if (std::abs(to[k]) + permitted[k] < f16_overflow) continue;
      const bool overflows = std::abs(to[k]) - permitted[k] >= f16_overflow;
      permitted[k] = overflows ? 0 : std::numeric_limits<double>::infinity();
      if (overflows) to[k] = std::copysign(std::numeric_limits<double>::infinity(), to[k]);
    }
    at += count;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  // Each has rows and columns of the output, batch, output channels. There are one pixel, an odd size, one
  // row, one column, and a size that vectors divide.
  static constexpr std::int64_t sizes[][4] = {
      {1, 1, 1, 1}, {3, 2, 2, 3}, {1, 12, 1, 5}, {7, 1, 3, 2}, {4, 8, 1, 1}};
  constexpr std::int64_t most_covariances = std::int64_t{1} << 22;
  std::vector<Problem> found;
  for (const auto& [rows, columns, batch, channels_out] : sizes) {
    Problem other = problem;
    other.set("batch", batch);
    other.set("channels_out", channels_out);
    other.set("height", rows + problem.integer("mask_height") - 1);
    other.set("width", columns + problem.integer("mask_width") - 1);
    const double side = static_cast<double>(Dims(other).gamma_pitch());
    if (static_cast<double>(batch) * side * side <= static_cast<double>(most_covariances))
      found.push_back(std::move(other));
  }
  return found;
}

// Draws images and masks that are mostly squares, and masks of mostly odd size.
void usual_layers(Random& random, Problem& problem) {
  static const std::vector<std::int64_t> odd = {1, 3, 3, 3, 5, 5, 7};
  if (draw_chance(random, 70)) problem.set("width", problem.integer("height"));
  if (draw_chance(random, 20)) return;
  const std::int64_t side = draw(random, odd);
  problem.set("mask_height", side);
  problem.set("mask_width", side);
}

}  // namespace

Op ops_conv_covariance() {
  constexpr std::int64_t side = (std::int64_t{1} << 31) - 1024;  // counts are int in the kernels
  return {
      .name = "conv_covariance",
      .what =
          "input[b, c0, i, j, c0, i', j'] += c[c0] sum over (ci, k, l) of mu[b, ci, i + k, j + l] mu[b, ci, "
          "i' + k, j' + l] + gamma[b, ci, i + k, j + l, ci, i' + k, j' + l], in place: what a convolution "
          "adds to the covariance of its output; pairs of different output channels are left alone.",
      .parameters = {{.name = "batch",
                      .what = "images",
                      .minimum = 0,
                      .maximum = side,
                      .initial = Value(1),
                      .usual = UsualSizes{2, 64}},
                     {.name = "channels_out",
                      .what = "channels of input",
                      .minimum = 0,
                      .maximum = side,
                      .usual = UsualSizes{1, 64}},
                     {.name = "channels_in",
                      .what = "channels of mu and gamma",
                      .minimum = 0,
                      .maximum = side,
                      .usual = UsualSizes{1, 64}},
                     {.name = "height",
                      .what = "rows of an image of mu and gamma",
                      .maximum = side,
                      .usual = UsualSizes{4, 96}},
                     {.name = "width",
                      .what = "columns of an image of mu and gamma",
                      .maximum = side,
                      .usual = UsualSizes{4, 96}},
                     {.name = "mask_height",
                      .what = "rows of the convolution's mask",
                      .maximum = side,
                      .usual = UsualSizes{1, 11}},
                     {.name = "mask_width",
                      .what = "columns of the convolution's mask",
                      .maximum = side,
                      .usual = UsualSizes{1, 11}},
                     {.name = "dtype",
                      .what = "element type of all four arrays; f16 is computed in f32",
                      .categories = {"f32", "f64", "f16"},
                      .initial = "f32"}},
      .check = check,
      .arguments =
          {{.name = "input", .role = Role::inout, .extents = input_extents},
           {.name = "gamma",
            .role = Role::input,
            .extents = {"batch", "channels_in", "height", "width", "channels_in", "height", "width"}},
           {.name = "mu", .role = Role::input, .extents = {"batch", "channels_in", "height", "width"}},
           {.name = "c", .role = Role::input, .extents = {"channels_out"}}},
      .templates = {conv_covariance_op::base(), conv_covariance_op::direct(), conv_covariance_op::factored(),
                    conv_covariance_op::factored_any()},
      .reference = reference,
      .flops =
          [](const Problem& problem) {
            const Dims d(problem);
            const double pairs = static_cast<double>(d.batch) * static_cast<double>(d.pixels()) *
                                 static_cast<double>(d.pixels());
            return pairs * (3.0 * static_cast<double>(d.channels_in) *
                                static_cast<double>(d.mask_height * d.mask_width) +
                            2.0 * static_cast<double>(d.channels_out));
          },
      .bytes_moved =
          [](const Problem& problem) {
            // Only the blocks of a channel with itself count in both matrices.
            const Dims d(problem);
            const double image = static_cast<double>(d.height) * static_cast<double>(d.width);
            const double pixels = static_cast<double>(d.pixels());
            const double in = static_cast<double>(d.channels_in) * (image * image + image);
            const double out = 2.0 * static_cast<double>(d.channels_out) * pixels * pixels;
            return static_cast<double>(bytes(dtype_of(problem))) *
                   (static_cast<double>(d.batch) * (in + out) + static_cast<double>(d.channels_out));
          },
      .companions = companions,
      .examples =
          {"batch=2 channels_out=3 channels_in=3 height=9 width=9 mask_height=3 mask_width=3",
           "channels_out=5 channels_in=2 height=4 width=34 mask_height=3 mask_width=3",
           "channels_out=2 channels_in=1 height=36 width=6 mask_height=2 mask_width=3 dtype=f64",
           "batch=2 channels_out=3 channels_in=3 height=6 width=20 mask_height=5 mask_width=5 dtype=f16",
           "channels_out=4 channels_in=2 height=5 width=7 mask_height=5 mask_width=7",
           "channels_out=1 channels_in=1 height=6 width=8 mask_height=1 mask_width=1",
           "channels_out=2 channels_in=0 height=3 width=4 mask_height=2 mask_width=1"},
      // The first has more than 2^31 elements in input, the second in gamma.
      .large_examples =
          {"channels_out=46341 channels_in=2 height=3 width=3 mask_height=3 mask_width=3 dtype=f16",
           "channels_out=1 channels_in=1 height=216 width=215 mask_height=16 mask_width=215 dtype=f16"},
      .sample = usual_layers,
  };
}

}  // namespace tunesmith
