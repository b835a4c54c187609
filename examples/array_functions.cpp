// SPDX-License-Identifier: Apache-2.0
// The exercises of a first course on GPU programming: functions of arrays element by element, a counter that
// all threads increment, a histogram, a transpose. Each is compared with the plain loop.
#include <array>
#include <cstdint>
#include <numbers>

#include "application.h"
#include "tunesmith/elementwise.h"
#include "tunesmith/histogram.h"
#include "tunesmith/reduce.h"
#include "tunesmith/transpose.h"

namespace {

using tunesmith::Dispatcher;
using tunesmith::ElementType;

constexpr std::size_t million = 1000000;

double seen(float value) { return static_cast<double>(value); }

// Runs `function` on f32 arrays of a million elements; arrays of one element are broadcast. expected(i) is
// the body of the plain loop.
template <typename Expected>
void compare(Dispatcher& dispatcher, Report& report, const char* what, const std::string& function,
             const std::vector<std::vector<float>>& inputs, double permitted, const Expected& expected) {
  std::vector<DeviceArray<float>> arrays;
  arrays.reserve(inputs.size());
  std::vector<tunesmith::ElementwiseInput> there;
  std::vector<tunesmith::ElementwiseLayout> layouts;
  for (const std::vector<float>& input : inputs) {
    arrays.emplace_back(dispatcher, input);
    layouts.push_back({.extents = {static_cast<std::int64_t>(input.size())}});
    there.push_back({.data = arrays.back().data(), .layout = layouts.back()});
  }
  DeviceArray<float> out(dispatcher, million);
  const std::vector<std::int64_t> shape = {million};
  const double us = time_us(dispatcher, [&] {
    require(elementwise(dispatcher, function, ElementType::f32, shape, there, out.data()));
  });
  const std::vector<float> result = out.download();
  double error = 0;
  for (std::size_t i = 0; i < million; ++i) {
    const double wanted = expected(i);
    error = worse(std::abs(seen(result[i]) - wanted) / std::max(1.0, std::abs(wanted)), error);
  }
  report.add(what, elementwise_plan(dispatcher, function, ElementType::f32, shape, layouts), us, error,
             permitted, "error (relative where the result is above 1)");
}

double hypot_of(double x, double y) {
  x = std::abs(x);
  y = std::abs(y);
  double t = std::min(x, y);
  x = std::max(x, y);
  t = t / x;
  return x * std::sqrt(1 + t * t);
}

void functions(Dispatcher& dispatcher, Report& report) {
  const auto uniform = [](double low, double high, unsigned seed) {
    return random_values<float>(million, low, high, seed);
  };
  const std::vector<float> x = uniform(-3, 3, 1);
  const std::vector<float> y = uniform(-3, 3, 2);
  compare(dispatcher, report, "hypot(x, y)", "hypot", {x, y}, 1e-6,
          [&](std::size_t i) { return hypot_of(seen(x[i]), seen(y[i])); });
  compare(dispatcher, report, "gaussian_pdf(x, mean 0, sigma 1), the last two broadcast", "gaussian_pdf",
          {x, {0}, {1}}, 1e-6, [&](std::size_t i) {
            const double z = seen(x[i]);
            return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
          });
  const std::vector<float> rho1 = uniform(0.5, 1.5, 3);
  const std::vector<float> theta1 = uniform(-std::numbers::pi, std::numbers::pi, 4);
  const std::vector<float> rho2 = uniform(0.5, 1.5, 5);
  const std::vector<float> theta2 = uniform(-std::numbers::pi, std::numbers::pi, 6);
  compare(dispatcher, report, "polar_distance(rho1, theta1, rho2, theta2)", "polar_distance",
          {rho1, theta1, rho2, theta2}, 1e-5, [&](std::size_t i) {
            const double dx =
                seen(rho1[i]) * std::cos(seen(theta1[i])) - seen(rho2[i]) * std::cos(seen(theta2[i]));
            const double dy =
                seen(rho1[i]) * std::sin(seen(theta1[i])) - seen(rho2[i]) * std::sin(seen(theta2[i]));
            return std::sqrt(dx * dx + dy * dy);
          });
  compare(dispatcher, report, "an expression of your own: x from polar coordinates, a * cos(b)", "a * cos(b)",
          {rho1, theta1}, 1e-6, [&](std::size_t i) { return seen(rho1[i]) * std::cos(seen(theta1[i])); });
}

// b_col + c: a column of 4 and a matrix of 4 x 4.
void broadcast_add(Dispatcher& dispatcher, Report& report) {
  DeviceArray<std::int64_t> column(dispatcher, std::vector<std::int64_t>{10, 20, 30, 40});
  std::vector<std::int64_t> c(16);
  for (std::size_t i = 0; i < 16; ++i) c[i] = static_cast<std::int64_t>(i);
  DeviceArray<std::int64_t> matrix(dispatcher, c);
  DeviceArray<std::int64_t> out(dispatcher, 16);
  const std::vector<tunesmith::ElementwiseLayout> layouts = {{.extents = {4, 1}}, {.extents = {4, 4}}};
  const double us = time_us(dispatcher, [&] {
    require(elementwise(dispatcher, "add", ElementType::i64, {4, 4},
                        {{column.data(), layouts[0]}, {matrix.data(), layouts[1]}}, out.data()));
  });
  const std::vector<std::int64_t> result = out.download();
  double error = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::int64_t wanted = 10 * static_cast<std::int64_t>(i / 4 + 1) + c[i];
    error = std::max(error, static_cast<double>(std::abs(result[i] - wanted)));
  }
  report.add("add of a column to a 4 x 4 matrix, int64",
             elementwise_plan(dispatcher, "add", ElementType::i64, {4, 4}, layouts), us, error, 0,
             "difference");
}

// 64 x 64 threads, each of which adds 1 to the same counter.
void counter(Dispatcher& dispatcher, Report& report) {
  constexpr std::int64_t threads = std::int64_t{64} * 64;
  const tunesmith::ReduceShape shape{.length = threads};
  DeviceArray<std::int32_t> ones(dispatcher, std::vector<std::int32_t>(threads, 1));
  DeviceArray<std::int64_t> total(dispatcher, 1);
  const tunesmith::Plan plan = tunesmith::reduce_plan<std::int32_t>(dispatcher, shape);
  const std::vector<unsigned char> zeros(static_cast<std::size_t>(plan.workspace_bytes()));
  DeviceArray<unsigned char> workspace(dispatcher, zeros);
  const double us = time_us(dispatcher, [&] {
    require(reduce_sum(dispatcher, ones.data(), total.data(), shape, tunesmith::ReduceOrder::deterministic,
                       nullptr, workspace.data()));
  });
  report.add("a counter of 64 x 64 threads, as a sum", plan, us,
             static_cast<double>(std::abs(total.download()[0] - threads)), 0, "difference");
}

void counts(Dispatcher& dispatcher, Report& report) {
  constexpr int bins = 16;
  const tunesmith::HistogramShape shape{.length = million, .bins = bins};
  // The sum of 12 uniform numbers, minus 6, has nearly a normal distribution; some values lie outside -4
  // to 4.
  std::vector<float> values(million, -6.0f);
  for (unsigned n = 0; n < 12; ++n) {
    const std::vector<float> more = random_values<float>(million, 0, 1, 10 + n);
    for (std::size_t i = 0; i < million; ++i) values[i] += more[i];
  }
  DeviceArray<float> there(dispatcher, values);
  DeviceArray<std::int64_t> out(dispatcher, bins);
  const double us =
      time_us(dispatcher, [&] { require(histogram(dispatcher, there.data(), out.data(), shape, -4, 4)); });
  std::array<std::int64_t, bins> wanted = {};
  for (const float value : values) {
    if (value < -4 || value > 4) continue;
    ++wanted[static_cast<std::size_t>(std::min(bins - 1, static_cast<int>((seen(value) + 4) / 0.5)))];
  }
  const std::vector<std::int64_t> result = out.download();
  double error = 0;
  for (std::size_t i = 0; i < bins; ++i)
    error = std::max(error, static_cast<double>(std::abs(result[i] - wanted[i])));
  report.add("histogram of 1,000,000 values, 16 bins from -4 to 4",
             tunesmith::histogram_plan<float>(dispatcher, shape, -4, 4), us, error, 0, "difference");
}

void transposed(Dispatcher& dispatcher, Report& report) {
  constexpr std::size_t size = 1024;
  const tunesmith::TransposeShape shape{.height = size, .width = size};
  std::vector<std::int32_t> a(size * size);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(i);
  DeviceArray<std::int32_t> in(dispatcher, a);
  DeviceArray<std::int32_t> out(dispatcher, a.size());
  const double us =
      time_us(dispatcher, [&] { require(transpose(dispatcher, in.data(), out.data(), shape)); });
  const std::vector<std::int32_t> result = out.download();
  double wrong = 0;
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) wrong += result[x * size + y] == a[y * size + x] ? 0 : 1;
  }
  report.add("transpose of 1024 x 1024 int32",
             tunesmith::transpose_plan(dispatcher, shape, sizeof(std::int32_t)), us, wrong, 0,
             "number of wrong elements");
}

void run(Dispatcher& dispatcher, Report& report) {
  functions(dispatcher, report);
  broadcast_add(dispatcher, report);
  counter(dispatcher, report);
  counts(dispatcher, report);
  transposed(dispatcher, report);
}

}  // namespace

int main(int count, char** arguments) { return run_application(count, arguments, run); }
