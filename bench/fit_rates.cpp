// SPDX-License-Identifier: Apache-2.0
// Writes the rates of a model of GPU, fitted to the times of the tables that `tunesmith export` wrote: of
// tensor, those of `contract`'s matrix units. It says how far the model is off before and after, and by a fit
// to nine tenths of the problems, on the others.
//
//   fit_rates FOLDER DEVICE RATES_FILE [RATE …] > NEW_RATES_FILE
//
// DEVICE is its name, such as "NVIDIA H200"; without names of rates all of the model are fitted. The rate
// octave_away is fitted alone and by its name, to the tables of all ops.
#include "bench/fit_rates.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>

#include "bench/generated_folder.h"
#include "choose/nearest.h"
#include "choose/ready_configs.h"
#include "choose/winners_file.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "kernel_file/find_op.h"
#include "runtime/files.h"
#include "templates/tensor/contract/contract_config.h"

namespace tunesmith {
namespace {

const std::string op_name = "tensor";

// The rates that the model of matrix units has: all but the parts of the best rate, what is added,
// and those of `permute`'s models.
std::vector<std::string> names_of(const Rates& rates) {
  std::vector<std::string> names;
  for (const Rate& rate : rates.rates)
    if (rate.op == op_name && rate.unit != "part of the best rate" && !rate.name.starts_with("added_") &&
        !rate.name.starts_with("permute "))
      names.push_back(rate.name);
  return names;
}

const std::vector<std::string> scales = {"first_launch", "clock"};

// Times that the model is for, with the anchor of each.
std::vector<TimedConfig> times_of(const DeviceTable& table, std::vector<std::size_t>& anchors) {
  const Op& op = find_op(op_name);
  const Template& tmpl = find_template(op, "contract");
  std::vector<TimedConfig> times;
  for (std::size_t a = 0; a < table.table.anchors.size(); ++a) {
    const TimingTable::Anchor& anchor = table.table.anchors[a];
    const Problem problem = complete_problem(op, anchor.problem);
    if (why_not(tmpl, problem, table.device)) continue;
    const Space space = tmpl.space(problem, table.device);
    for (std::size_t v = 0; v < anchor.us.size(); ++v) {
      const TimingTable::Variant& variant = table.table.variants[v];
      if (anchor.us[v] <= 0 || variant.template_name != tmpl.name || variant.config.empty()) continue;
      const auto config = config_on(op, tmpl, problem, table.device, space, variant.config);
      if (!config ||
          !tensor_op::contraction::modelled_clocks(problem, *config, table.device, rates_of(op_name, {})))
        continue;
      times.push_back({problem, *config, anchor.us[v]});
      anchors.push_back(a);
    }
  }
  return times;
}

// How good a model is on times: its error, and the time of the config that it would pick among those of a
// problem.
class Judged {
 public:
  void add(const std::vector<TimedConfig>& times, const ModelledClocks& clocks, const Rates& rates) {
    const double error = error_of_model(times, clocks, op_name, rates);
    squares_ += error * error * static_cast<double>(times.size());
    times_ += times.size();
    for (std::size_t first = 0, end = 0; first < times.size(); first = end) {
      double least = 0, picked = 0, best = 0;
      for (end = first; end < times.size() && times[end].problem == times[first].problem; ++end) {
        const double its = clocks(times[end], rates);
        if (end == first || its < least) picked = times[end].us;
        least = end == first ? its : std::min(least, its);
        best = end == first ? times[end].us : std::min(best, times[end].us);
      }
      if (end - first < 2) continue;
      logarithms_ += std::log(best / picked);
      ++problems_;
    }
  }
  std::string text() const {
    return "off by " + printed("%.2f (logarithm), picks %.3f of the best speed on %zu problems",
                               std::sqrt(squares_ / static_cast<double>(times_)),
                               std::exp(logarithms_ / static_cast<double>(problems_)), problems_);
  }

 private:
  double squares_ = 0, logarithms_ = 0;
  std::size_t times_ = 0, problems_ = 0;
};

// Times of a template's configs on an anchor: how far each is from the best one, and how much slower.
struct FromBest {
  double octaves = 0, slowdown = 0;  // a logarithm
};

void add_from_best(std::span<const Config> configs, std::span<const double> us, std::vector<FromBest>& all) {
  if (us.empty()) return;
  const auto best = std::min_element(us.begin(), us.end());
  const Config& other = configs[static_cast<std::size_t>(best - us.begin())];
  for (std::size_t c = 0; c < us.size(); ++c) {
    const double octaves = octaves_apart(other, configs[c]);
    if (octaves > 0) all.push_back({octaves, std::log(us[c] / *best)});
  }
}

// The slowdowns by template, such as "rows/cluster".
std::map<std::string, std::vector<FromBest>> slowdowns_of(std::span<const DeviceTable> tables,
                                                          const std::string& device_name) {
  std::map<std::string, std::vector<FromBest>> slowdowns;
  for (const DeviceTable& one : tables) {
    if (one.device.name != device_name) continue;
    const Op& op = find_op(one.table.op);
    for (const TimingTable::Anchor& anchor : one.table.anchors) {
      const Problem problem = complete_problem(op, anchor.problem);
      for (const Template& tmpl : op.templates) {
        if (why_not(tmpl, problem, one.device)) continue;
        const Space space = tmpl.space(problem, one.device);
        std::vector<Config> configs;
        std::vector<double> us;
        for (std::size_t v = 0; v < anchor.us.size(); ++v) {
          const TimingTable::Variant& variant = one.table.variants[v];
          if (anchor.us[v] <= 0 || variant.template_name != tmpl.name || variant.config.empty()) continue;
          const auto config = config_on(op, tmpl, problem, one.device, space, variant.config);
          if (!config) continue;
          configs.push_back(*config);
          us.push_back(anchor.us[v]);
        }
        add_from_best(configs, us, slowdowns[op.name + "/" + tmpl.name]);
      }
    }
  }
  return slowdowns;
}

// Fits the rate octave_away: nine tenths of the templates lose less, each by least squares over its times. A
// config that stands in should rarely be worse than it was expected to be.
void write_octave_away(std::span<const DeviceTable> tables, const std::string& device_name, Rates rates) {
  constexpr std::size_t least_times = 30;  // of a template
  std::vector<double> losses;
  for (const auto& [name, times] : slowdowns_of(tables, device_name)) {
    if (times.size() < least_times) continue;
    double products = 0, squares = 0;
    for (const FromBest& one : times) {
      products += one.octaves * one.slowdown;
      squares += one.octaves * one.octaves;
    }
    losses.push_back(products / squares);
    std::cerr << name << ": " << printed("%.3f by %zu times", losses.back(), times.size()) << ".\n";
  }
  if (losses.empty())
    throw UsageError("The tables of " + device_name +
                     " have too few times; name a device that has tables, as devices.csv spells it.");
  std::sort(losses.begin(), losses.end());
  const double loss = losses[(losses.size() - 1) * 9 / 10];
  for (Rate& rate : rates.rates)
    if (rate.name == "octave_away") rate.value = nearest_number(printed("%.2g", loss));
  const std::string origin = "octave_away: fitted by bench/fit_rates to the times of " +
                             std::to_string(losses.size()) + " templates in the tables.";
  if (std::find(rates.origins.begin(), rates.origins.end(), origin) == rates.origins.end())
    rates.origins.push_back(origin);
  std::cout << write_rates(rates);
}

void write_fitted(const std::filesystem::path& folder, const std::string& device_name,
                  const std::string& rates_file, std::vector<std::string> names) {
  const GeneratedFolder file(folder);
  const std::vector<DeviceTable> tables = read_timing_tables(file, ops());
  if (names == std::vector<std::string>{"octave_away"})
    return write_octave_away(tables, device_name, read_rates(read_file(rates_file), rates_file));
  const auto table = std::find_if(tables.begin(), tables.end(), [&](const DeviceTable& one) {
    return one.table.op == op_name && one.device.name == device_name;
  });
  if (table == tables.end())
    throw UsageError("The folder " + folder.string() + " has no table of " + op_name + " for " + device_name +
                     "; name a folder that \"tunesmith export\" wrote.");
  const DeviceFacts& device = table->device;
  std::vector<std::size_t> anchors;  // by time
  const std::vector<TimedConfig> times = times_of(*table, anchors);
  const ModelledClocks clocks = [&](const TimedConfig& timed, const Rates& rates) {
    return *tensor_op::contraction::modelled_clocks(timed.problem, timed.config, device, rates);
  };
  Rates rates = read_rates(read_file(rates_file), rates_file);
  if (names.empty()) names = names_of(rates);
  for (const std::string& name : names) static_cast<void>(rates.value(op_name, name));  // there is one
  Rates fitted = fit_rates(rates, op_name, names, times, clocks);
  for (Rate& rate : fitted.rates)
    if (std::find(names.begin(), names.end(), rate.name) != names.end())
      rate.value = nearest_number(printed("%.3g", rate.value));
  fitted.origins.push_back(listed(names) + ": fitted by bench/fit_rates to " + std::to_string(times.size()) +
                           " times of the table of " + op_name + ".");
  // Left out: each tenth of the anchors by a fit to the others.
  Judged as_it_was, scaled, by_others;
  for (std::size_t part = 0; part < 10; ++part) {
    std::vector<TimedConfig> known, left;
    for (std::size_t t = 0; t < times.size(); ++t)
      (anchors[t] % 10 == part ? left : known).push_back(times[t]);
    as_it_was.add(left, clocks, rates);
    scaled.add(left, clocks, fit_rates(rates, op_name, scales, known, clocks));
    by_others.add(left, clocks, fit_rates(rates, op_name, names, known, clocks));
  }
  std::cerr << times.size() << " times. As the rates were: " << as_it_was.text()
            << ". Clock and first_launch fitted to other anchors: " << scaled.text()
            << ". All rates fitted to other anchors: " << by_others.text() << ".\n";
  std::cout << write_rates(fitted);
}

}  // namespace
}  // namespace tunesmith

int main(int argc, char** argv) {
  using namespace tunesmith;
  try {
    if (argc < 4)
      throw UsageError(
          "The arguments are a folder, a device's name, a file of rates, and perhaps names of rates.");
    write_fitted(argv[1], argv[2], argv[3], {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "fit_rates: " << error.what() << '\n';
    return 1;
  }
}
