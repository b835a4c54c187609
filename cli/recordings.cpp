#include "cli/recordings.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "choose/csv.h"
#include "cli/text_table.h"
#include "db/store.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"

namespace tunesmith {
namespace {

using Json = nlohmann::ordered_json;

// Of a file from elsewhere, so that reading it takes bounded time and memory. The largest files of the
// benchmark hub, of 120,000 configs, have a third of these.
constexpr std::size_t most_bytes = std::size_t{256} << 20;  // not compressed
constexpr std::size_t most_values = 16'000'000;
constexpr int most_depth = 64;
constexpr std::size_t most_names = 1000;  // of an object that is kept: each new one is compared with all

// zlib reads files that are not compressed as they are.
std::string contents(const std::filesystem::path& path) {
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

// "convolution_A6000_T4.json.gz" -> "convolution_A6000_T4"
std::string stem(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

bool ends_with(const std::filesystem::path& path, const std::string& ending) {
  const std::string name = path.filename().string();
  return name.ends_with(ending) || name.ends_with(ending + ".gz");
}

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

// Of an object or a list; an empty one where there is none.
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

// Of a unit of time in ms; without one T4's own, which is the millisecond.
double milliseconds(const std::string& unit) {
  if (unit == "s" || unit == "seconds") return 1000;
  if (unit == "us" || unit == "microseconds") return 0.001;
  if (unit == "ns" || unit == "nanoseconds") return 1e-6;
  return 1;
}

struct Document {
  Json file;
  std::vector<Json>
      cache;  // what the objects in its object "cache" hold: as names of one object they would be slow
  bool has_cache = false;
};

// Nothing where the text is not valid JSON.
std::optional<Document> parsed(const std::string& text, const std::filesystem::path& path) {
  Document document;
  std::size_t values = 0;
  std::vector<std::size_t> names(most_depth + 2);  // by depth, of the object that is open
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

// Kernel Tuner closes the file only when it is done.
Document parse(const std::string& text, const std::filesystem::path& path) {
  if (auto document = parsed(text, path)) return std::move(*document);
  const std::string closed = text.substr(0, text.find_last_not_of(" \n\r\t,") + 1) + "}}";
  if (auto document = parsed(closed, path)) return std::move(*document);
  throw UsageError("The file " + path.string() + " is not valid JSON.");
}

// A T4 file has names of neither kernel nor device, but room for them in its metadata, where we write them.
Recording read_t4(const Json& file, const std::filesystem::path& path) {
  Recording recording;
  const Json& metadata = part_of(file, "metadata");
  recording.op = text_in(metadata, "kernel", stem(path));
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

// Kernel Tuner writes the size as it was given: a number, a list, or words such as "callable".
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
    if (time->is_number() && time->get<double>() < 1e19) {  // older files have 1e20 where it failed
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

// A table's field; `where` names its line.
double number_of(const std::string& field, const char* column, const std::string& where) {
  if (field.empty()) return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc{} && end == field.data() + field.size() && std::isfinite(value) && value >= 0)
    return value;
  throw UsageError(where + " has \"" + field + "\" in the column " + column +
                   ", where a number that is not negative belongs.");
}

Recording read_csv(std::string_view text, const std::filesystem::path& path) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  Recording recording;
  recording.problem = stem(path);
  std::map<std::string, std::size_t> column;
  std::ptrdiff_t line_number = 1;
  while (!text.empty()) {
    const std::string where = "Line " + std::to_string(line_number) + " of " + path.string();
    const std::string_view before = text;
    const std::string_view record = take_csv_record(text);
    line_number += std::count(before.begin(), before.end() - std::ssize(text), '\n');
    const std::vector<std::string> fields = csv_fields(record);
    if (column.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        if (!column.emplace(fields[i], i).second)
          throw UsageError("The table " + path.string() + " has two columns " + fields[i] +
                           "; name each once.");
      }
      for (const char* name : {"template", "config", "verdict", "median_us", "compile_ms"}) {
        if (!column.contains(name)) {
          throw UsageError("The table " + path.string() + " has no column " + name +
                           "; it needs template, config, verdict, median_us and compile_ms.");
        }
      }
      continue;
    }
    if (record.empty()) continue;
    if (fields.size() != column.size()) {
      throw UsageError(where + " has " + std::to_string(fields.size()) + " fields; the header has " +
                       std::to_string(column.size()) + ".");
    }
    const auto number = [&](const char* name) { return number_of(fields[column[name]], name, where); };
    RecordedRow row;
    row.template_name = fields[column["template"]];
    try {
      row.config = Values::parse(fields[column["config"]]);
    } catch (const UsageError& error) {
      throw UsageError(where + " has no config: " + error.what());
    }
    const std::string& verdict = fields[column["verdict"]];
    row.verdict = verdict_of(verdict);
    if (name(row.verdict) != verdict) {
      throw UsageError(where + " has the verdict \"" + verdict + "\"; it is one of " +
                       listed(std::vector<std::string>(verdict_names.begin(), verdict_names.end())) + ".");
    }
    row.median_us = number("median_us");
    if (row.verdict == Verdict::ok && row.median_us <= 0)
      throw UsageError(where + " is ok and has no median_us, which is a number above 0.");
    row.compile_ms = number("compile_ms");
    if (column.contains("run_ms")) row.run_ms = number("run_ms");
    if (column.contains("reason")) row.reason = fields[column["reason"]];
    recording.rows.push_back(std::move(row));
  }
  return recording;
}

// What is stored as name=value, and printed, must be read back: no name with blanks, "=" or quotes, and no
// control characters.
void check_names(const Recording& recording, const std::filesystem::path& path) {
  if (recording.rows.empty()) throw UsageError("The file " + path.string() + " holds no results.");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  const auto refuse = [&](const char* what, const std::string& word) {
    throw UsageError(
        std::string(what) + " \"" + word + "\" in " + path.string() +
        " has a character that would not be read back: a name has no blanks, \"=\" or quotes, and "
        "no text has control characters. Change it in the file.");
  };
  const auto check_word = [&](const char* what, const std::string& word) {
    if (std::any_of(word.begin(), word.end(), is_control)) refuse(what, word);
  };
  const auto check_values = [&](const char* what, const Values& values) {
    for (const auto& [name, value] : values.entries()) {
      check_word(what, name);
      if (name.empty() || name.find_first_of(" =\"") != std::string::npos) refuse(what, name);
      if (const auto* word = std::get_if<std::string>(&value)) check_word("The value", *word);
    }
  };
  check_word("The name", recording.op);
  check_word("The device", recording.device);
  check_word("The problem", recording.problem);
  for (const RecordedRow& row : recording.rows) {
    check_word("The template", row.template_name);
    check_values("The axis", row.config);
  }
}

// What a search paid for a variant: later verdicts have its binary from the cache, and finals take longer.
class Costs {
 public:
  explicit Costs(const std::vector<ResultRow>& results) {
    for (const ResultRow& result : results) {
      if (result.compile_ms) keep(compile_[variant(result)], result.measurement_id, *result.compile_ms);
      if (result.wall_ms) keep(run_[variant(result) + space(result)], result.measurement_id, *result.wall_ms);
    }
  }
  double compile_ms(const ResultRow& result) const { return of(compile_, variant(result)); }
  double run_ms(const ResultRow& result) const { return of(run_, variant(result) + space(result)); }

 private:
  struct First {
    std::int64_t measurement_id = 0;
    double ms = 0;
  };
  using Table = std::map<std::string, First>;
  static void keep(First& first, std::int64_t id, double ms) {
    if (first.measurement_id == 0 || id < first.measurement_id) first = {id, ms};
  }
  static double of(const Table& table, const std::string& key) {
    const auto found = table.find(key);
    return found == table.end() ? 0 : found->second.ms;
  }
  static std::string variant(const ResultRow& result) { return result.target + " " + result.source_hash; }
  static std::string space(const ResultRow& result) { return "\n" + result.problem + "\n" + result.device; }
  Table compile_, run_;
};

RecordedRow row_of(const ResultRow& result, const Costs& costs) {
  RecordedRow row;
  row.template_name = result.template_name;
  row.config = Values::parse(result.config);
  row.verdict = verdict_of(result.verdict);
  row.median_us = result.median_us.value_or(0);
  row.compile_ms = costs.compile_ms(result);
  row.run_ms = costs.run_ms(result);
  row.reason = result.reason;
  return row;
}

// Times of different caches or launches are different spaces; a failure counts for all of them.
std::vector<Recording> read_database(const std::filesystem::path& path, const QueryFilter& filter) {
  const Store store = Store::open(path, Store::Mode::read_only);
  QueryFilter with_history = filter;
  with_history.history = true;
  std::vector<ResultRow> results = store.results(with_history);
  const Costs costs(results);
  std::erase_if(results, [](const ResultRow& result) { return !result.is_current; });
  std::vector<Recording> spaces;
  std::vector<std::set<std::string>> configs;  // of each
  const auto is_of = [](const Recording& space, const ResultRow& result) {
    return space.op == result.op && space.problem == result.problem && space.device == result.device;
  };
  const auto add_space = [&](const ResultRow& result) {
    spaces.push_back({result.op, result.problem, result.device, result.caches, result.launches, "", {}});
    configs.emplace_back();
  };
  const auto add = [&](std::size_t space, const ResultRow& result) {
    if (configs[space].insert(result.template_name + " " + result.config).second)
      spaces[space].rows.push_back(row_of(result, costs));
  };
  for (const ResultRow& result : results) {  // sorted by all that makes a space
    if (result.verdict != name(Verdict::ok)) continue;
    if (spaces.empty() || !is_of(spaces.back(), result) || spaces.back().caches != result.caches ||
        spaces.back().launches != result.launches)
      add_space(result);
    add(spaces.size() - 1, result);
  }
  for (const ResultRow& result : results) {
    if (result.verdict == name(Verdict::ok)) continue;
    const auto same = [&](const Recording& space) { return is_of(space, result); };
    if (std::none_of(spaces.begin(), spaces.end(), same)) add_space(result);
    for (std::size_t space = 0; space < spaces.size(); ++space) {
      if (same(spaces[space])) add(space, result);
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
    check_names(recordings.back(), path);
  } else if (ends_with(path, ".json")) {
    const Document document = parse(contents(path), path);
    if (document.file.contains("results")) {
      recordings.push_back(read_t4(document.file, path));
    } else if (document.has_cache) {
      recordings.push_back(read_kernel_tuner(document, path));
    } else {
      throw UsageError("The file " + path.string() +
                       " has neither \"results\" (T4) nor \"cache\" (Kernel Tuner).");
    }
    check_names(recordings.back(), path);
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
  const Json file = parse(contents(path), path).file;
  if (!file.contains("ConfigurationSpace")) return std::nullopt;
  InputFile input;
  input.kernel = text_in(part_of(file, "KernelSpecification"), "KernelName", "");
  for (const Json& parameter : part_of(part_of(file, "ConfigurationSpace"), "TuningParameters"))
    input.axes.push_back(text_in(parameter, "Name", ""));
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
  if (format == "t4") return t4_of(recording).dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  TextTable table({"template", "config", "verdict", "median_us", "compile_ms", "run_ms", "reason"});
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
    const std::map<SourceKey, KnownVerdict> known = store.known(
        session.device_id, problem, {caches_of(recording.caches), launches_of(recording.launches)});
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
      if (row.compile_ms > 0) measurement.compile_ms = row.compile_ms;
      if (row.run_ms > 0) measurement.wall_ms = row.run_ms;
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
