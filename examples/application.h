// What the applications that compare Tunesmith with plain loops share: the command line, the clock, the
// verdict.
//
//   NAME [--device auto|cuda|cuda:N|host] [--db FILE]
//
// Exit code 0 if every result agrees, 1 if one does not or something fails, 2 for a bad command line.
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

/// Throws std::runtime_error with the Status's sentence.
inline void require(const tunesmith::Status& status) {
  if (!status) throw std::runtime_error(status.message());
}

/// The shortest of three launches, the wait for the device included; the first one pays for what a device
/// does once. `launch` has to give the same result however often it is called.
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

/// Uniform in [low, high), the same on every machine.
template <typename T>
std::vector<T> random_values(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(low + (high - low) * (static_cast<double>(random()) / 0x1p32));
  return values;
}

/// Results of one application: prints a paragraph for each, and remembers whether all agreed.
class Report {
 public:
  explicit Report(const tunesmith::Dispatcher& dispatcher) {
    std::printf("on %s\n", dispatcher.device().c_str());
  }

  /// `error` and `permitted` are in the unit that `of` names.
  void add(const char* what, const tunesmith::Plan& plan, double us, double error, double permitted,
           const char* tmpl) {
    const tunesmith::Variant& variant = plan.variant();
    const bool agrees = error <= permitted;  // false for a NaN
    agreed_ = agreed_ && agrees;
    std::printf("\n%s\n  variant: %s %s\n  match:   %s", what, variant.template_name.c_str(),
                variant.config.c_str(), std::string(name(plan.match())).c_str());
    if (!variant.tuned_problem.empty()) {
      std::printf(" (distance %.2f; tuned for %s on %s: %.2f us%s)", plan.distance(),
                  variant.tuned_problem.c_str(), variant.tuned_on.c_str(), variant.median_us,
                  variant.cold_caches ? " with cold caches" : "");
    }
    std::printf(
        "\n  time:    %.1f us a launch, the wait for it included\n  %s: largest %s is %.3g, permitted is "
        "%.3g\n",
        us, agrees ? "agrees" : "DISAGREES", tmpl, error, permitted);
  }

  bool agreed() const { return agreed_; }

 private:
  bool agreed_ = true;
};

/// The larger of two errors; a NaN wins, so that it is not lost.
inline double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

inline int run_application(int count, char** arguments, void (*run)(tunesmith::Dispatcher&, Report&)) {
  tunesmith::DispatcherOptions options;
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
    tunesmith::Dispatcher dispatcher(options);
    Report report(dispatcher);
    run(dispatcher, report);
    return report.agreed() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
