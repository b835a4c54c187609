// SPDX-License-Identifier: Apache-2.0
#include "cli/json_recordings.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "generator/error.h"

namespace tunesmith {
namespace {

using Json = nlohmann::ordered_json;

// Limits for a file from elsewhere, so that reading it takes bounded time and memory. The largest files of
// the benchmark hub, with 120,000 configs, reach a third of these.
constexpr std::size_t most_bytes = std::size_t{256} << 20;  // uncompressed
constexpr std::size_t most_values = 16'000'000;
constexpr int most_depth = 64;
constexpr std::size_t most_names =
    1000;  // names of an object that is kept: each new name is compared with all

Verdict verdict_of_invalidity(const std::string& word, const std::string& where) {
  static const std::map<std::string, Verdict> words = {
      {"correct", Verdict::ok},           {"compile", Verdict::compile_error},
      {"runtime", Verdict::launch_error}, {"correctness", Verdict::wrong_result},
      {"timeout", Verdict::timeout},      {"constraints", Verdict::resource_limit}};
  const auto found = words.find(word);
  if (found != words.end()) return found->second;
  throw UsageError(where + " has the invalidity \"" + word +
                   "\"; it is one of correct, compile, runtime, correctness, timeout and constraints.");
}

std::string invalidity_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "correct";
    case Verdict::compile_error:
      return "compile";
    case Verdict::resource_limit:
      return "constraints";
    case Verdict::wrong_result:
    case Verdict::out_of_bounds:
      return "correctness";
    case Verdict::timeout:
      return "timeout";
    default:
      return "runtime";
  }
}

Value value_of(const Json& value) {
  if (value.is_boolean()) return std::int64_t{value.get<bool>()};
  if (value.is_number_integer() && value == value.get<std::int64_t>()) return value.get<std::int64_t>();
  if (value.is_string()) return to_value(value.get<std::string>());
  return value.dump();
}

Json json_of(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  return std::get<std::string>(value);
}

double number_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const Json& object, const char* name, const std::string& otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

// Returns a part of an object or list; an empty one if it is missing.
const Json& part_of(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.find(name);
  return found != object.end() && found->is_structured() ? *found : none;
}

double sum_of(const Json& list) {
  double sum = 0;
  for (const Json& value : list) sum += value.is_number() ? value.get<double>() : 0;
  return sum;
}

// Returns milliseconds per unit of time; without a unit T4's own, the millisecond.
double milliseconds(const std::string& unit) {
  if (unit == "s" || unit == "seconds") return 1000;
  if (unit == "us" || unit == "microseconds") return 0.001;
  if (unit == "ns" || unit == "nanoseconds") return 1e-6;
  return 1;
}

struct Document {
  Json file;
  std::vector<Json> cache;  // the contents of its object "cache", which would be slow as names of one object
  bool has_cache = false;
};

// Parses a text; returns nothing if it is not valid JSON.
std::optional<Document> parsed(const std::string& text, const std::filesystem::path& path) {
  Document document;
  std::size_t values = 0;
  std::vector<std::size_t> names(most_depth + 2);  // by depth: the number of names of the open object
  bool in_cache = false;
  const auto refuse = [&](const std::string& what) {
    throw UsageError("The file " + path.string() + " " + what +
                     ", which no tuner writes, so it is not read.");
  };
  const auto look = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > most_depth) refuse("nests more than " + std::to_string(most_depth) + " values");
    if (++values > most_values) refuse("has more than " + std::to_string(most_values) + " values");
    const bool is_config = in_cache && depth == 2;
    if (event == Json::parse_event_t::object_start) names[static_cast<std::size_t>(depth) + 1] = 0;
    if (event == Json::parse_event_t::key) {
      if (depth == 1) in_cache = value == "cache";
      document.has_cache = document.has_cache || (depth == 1 && in_cache);
      if (!is_config && ++names[static_cast<std::size_t>(depth)] > most_names)
        refuse("has an object with more than " + std::to_string(most_names) + " names");
    }
    if (event != Json::parse_event_t::object_end || !is_config) return true;
    document.cache.push_back(std::move(value));
    return false;
  };
  document.file = Json::parse(text, look, false);
  if (document.file.is_discarded()) return std::nullopt;
  if (!document.file.is_object()) throw UsageError("The file " + path.string() + " holds no JSON object.");
  return document;
}

// Parses a file that may be unclosed: Kernel Tuner closes it only when it is done.
Document parse(const std::string& text, const std::filesystem::path& path) {
  if (auto document = parsed(text, path)) return std::move(*document);
  const std::string closed = text.substr(0, text.find_last_not_of(" \n\r\t,") + 1) + "}}";
  if (auto document = parsed(closed, path)) return std::move(*document);
  throw UsageError("The file " + path.string() + " is not valid JSON.");
}

// Reads a T4 file. It names neither kernel nor device, but its metadata has room for them, which our writer
// uses.
Recording read_t4(const Json& file, const std::filesystem::path& path, const std::string& name) {
  Recording recording;
  const Json& metadata = part_of(file, "metadata");
  recording.op = text_in(metadata, "kernel", name);
  recording.problem = text_in(metadata, "problem", "");
  recording.device = text_in(metadata, "device", "");
  recording.caches = text_in(metadata, "caches", recording.caches);
  recording.launches = text_in(metadata, "launches", recording.launches);
  const double unit = milliseconds(text_in(metadata, "timeunit", "milliseconds"));
  for (const Json& result : part_of(file, "results")) {
    const std::string where = "Result " + std::to_string(recording.rows.size() + 1) + " of " + path.string();
    const Json& configuration = part_of(result, "configuration");
    if (configuration.empty())
      throw UsageError(where + " has no configuration, so it is of no T4 results file.");
    RecordedRow row;
    for (const auto& [name, value] : configuration.items()) row.config.set(name, value_of(value));
    row.template_name = text_in(result, "template", recording.op);
    row.verdict = verdict_of_invalidity(text_in(result, "invalidity", "correct"), where);
    const Json& times = part_of(result, "times");
    row.compile_ms = unit * (number_in(times, "compilation_time") + number_in(times, "compilation"));
    row.run_ms = unit * (number_in(times, "framework") + number_in(times, "validation") +
                         sum_of(part_of(times, "runtimes")));
    for (const Json& measurement : part_of(result, "measurements")) {
      if (text_in(measurement, "name", "") != "time") continue;
      const std::string its_unit = text_in(measurement, "unit", "");
      row.median_us =
          1000 * number_in(measurement, "value") * (its_unit.empty() ? unit : milliseconds(its_unit));
    }
    if (row.verdict == Verdict::ok && row.median_us <= 0) {
      throw UsageError(where + " is correct and has no time: " + row.config.text() +
                       ". Only spaces that were tuned for time can be read.");
    }
    if (row.verdict != Verdict::ok) row.reason = text_in(result, "reason", text_in(result, "invalidity", ""));
    recording.rows.push_back(std::move(row));
  }
  return recording;
}

// Returns the problem from Kernel Tuner's size, which is written as it was given: a number, a list, or words
// such as "callable".
Values problem_of(const Json& size) {
  Values problem;
  const std::array<const char*, 3> names = {"x", "y", "z"};
  if (size.is_array()) {
    for (std::size_t i = 0; i < size.size() && i < names.size(); ++i)
      problem.set(names[i], value_of(size[i]));
  } else if (!size.is_null()) {
    problem.set(names[0], value_of(size));
  }
  return problem;
}

Recording read_kernel_tuner(const Document& document, const std::filesystem::path& path) {
  const Json& file = document.file;
  Recording recording;
  recording.op = text_in(file, "kernel_name", "kernel");
  recording.device = text_in(file, "device_name", "");
  if (const auto size = file.find("problem_size"); size != file.end())
    recording.problem = problem_of(*size).text();
  std::vector<std::string> axes;
  for (const Json& axis : part_of(file, "tune_params_keys")) {
    if (axis.is_string()) axes.push_back(axis.get<std::string>());
  }
  if (axes.empty()) {
    throw UsageError("The file " + path.string() +
                     " has no tune_params_keys, the names of the axes, so it is not a Kernel Tuner cache.");
  }
  if (!part_of(file, "cache").empty())
    throw UsageError("The file " + path.string() + " has a config in its cache that is not an object.");
  for (const Json& result : document.cache) {
    const std::string where = "Config " + std::to_string(recording.rows.size() + 1) + " of " + path.string();
    RecordedRow row;
    row.template_name = recording.op;
    for (const std::string& name : axes) {
      const auto value = result.find(name);
      if (value == result.end()) throw UsageError(where + " has no value of the axis " + name + ".");
      row.config.set(name, value_of(*value));
    }
    const auto time = result.find("time");
    if (time == result.end()) throw UsageError(where + " has no time: " + row.config.text() + ".");
    if (time->is_number() && time->get<double>() < 1e19) {  // older files have 1e20 for a failure
      row.median_us = 1000 * time->get<double>();
      if (row.median_us <= 0) {
        throw UsageError(where + " has the time " + time->dump() +
                         "; a time is above 0: " + row.config.text() + ".");
      }
    } else {
      row.reason = time->is_string() ? time->get<std::string>() : "failed";
      row.verdict = row.reason == "CompilationFailedConfig" ? Verdict::compile_error
                    : row.reason == "InvalidConfig"         ? Verdict::resource_limit
                                                            : Verdict::launch_error;
    }
    row.compile_ms = number_in(result, "compile_time");
    row.run_ms = number_in(result, "verification_time") + number_in(result, "benchmark_time");
    recording.rows.push_back(std::move(row));
  }
  return recording;
}

Json t4_of(const Recording& recording) {
  Json file;
  file["metadata"] = {{"timeunit", "milliseconds"},   {"kernel", recording.op},
                      {"problem", recording.problem}, {"device", recording.device},
                      {"caches", recording.caches},   {"launches", recording.launches}};
  file["schema_version"] = "1.0.0";
  file["results"] = Json::array();
  for (const RecordedRow& row : recording.rows) {
    Json result;
    Json configuration = Json::object();
    for (const auto& [name, value] : row.config.entries()) configuration[name] = json_of(value);
    result["template"] = row.template_name;
    result["configuration"] = std::move(configuration);
    result["times"] = {{"compilation_time", row.compile_ms}, {"framework", row.run_ms}};
    result["invalidity"] = invalidity_of(row.verdict);
    result["correctness"] = row.verdict == Verdict::ok ? 1 : 0;
    const Json time = row.verdict == Verdict::ok ? Json(row.median_us / 1000) : Json(row.reason);
    result["measurements"] = {{{"name", "time"}, {"value", time}, {"unit", "milliseconds"}}};
    result["objectives"] = {"time"};
    if (row.verdict != Verdict::ok) result["reason"] = row.reason;
    file["results"].push_back(std::move(result));
  }
  return file;
}

}  // namespace

// zlib reads uncompressed files unchanged.
std::string unpacked(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (!std::filesystem::exists(path)) throw UsageError("There is no file " + name + ".");
  gzFile file = gzopen(name.c_str(), "rb");
  if (file == nullptr) throw Error("The file " + name + " cannot be read.");
  std::string text;
  std::array<char, 1 << 16> piece{};
  int size = 0;
  while (text.size() <= most_bytes && (size = gzread(file, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(size));
  gzclose(file);
  if (text.size() > most_bytes) {
    throw UsageError("The file " + name +
                     " has more than 256 MiB of text, which is more than is read; divide it.");
  }
  if (size < 0) throw Error("The file " + name + " is truncated or damaged: it is not a complete .gz file.");
  return text;
}

Recording read_json_recording(const std::filesystem::path& path, const std::string& name) {
  const Document document = parse(unpacked(path), path);
  if (document.file.contains("results")) return read_t4(document.file, path, name);
  if (document.has_cache) return read_kernel_tuner(document, path);
  throw UsageError("The file " + path.string() +
                   " has neither \"results\" (T4) nor \"cache\" (Kernel Tuner).");
}

std::optional<InputFile> read_t1(const std::filesystem::path& path) {
  const Json file = parse(unpacked(path), path).file;
  if (!file.contains("ConfigurationSpace")) return std::nullopt;
  InputFile input;
  input.kernel = text_in(part_of(file, "KernelSpecification"), "KernelName", "");
  for (const Json& parameter : part_of(part_of(file, "ConfigurationSpace"), "TuningParameters"))
    input.axes.push_back(text_in(parameter, "Name", ""));
  return input;
}

std::string t4_text(const Recording& recording) {
  return t4_of(recording).dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tunesmith
