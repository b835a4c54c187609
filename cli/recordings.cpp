#include "cli/recordings.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/table.h"
#include "db/store.h"
#include "dispatch/csv.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

using Json = nlohmann::ordered_json;

// zlib reads files that are not compressed as they are.
std::string contents(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (!std::filesystem::exists(path)) throw UsageError("There is no file " + name + ".");
  gzFile file = gzopen(name.c_str(), "rb");
  if (file == nullptr) throw Error("The file " + name + " cannot be read.");
  std::string text;
  std::array<char, 1 << 16> piece{};
  int size = 0;
  while ((size = gzread(file, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(size));
  gzclose(file);
  if (size < 0) throw Error("The file " + name + " is damaged: it is no complete .gz file.");
  return text;
}

// "convolution_A6000_T4.json.gz" -> "convolution_A6000_T4"
std::string stem(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

bool ends_with(const std::filesystem::path& path, const std::string& ending) {
  const std::string name = path.filename().string();
  return name.ends_with(ending) || name.ends_with(ending + ".gz");
}

Verdict verdict_of_invalidity(const std::string& word) {
  static const std::map<std::string, Verdict> words = {
      {"correct", Verdict::ok},           {"compile", Verdict::compile_error},
      {"runtime", Verdict::launch_error}, {"correctness", Verdict::wrong_result},
      {"timeout", Verdict::timeout},      {"constraints", Verdict::resource_limit}};
  const auto found = words.find(word);
  return found == words.end() ? Verdict::crash : found->second;
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
  if (value.is_number_integer()) return value.get<std::int64_t>();
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

double sum_of(const Json& list) {
  double sum = 0;
  for (const Json& value : list) sum += value.is_number() ? value.get<double>() : 0;
  return sum;
}

// Of a unit of time in ms; without one T4's own, which is the millisecond.
double milliseconds(const std::string& unit) {
  if (unit == "s" || unit == "seconds") return 1000;
  if (unit == "us" || unit == "microseconds") return 0.001;
  if (unit == "ns" || unit == "nanoseconds") return 1e-6;
  return 1;
}

// A T4 file has names of neither kernel nor device, but room for them in its metadata, where we write them.
Recording read_t4(const Json& file, const std::filesystem::path& path) {
  Recording recording;
  const Json metadata = file.value("metadata", Json::object());
  recording.op = metadata.value("kernel", stem(path));
  recording.problem = metadata.value("problem", "");
  recording.device = metadata.value("device", "");
  recording.caches = metadata.value("caches", recording.caches);
  recording.launches = metadata.value("launches", recording.launches);
  const double unit = milliseconds(metadata.value("timeunit", "milliseconds"));
  for (const Json& result : file.at("results")) {
    RecordedRow row;
    for (const auto& [name, value] : result.at("configuration").items())
      row.config.set(name, value_of(value));
    row.template_name = result.value("template", recording.op);
    row.verdict = verdict_of_invalidity(result.value("invalidity", "correct"));
    const Json times = result.value("times", Json::object());
    row.compile_ms = unit * (number_in(times, "compilation_time") + number_in(times, "compilation"));
    row.run_ms = unit * (number_in(times, "framework") + number_in(times, "validation") +
                         sum_of(times.value("runtimes", Json::array())));
    for (const Json& measurement : result.value("measurements", Json::array())) {
      if (measurement.value("name", "") != "time" || !measurement.at("value").is_number()) continue;
      const std::string its_unit = measurement.value("unit", "");
      row.median_us =
          1000 * measurement.at("value").get<double>() * (its_unit.empty() ? unit : milliseconds(its_unit));
    }
    if (row.verdict == Verdict::ok && row.median_us <= 0) {
      throw UsageError("A result of " + path.string() + " is correct and has no time: " + row.config.text() +
                       ". Only spaces that were tuned for time can be read.");
    }
    if (row.verdict != Verdict::ok) row.reason = result.value("reason", result.value("invalidity", ""));
    recording.rows.push_back(std::move(row));
  }
  return recording;
}

Recording read_kernel_tuner(const Json& file) {
  Recording recording;
  recording.op = file.value("kernel_name", "kernel");
  recording.device = file.value("device_name", "");
  Values problem;
  const Json size = file.value("problem_size", Json::array());
  const std::array<const char*, 3> names = {"x", "y", "z"};
  for (std::size_t i = 0; i < size.size() && i < names.size(); ++i) problem.set(names[i], value_of(size[i]));
  recording.problem = problem.text();
  const auto keys = file.at("tune_params_keys").get<std::vector<std::string>>();
  for (const auto& [key, result] : file.at("cache").items()) {
    RecordedRow row;
    row.template_name = recording.op;
    for (const std::string& name : keys) row.config.set(name, value_of(result.at(name)));
    const Json& time = result.at("time");
    if (time.is_number() && time.get<double>() < 1e19) {  // older files have 1e20 where it failed
      row.median_us = 1000 * time.get<double>();
    } else {
      row.reason = time.is_string() ? time.get<std::string>() : "failed";
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

// Kernel Tuner closes the file only when it is done.
Json parse(const std::string& text, const std::filesystem::path& path) {
  Json file = Json::parse(text, nullptr, false);
  if (!file.is_discarded()) return file;
  std::string closed = text.substr(0, text.find_last_not_of(" \n\r\t,") + 1) + "}}";
  file = Json::parse(closed, nullptr, false);
  if (file.is_discarded()) throw UsageError("The file " + path.string() + " is no JSON.");
  return file;
}

Recording read_csv(const std::string& text, const std::filesystem::path& path) {
  Recording recording;
  recording.problem = stem(path);
  std::map<std::string, std::size_t> column;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const std::vector<std::string> fields = csv_fields(line);
    if (++line_number == 1) {
      for (std::size_t i = 0; i < fields.size(); ++i) column[fields[i]] = i;
      for (const char* name : {"template", "config", "verdict", "median_us", "compile_ms"}) {
        if (!column.contains(name)) {
          throw UsageError("The table " + path.string() + " has no column " + name +
                           "; it needs template, config, verdict, median_us and compile_ms.");
        }
      }
      continue;
    }
    if (fields.size() != column.size()) {
      throw UsageError("Line " + std::to_string(line_number) + " of " + path.string() + " has " +
                       std::to_string(fields.size()) + " fields; the header has " +
                       std::to_string(column.size()) + ".");
    }
    RecordedRow row;
    row.template_name = fields[column["template"]];
    row.config = Values::parse(fields[column["config"]]);
    row.verdict = verdict_of(fields[column["verdict"]]);
    row.median_us = parsed_number(fields[column["median_us"]]);
    row.compile_ms = parsed_number(fields[column["compile_ms"]]);
    if (column.contains("run_ms")) row.run_ms = parsed_number(fields[column["run_ms"]]);
    if (column.contains("reason")) row.reason = fields[column["reason"]];
    recording.rows.push_back(std::move(row));
  }
  return recording;
}

RecordedRow row_of(const ResultRow& result) {
  RecordedRow row;
  row.template_name = result.template_name;
  row.config = Values::parse(result.config);
  row.verdict = verdict_of(result.verdict);
  row.median_us = result.median_us.value_or(0);
  row.compile_ms = result.compile_ms.value_or(0);
  row.reason = result.reason;
  return row;
}

bool has(const Recording& recording, const RecordedRow& row) {
  return std::any_of(recording.rows.begin(), recording.rows.end(), [&](const RecordedRow& other) {
    return other.template_name == row.template_name && other.config == row.config;
  });
}

// Times of different caches or launches are different spaces; a failure counts for all of them.
std::vector<Recording> read_database(const std::filesystem::path& path, const QueryFilter& filter) {
  const Store store = Store::open(path, Store::Mode::read_only);
  const std::vector<ResultRow> results = store.results(filter);
  std::vector<Recording> spaces;
  const auto is_of = [](const Recording& space, const ResultRow& result) {
    return space.op == result.op && space.problem == result.problem && space.device == result.device;
  };
  const auto add_space = [&](const ResultRow& result) {
    spaces.push_back({result.op, result.problem, result.device, result.caches, result.launches, "", {}});
  };
  for (const ResultRow& result : results) {  // sorted by all that makes a space
    if (result.verdict != name(Verdict::ok)) continue;
    if (spaces.empty() || !is_of(spaces.back(), result) || spaces.back().caches != result.caches ||
        spaces.back().launches != result.launches)
      add_space(result);
    spaces.back().rows.push_back(row_of(result));
  }
  for (const ResultRow& result : results) {
    if (result.verdict == name(Verdict::ok)) continue;
    const auto same = [&](const Recording& space) { return is_of(space, result); };
    if (std::none_of(spaces.begin(), spaces.end(), same)) add_space(result);
    const RecordedRow row = row_of(result);
    for (Recording& space : spaces) {
      if (same(space) && !has(space, row)) space.rows.push_back(row);
    }
  }
  return spaces;
}

}  // namespace

std::string text(const Recording& recording) {
  return recording.op + " " + recording.problem + (recording.caches == "cold" ? ", cold" : "") +
         (recording.launches == "chained" ? ", chained" : "");
}

std::vector<Recording> read_recordings(const std::filesystem::path& path, const QueryFilter& filter) {
  if (!std::filesystem::exists(path)) throw UsageError("There is no file " + path.string() + ".");
  std::vector<Recording> recordings;
  if (ends_with(path, ".csv")) {
    recordings.push_back(read_csv(contents(path), path));
  } else if (ends_with(path, ".json")) {
    const Json file = parse(contents(path), path);
    if (file.contains("results")) {
      recordings.push_back(read_t4(file, path));
    } else if (file.contains("cache")) {
      recordings.push_back(read_kernel_tuner(file));
    } else {
      throw UsageError("The file " + path.string() +
                       " has neither \"results\" (T4) nor \"cache\" (Kernel Tuner).");
    }
  } else {
    recordings = read_database(path, filter);
  }
  for (Recording& recording : recordings) {
    if (recording.name.empty()) recording.name = recordings.size() == 1 ? stem(path) : text(recording);
  }
  return recordings;
}

std::optional<InputFile> read_input_file(const std::filesystem::path& path) {
  if (!ends_with(path, ".json")) return std::nullopt;
  const Json file = parse(contents(path), path);
  if (!file.contains("ConfigurationSpace")) return std::nullopt;
  InputFile input;
  input.kernel = file.value("KernelSpecification", Json::object()).value("KernelName", "");
  for (const Json& parameter : file.at("ConfigurationSpace").at("TuningParameters"))
    input.axes.push_back(parameter.at("Name").get<std::string>());
  return input;
}

namespace {

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

std::string recording_text(const Recording& recording, const std::string& format) {
  if (format == "t4") return t4_of(recording).dump(1) + "\n";
  Table table({"template", "config", "verdict", "median_us", "compile_ms", "run_ms", "reason"});
  for (const RecordedRow& row : recording.rows) {
    table.add({row.template_name, row.config.text(), std::string(name(row.verdict)),
               row.verdict == Verdict::ok ? Cell(row.median_us) : Cell(), row.compile_ms, row.run_ms,
               row.reason});
  }
  return table.as(format);
}

std::size_t import_recording(Store& store, const Recording& recording, const std::string& command) {
  std::size_t count = 0;
  store.in_one_commit([&] {
    SessionRow session;
    // Nothing is known of the device but its name, and no code is compiled for it.
    session.device_id =
        store.id_of(DeviceRow{.kind = "cuda", .name = recording.device, .target = "recorded"});
    const std::int64_t problem = store.id_of(ProblemRow{recording.op, recording.problem});
    const std::map<SourceKey, KnownVerdict> known =
        store.known(session.device_id, problem, recording.caches, recording.launches);
    session.command = command;
    session.strategy = "recorded";
    session.tunesmith_version = TUNESMITH_VERSION;
    const std::int64_t session_id = store.begin_session(session);
    for (const RecordedRow& row : recording.rows) {
      VariantRow variant;
      variant.template_id = store.id_of(TemplateRow{recording.op, row.template_name, "recorded"});
      variant.target = "recorded";
      variant.config = row.config.text();
      variant.source_hash =
          "recorded:" + sha256(recording.op + "\n" + row.template_name + "\n" + variant.config);
      const auto before = known.find({variant.target, variant.source_hash});
      if (before != known.end() && before->second.verdict == name(row.verdict) &&
          before->second.median_us.value_or(0) == row.median_us)
        continue;
      MeasurementRow measurement;
      measurement.session_id = session_id;
      measurement.variant_id = store.id_of(variant);
      measurement.problem_id = problem;
      measurement.device_id = session.device_id;
      measurement.verdict = name(row.verdict);
      measurement.reason = row.verdict == Verdict::ok ? "" : row.reason;
      if (row.verdict == Verdict::ok) measurement.median_us = row.median_us;
      measurement.compile_ms = row.compile_ms;
      measurement.toolchain = "recorded";
      measurement.caches = recording.caches;
      measurement.launches = recording.launches;
      store.record(measurement);
      ++count;
    }
    store.end_session(session_id, Store::End::finished);
  });
  return count;
}

}  // namespace tunesmith
