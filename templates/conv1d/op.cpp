// SPDX-License-Identifier: Apache-2.0
// conv1d: numpy.convolve and numpy.correlate of a batch of signals with one kernel, in all three modes;
// either may be the longer one. With other boundaries than zero, it is scipy.ndimage.convolve1d and
// correlate1d.

#include "templates/conv1d/op.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "templates/image/origin.h"
#include "templates/image/rules.h"

namespace tunesmith {
namespace conv1d_op {

Dims::Dims(const Problem& problem)
    : batch(problem.integer("batch")),
      length(problem.integer("length")),
      taps(problem.integer("taps")),
      turned(problem.string("function") == "convolve"),
      boundary(problem.string("mode") == "valid" ? Boundary::zero : boundary_of(problem)) {
  const std::string& mode = problem.string("mode");
  const bool as_numpy = boundary == Boundary::zero;
  const std::int64_t shorter = std::min(length, taps);
  const std::int64_t longer = std::max(length, taps);
  const std::int64_t full = length + taps - 1;
  output_length = mode == "full" ? full : mode == "valid" ? longer - shorter + 1 : as_numpy ? longer : length;
  // NumPy's correlate reverses its output if it has to swap its operands, so that the output of an even
  // number of samples begins one later.
  first = mode == "full"    ? 0
          : mode == "valid" ? shorter - 1
                            : (!turned && length < taps ? length / 2 : (shorter - 1) / 2);
  left = taps - 1 - first;
  if (!as_numpy && mode == "same") {
    left = places_before(taps, problem.integer("origin"), turned);
    first = taps - 1 - left;
  }
  const auto triangle = [](std::int64_t side) {
    return static_cast<double>(side) * static_cast<double>(side + 1) / 2;
  };
  products = static_cast<double>(batch) * (static_cast<double>(length) * static_cast<double>(taps) -
                                           triangle(first) - triangle(full - output_length - first));
  if (!as_numpy)  // samples outside count too
    products = static_cast<double>(batch) * static_cast<double>(output_length) * static_cast<double>(taps);
}

std::string not_plain(const Problem& problem) {
  const Dims d(problem);
  const DType dtype = dtype_of(problem);
  std::string given;
  if (d.boundary != Boundary::zero) given = "boundary=" + problem.string("boundary");
  if (dtype != DType::f32 && dtype != DType::f64)
    given += (given.empty() ? "dtype=" : " dtype=") + problem.string("dtype");
  if (given.empty()) return "";
  return "This template has boundary=zero and signals of f32 or f64 only, not " + given +
         "; take another template.";
}

std::string too_many_taps(const Problem& problem) {
  constexpr std::int64_t most = 4096;
  const std::int64_t taps = problem.integer("taps");
  if (taps <= most) return "";
  return "A kernel of " + std::to_string(taps) + " taps is longer than the " + std::to_string(most) +
         " that this template takes; take another template.";
}

}  // namespace conv1d_op

namespace {

using conv1d_op::Dims;

// The limit for elements of all signals, or of all outputs, which the base's blocks can count.
constexpr std::int64_t most_elements = std::int64_t{1} << 37;

// The permitted error is the bound for summing n products one by one in the dtype, n u sum|w x| with the unit
// roundoff u (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), plus one rounding for the
// store. If a tap that is not finite lies on no sample, an implementation may multiply it by zero or leave it
// out, so any result is permitted.
void reference(const Problem& problem, std::span<const std::vector<double>> arguments, int /*output*/,
               std::int64_t begin, std::int64_t end, std::span<double> value,
               std::span<double> permitted_error) {
  const Dims d(problem);
  std::vector<double> taps = arguments[1];
  if (d.turned) std::reverse(taps.begin(), taps.end());
  const auto special = [](double tap) { return !std::isfinite(tap); };
  const std::int64_t first_special = std::find_if(taps.begin(), taps.end(), special) - taps.begin();
  const std::int64_t last_special =
      d.taps - 1 - (std::find_if(taps.rbegin(), taps.rend(), special) - taps.rbegin());
  // Twice the unit roundoff for f64: the sums here are in double too.
  const double unit = dtype_of(problem) == DType::f64 ? 0x1p-52 : 0x1p-24;
  const bool is_plain = d.boundary == Boundary::zero;
  const double outside = value_of(problem, sum_dtype(problem));
  const double roundings = static_cast<double>(is_plain ? std::min(d.taps, d.length) : d.taps) + 1;
  std::fill(value.begin(), value.end(), 0.0);
  std::fill(permitted_error.begin(), permitted_error.end(), 0.0);
  constexpr std::int64_t stretch = 2048;  // outputs at a time, so that they stay in a cache
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t row = at / d.output_length;
    const std::int64_t i0 = at % d.output_length;
    const std::int64_t i1 = std::min({d.output_length, i0 + end - at, i0 + stretch});
    const double* samples = arguments[0].data() + row * d.length;
    double* sums = value.data() + (at - begin) - i0;
    double* sizes = permitted_error.data() + (at - begin) - i0;
    // The outer loop runs over the taps, so that the inner one runs along the outputs.
    const std::int64_t first_tap = is_plain ? std::max<std::int64_t>(0, d.left - (i1 - 1)) : 0;
    const std::int64_t last_tap = is_plain ? std::min(d.taps, d.length + d.left - i0) : d.taps;
    for (std::int64_t j = first_tap; j < last_tap; ++j) {
      const double tap = taps[static_cast<std::size_t>(j)];
      const std::int64_t shift = j - d.left;
      const auto add = [&](std::int64_t i, double sample) {
        const double term = tap * sample;
        sums[i] += term;
        sizes[i] += std::abs(term);
      };
      const auto add_outside = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
          const std::int64_t at_sample = sample_at(i + shift, d.length, d.boundary);
          add(i, at_sample < 0 ? outside : samples[at_sample]);
        }
      };
      const std::int64_t first = std::clamp(-shift, i0, i1);
      const std::int64_t last = std::clamp(d.length - shift, first, i1);
      if (!is_plain) add_outside(i0, first);
      for (std::int64_t i = first; i < last; ++i) add(i, samples[i + shift]);
      if (!is_plain) add_outside(last, i1);
    }
    for (std::int64_t i = i0; i < i1; ++i) {
      sizes[i] = std::isfinite(sizes[i]) ? sizes[i] * roundings * unit : 0;
      if (is_plain && (first_special < d.left - i || last_special >= d.length + d.left - i))
        sizes[i] = std::numeric_limits<double>::infinity();
    }
    at += i1 - i0;
  }
}

std::vector<Problem> companions(const Problem& problem) {
  const std::int64_t taps = problem.integer("taps");
  // Lengths and batches: one whole window, odd sizes, several tiles, whole vectors; the last three lengths
  // are shorter than most kernels.
  const std::int64_t sizes[][2] = {{taps, 1}, {taps + 62, 3}, {taps + 2221, 1}, {round_up(taps, 4) + 256, 2},
                                   {1, 2},    {4, 1},         {13, 3}};
  std::vector<Problem> found;
  for (const auto& [length, batch] : sizes) {
    if (std::max(length, taps) > most_elements / 8) continue;  // up to twice as many outputs, of 3 signals
    Problem other = problem;
    other.set("length", length);
    other.set("batch", batch);
    found.push_back(std::move(other));
  }
  if (conv1d_op::not_plain(problem).empty() || taps > most_elements / 8) return found;
  // Problems with other boundaries, for templates that serve them all; their rows are aligned to vectors like
  // the problem's.
  static constexpr const char* boundaries[] = {"reflect", "mirror", "wrap", "nearest", "constant"};
  const std::int64_t rest = problem.integer("length") % 4;
  std::int64_t length = 4;
  for (const char* boundary : boundaries) {
    Problem& other = found.emplace_back(problem);
    other.set("boundary", boundary);
    other.set("value", "-2.5");
    other.set("length", length + rest);
    other.set("batch", std::min<std::int64_t>(problem.integer("batch"), 2));
    length = 4 * length + 4;
  }
  return found;
}

std::string check(const Problem& problem) {
  const Dims d(problem);
  if (static_cast<double>(d.batch) * static_cast<double>(std::max(d.length, d.output_length)) >
      static_cast<double>(most_elements)) {
    return "The conv1d problem has batch=" + std::to_string(d.batch) + " signals of length " +
           std::to_string(d.length) + " and outputs of length " + std::to_string(d.output_length) +
           "; allowed are " + std::to_string(most_elements) + " elements per array.";
  }
  const std::int64_t origin = problem.integer("origin");
  if (origin != 0 && (d.boundary == Boundary::zero || problem.string("mode") != "same")) {
    return "The conv1d problem's origin is " + std::to_string(origin) +
           "; an origin is for mode=same with another boundary than zero, such as boundary=constant.";
  }
  return refuses_origin(problem, "origin", d.taps);
}

Template plain(Template tmpl) { return refusing(conv1d_op::not_plain, std::move(tmpl)); }

// Draws filters: mostly of odd length, short ones more often, and mostly with zeros outside.
void usual_filters(Random& random, Problem& problem) {
  draw_boundary(random, problem, Boundary::zero);
  draw_sample_type(random, problem);
  if (draw_chance(random, 30)) problem.set("taps", draw_size(random, 3, 127));
  if (draw_chance(random, 60)) problem.set("taps", problem.integer("taps") | 1);
}

}  // namespace

Op ops_conv1d() {
  return {
      .name = "conv1d",
      .what =
          "output[b, i] = sum over j of kernel[j] signal[b, i + j] (correlate) or kernel[j] signal[b, i - j] "
          "(convolve) over the samples that there are; numpy.correlate and numpy.convolve of each row, or "
          "with another boundary than zero scipy.ndimage's correlate1d and convolve1d.",
      .parameters = {{.name = "batch",
                      .what = "signals",
                      .minimum = 0,
                      .maximum = (std::int64_t{1} << 31) - 1024,
                      .initial = Value(1),
                      .usual = UsualSizes{2, 16384}},
                     {.name = "length",
                      .what = "samples of a signal",
                      .maximum = most_elements,
                      .usual = UsualSizes{64, std::int64_t{1} << 27}},
                     {.name = "taps",
                      .what = "elements of the kernel",
                      .maximum = most_elements,
                      .usual = UsualSizes{2, 4096}},
                     {.name = "function",
                      .what = "direction of the kernel",
                      .categories = {"convolve", "correlate"},
                      .initial = "convolve"},
                     {.name = "mode",
                      .what = "outputs: for every overlap, as many as the longer operand has (as the signal "
                              "has, where the boundary is not zero), or for every whole overlap",
                      .categories = {"full", "same", "valid"},
                      .initial = "full"},
                     sample_dtype_parameter(
                         "element type of the signal; kernel and output are f64 for f64, else f32"),
                     boundary_parameter("samples outside the signal, as in scipy.ndimage; zero: as in NumPy",
                                        Boundary::zero),
                     origin_parameter("origin",
                                      "samples by which the window begins before the centred one (behind it "
                                      "for convolve); for mode=same with another boundary than zero",
                                      most_elements),
                     value_parameter("samples outside the signal")},
      .check = check,
      .arguments = {{.name = "signal",
                     .role = Role::input,
                     .extents = {"batch", "length"},
                     .contents = summed_contents()},
                    {.name = "kernel", .role = Role::input, .extents = {"taps"}, .dtype = sum_dtype},
                    {.name = "output",
                     .role = Role::output,
                     .extents =
                         [](const Problem& problem) {
                           const Dims d(problem);
                           return std::vector{d.batch, d.output_length};
                         },
                     .dtype = sum_dtype}},
      .templates = {conv1d_op::base(), plain(conv1d_op::tiled()), plain(conv1d_op::chunked()),
                    plain(conv1d_op::tensor()), plain(conv1d_op::tensor_any()), conv1d_op::sliding(),
                    conv1d_op::bounded()},
      .reference = reference,
      .flops = [](const Problem& problem) { return 2 * Dims(problem).products; },
      .companions = companions,
      .launch_numbers = value_at_launch(sum_dtype),
      .sizes = sizes_of({"batch", "length", "taps"}),
      .examples = {"length=5000 taps=5 mode=valid",
                   "batch=3 length=1364 taps=63 function=correlate mode=same", "length=1500 taps=255",
                   "batch=2 length=300 taps=1023 function=correlate mode=same",
                   "length=77 taps=600 mode=valid dtype=f64", "length=1 taps=1",
                   "batch=2 length=1300 taps=8 boundary=reflect mode=same dtype=u8",
                   "length=777 taps=31 boundary=mirror origin=-15 mode=same function=correlate dtype=i16",
                   "length=5 taps=64 boundary=wrap dtype=f64",
                   "batch=3 length=500 taps=5 mode=valid dtype=u16",
                   "length=2050 taps=40 boundary=constant value=7.25 origin=19 mode=same dtype=bf16",
                   "batch=2 length=1000 taps=3 boundary=nearest dtype=f16 function=correlate",
                   "length=90 taps=1100 mode=same boundary=reflect", "length=90 taps=12 dtype=f64 mode=same"},
      .large_examples = {"length=2147484001 taps=3 mode=same"},
      .sample = usual_filters,
  };
}

}  // namespace tunesmith
