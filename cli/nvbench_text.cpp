// SPDX-License-Identifier: Apache-2.0
#include "cli/nvbench_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <utility>
#include <variant>

#include "generator/error.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

using Json = nlohmann::ordered_json;

// A benchmark of the file while its states are collected.
struct Benchmark {
  std::vector<std::string> axes;  // in the order in which they came
  std::map<std::string, std::vector<Value>> values;
  std::vector<std::pair<std::size_t, std::vector<std::pair<std::string, Value>>>> points;  // device, values
  std::vector<std::pair<const Recording*, const RecordedRow*>> rows;                       // of the points
};

bool is_integer(const Value& value) { return std::holds_alternative<std::int64_t>(value); }

// An axis is of integers if all its values are.
std::string type_of(const std::vector<Value>& values) {
  return std::all_of(values.begin(), values.end(), is_integer) ? "int64" : "string";
}

// The format has numbers as texts, because numbers of JSON may be read as real ones.
Json named_value(const std::string& name, const std::string& type, const std::string& text) {
  return {{"name", name}, {"type", type}, {"value", text}};
}

// `at`: from 0 for the smallest to 1 for the largest, between two samples in proportion.
double quantile(const std::vector<double>& sorted, double at) {
  const double place = at * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

class Summaries {
 public:
  // nvbench's words: an isolated launch is "cold", one of many back to back is of a "batch".
  explicit Summaries(const Recording& recording)
      : kind_(recording.launches == "chained" ? "batch" : "cold"),
        what_(recording.launches == "chained" ? "launches back to back" : "isolated launches") {
    what_ += ", " + recording.caches + " caches";
  }

  Json of(const RecordedRow& row) {
    list_ = Json::array();
    if (row.samples_us.empty()) {
      add_time("median", "Median", row.median_us);
      return std::move(list_);
    }
    std::vector<double> sorted = row.samples_us;
    std::sort(sorted.begin(), sorted.end());
    const auto count = static_cast<double>(sorted.size());
    const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
    double squares = 0;
    for (const double sample : sorted) squares += (sample - mean) * (sample - mean);
    const double deviation = sorted.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    const double first = quantile(sorted, 0.25), third = quantile(sorted, 0.75);
    add("/sample_size", "Samples", "sample_size", "Number of samples", "int64",
        std::to_string(sorted.size()));
    add_time("min", "Fastest", sorted.front());
    add_time("max", "Slowest", sorted.back());
    add_time("mean", "Mean", mean);
    add_time("stdev/absolute", "Standard deviation", deviation);
    add_part("stdev/relative", "Relative standard deviation", deviation / mean);
    add_time("q1", "First quartile", first);
    add_time("median", "Median", row.median_us);
    add_time("q3", "Third quartile", third);
    add_time("iqr/absolute", "Interquartile range", third - first);
    add_part("iqr/relative", "Relative interquartile range", (third - first) / row.median_us);
    return std::move(list_);
  }

 private:
  void add(const std::string& tag, const std::string& name, const std::string& hint,
           const std::string& description, const std::string& type, const std::string& value) {
    list_.push_back({{"tag", "nv/" + kind_ + tag},
                     {"name", name},
                     {"hint", hint},
                     {"description", description},
                     {"data", Json::array({named_value("value", type, value)})}});
  }
  void add_time(const std::string& tag, const std::string& what, double us) {
    add("/time/gpu/" + tag, what, "duration", what + " of the GPU's time: " + what_, "float64",
        ShortestText(us / 1e6).string());
  }
  void add_part(const std::string& tag, const std::string& what, double part) {
    add("/time/gpu/" + tag, what, "percentage", what + " of the GPU's time: " + what_, "float64",
        ShortestText(part).string());
  }

  std::string kind_, what_;
  Json list_;
};

// How it was measured, and the parameters of the problem.
Values conditions_of(const Recording& recording) {
  Values found({{"caches", recording.caches}, {"launches", recording.launches}});
  try {
    const Values problem = Values::parse(recording.problem);
    for (const auto& [name, value] : problem.entries()) found.set(name, value);
  } catch (const UsageError&) {  // another tuner's problem, which may be any text
    found.set("problem", recording.problem);
  }
  return found;
}

Json axes_of(const Benchmark& benchmark) {
  Json axes = Json::array();
  for (const std::string& name : benchmark.axes) {
    const std::vector<Value>& values = benchmark.values.at(name);
    const std::string type = type_of(values);
    Json listed = Json::array();
    for (const Value& value : values) {
      Json one = {{"input_string", to_text(value)}, {"description", ""}};
      if (type == "int64") {
        one["value"] = std::get<std::int64_t>(value);
      } else {
        one["value"] = to_text(value);
      }
      listed.push_back(std::move(one));
    }
    axes.push_back({{"name", name}, {"type", type}, {"flags", ""}, {"values", std::move(listed)}});
  }
  return axes;
}

Json states_of(const Benchmark& benchmark) {
  Json states = Json::array();
  for (std::size_t k = 0; k < benchmark.points.size(); ++k) {
    const auto& [device, point] = benchmark.points[k];
    const auto& [recording, row] = benchmark.rows[k];
    Json state;
    std::string name = "Device=" + std::to_string(device);
    Json values = Json::array();
    for (const auto& [axis, value] : point) {
      name += " " + axis + "=" + to_text(value);
      values.push_back(named_value(axis, type_of(benchmark.values.at(axis)), to_text(value)));
    }
    const bool is_ok = row->verdict == Verdict::ok;
    state["name"] = name;
    state["device"] = device;
    state["type_config_index"] = 0;
    state["axis_values"] = std::move(values);
    state["summaries"] = is_ok ? Summaries(*recording).of(*row) : Json::array();
    state["is_skipped"] = !is_ok;
    if (!is_ok) state["skip_reason"] = std::string(tunesmith::name(row->verdict)) + ": " + row->reason;
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace

std::string nvbench_text(const std::vector<Recording>& recordings) {
  std::vector<std::string> devices;
  std::vector<std::string> names;  // of the benchmarks, in the order in which they came
  std::map<std::string, Benchmark> benchmarks;
  for (const Recording& recording : recordings) {
    auto device = std::find(devices.begin(), devices.end(), recording.device);
    if (device == devices.end()) device = devices.insert(device, recording.device);
    const auto device_id = static_cast<std::size_t>(device - devices.begin());
    const Values problem = conditions_of(recording);
    for (const RecordedRow& row : recording.rows) {
      const std::string name = recording.op + " " + row.template_name;
      if (!benchmarks.contains(name)) names.push_back(name);
      Benchmark& benchmark = benchmarks[name];
      std::vector<std::pair<std::string, Value>> point;
      for (const Values* values : {&problem, &row.config}) {
        for (const auto& [axis, value] : values->entries()) {
          std::vector<Value>& known = benchmark.values[axis];
          if (known.empty()) benchmark.axes.push_back(axis);
          if (std::find(known.begin(), known.end(), value) == known.end()) known.push_back(value);
          point.emplace_back(axis, value);
        }
      }
      benchmark.points.emplace_back(device_id, std::move(point));
      benchmark.rows.emplace_back(&recording, &row);
    }
  }
  Json file;
  file["meta"] = {{"argv", Json::array({"tunesmith", "db", "export", "--format", "nvbench"})},
                  {"version",
                   {{"json", {{"major", 1}, {"minor", 0}, {"patch", 0}, {"string", "1.0.0"}}},
                    {"tunesmith", {{"string", TUNESMITH_VERSION}}}}}};
  file["devices"] = Json::array();
  for (std::size_t id = 0; id < devices.size(); ++id)
    file["devices"].push_back({{"id", id}, {"name", devices[id]}});
  file["benchmarks"] = Json::array();
  for (const std::string& name : names) {
    const Benchmark& benchmark = benchmarks.at(name);
    Json used = Json::array();
    for (std::size_t id = 0; id < devices.size(); ++id) {
      const auto is_its = [&](const auto& point) { return point.first == id; };
      if (std::any_of(benchmark.points.begin(), benchmark.points.end(), is_its)) used.push_back(id);
    }
    Json one;
    one["name"] = name;
    one["index"] = file["benchmarks"].size();
    one["devices"] = std::move(used);
    one["axes"] = axes_of(benchmark);
    one["states"] = states_of(benchmark);
    file["benchmarks"].push_back(std::move(one));
  }
  return file.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tunesmith
