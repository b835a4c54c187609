// SPDX-License-Identifier: Apache-2.0
// Fits rates (generator/rates.h) to measured times: each rate in turn, as long as that makes the times
// likelier. A rate that the times say nothing of stays as it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choose/descend.h"
#include "generator/config.h"
#include "generator/problem.h"
#include "generator/rates.h"

namespace tunesmith {

struct TimedConfig {
  Problem problem;
  Config config;
  double us = 0;
};

/// The clocks of a config by a model, which has rates.
using ModelledClocks = std::function<double(const TimedConfig& timed, const Rates& rates)>;

/// The typical error of the modelled times: the mean square of their logarithms over the measured ones, its
/// root. A launch takes `first_launch` more than its clocks, and a microsecond has `clock` of them: both are
/// rates.
inline double error_of_model(std::span<const TimedConfig> times, const ModelledClocks& clocks,
                             const std::string& op, const Rates& rates) {
  const double start_us = rates.value(op, "first_launch"), clock = rates.value(op, "clock");
  double squares = 0;
  for (const TimedConfig& timed : times) {
    const double error = std::log((start_us + clocks(timed, rates) / clock) / timed.us);
    squares += error * error;
  }
  return times.empty() ? 0 : std::sqrt(squares / static_cast<double>(times.size()));
}

/// Fits the named rates. A rate is expected within a factor of 2 of what it was, with the weight of one time.
inline Rates fit_rates(Rates rates, const std::string& op, const std::vector<std::string>& names,
                       std::span<const TimedConfig> times, const ModelledClocks& clocks) {
  const Rates before = rates;
  const auto loss = [&] {
    const double error = error_of_model(times, clocks, op, rates);
    double moved = 0;
    for (std::size_t r = 0; r < rates.rates.size(); ++r) {
      const double octaves = std::log2(rates.rates[r].value / before.rates[r].value);
      moved += octaves * octaves;
    }
    constexpr double usual_error = 0.2;  // of a time, as a logarithm
    return static_cast<double>(times.size()) * error * error + usual_error * usual_error * moved;
  };
  double least = loss();
  for (const double step : {2.0, 1.5, 1.2, 1.1, 1.05}) {
    for (double last = 2 * least + 1; least < 0.99 * last;) {  // what one rate does, another undoes
      last = least;
      for (const std::string& name : names)
        for (Rate& rate : rates.rates)
          if (rate.op == op && rate.name == name)
            descend(rate.value, step, rate.value / 16, rate.value * 16, least, loss);
    }
  }
  return rates;
}

}  // namespace tunesmith
