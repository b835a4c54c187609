// SPDX-License-Identifier: Apache-2.0
// Shared by the applications that compare Tunesmith with plain loops: the command line, the timing and the
// report.
//
//   NAME [--device auto|cuda|cuda:N|host] [--db FILE]
//
// Exit code 0 if every result agrees, 1 if a result differs or something fails, 2 for a wrong command line.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_memory.h"

/// Throws std::runtime_error with the status's message if it is an error.
inline void require(const tunesmith::Status& status) {
  if (!status) throw std::runtime_error(status.message());
}

/// Returns the shortest time of three launches, each with the wait for the device; the first launch also
/// initialises the device. `launch` must give the same result each time it is called.
template <typename Launch>
double time_us(const tunesmith::Dispatcher& dispatcher, Launch launch) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point start = Clock::now();
    launch();
    wait_for(dispatcher);
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return best;
}

/// Returns values uniform in [low, high), the same on every machine.
template <typename T>
std::vector<T> random_values(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(low + (high - low) * (static_cast<double>(random()) / 0x1p32));
  return values;
}

/// Prints a paragraph for each result of an application, and remembers whether all agreed.
class Report {
 public:
  explicit Report(const tunesmith::Dispatcher& dispatcher) {
    std::printf("on %s\n", dispatcher.device().c_str());
  }

  /// `measure` names the quantity of `error` and `permitted`: "relative error".
  void add(const char* what, const tunesmith::Plan& plan, double us, double error, double permitted,
           const char* measure) {
    const tunesmith::Variant& variant = plan.variant();
    const bool agrees = error <= permitted;  // false for a NaN
    agreed_ = agreed_ && agrees;
    std::printf("\n%s\n  variant: %s %s\n  match:   %s", what, variant.template_name.c_str(),
                variant.config.c_str(), std::string(name(plan.match())).c_str());
    if (!variant.tuned_problem.empty()) {
      std::printf(" (%.0f %% behind the best expected; tuned for %s on %s: %.2f us%s)",
                  100 * plan.expected_loss(), variant.tuned_problem.c_str(), variant.tuned_on.c_str(),
                  variant.median_us, variant.cold_caches ? " with cold caches" : "");
    }
    std::printf("\n  time:    %.1f us per launch, with the wait for it\n", us);
    std::printf("  %s: the largest %s is %.3g, allowed is %.3g\n", agrees ? "agrees" : "DISAGREES", measure,
                error, permitted);
  }

  bool agreed() const { return agreed_; }

 private:
  bool agreed_ = true;
};

/// Returns the larger of two errors; a NaN counts as the largest, so that it is not lost.
inline double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

inline int run_application(int count, char** arguments, void (*run)(tunesmith::Dispatcher&, Report&)) {
  tunesmith::DispatcherOptions options{
      .device = "auto", .compile = tunesmith::Compile::now};  // so that the best kernel is timed
  for (int i = 1; i < count; i += 2) {
    const std::string word = arguments[i];
    if ((word != "--device" && word != "--db") || i + 1 == count) {
      std::fprintf(
          stderr,
          "The word %s is not expected here.\nusage: %s [--device auto|cuda|cuda:N|host] [--db FILE]\n",
          word.c_str(), arguments[0]);
      return 2;
    }
    (word == "--device" ? options.device : options.database) = arguments[i + 1];
  }
  try {
    if (options.device == "auto") options.device = tunesmith::first_device();
    tunesmith::Dispatcher dispatcher(options);
    Report report(dispatcher);
    run(dispatcher, report);
    return report.agreed() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
