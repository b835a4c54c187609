// SPDX-License-Identifier: Apache-2.0
#include "cli/recordings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cli/json_recordings.h"
#include "cli/text_table.h"
#include "db/store.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/hash.h"
#include "generator/listed.h"
#include "generator/number_text.h"

namespace tunesmith {
namespace {

// "convolution_A6000_T4.json.gz" -> "convolution_A6000_T4"
std::string stem(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

bool ends_with(const std::filesystem::path& path, const std::string& ending) {
  const std::string name = path.filename().string();
  return name.ends_with(ending) || name.ends_with(ending + ".gz");
}

// Reads a number of a table's field; `where` names its line.
double number_of(const std::string& field, const char* column, const std::string& where) {
  if (field.empty()) return 0;
  if (const auto value = parsed_number<double>(field); value && std::isfinite(*value) && *value >= 0)
    return *value;
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

// Refuses names that cannot be read back from name=value: with blanks, "=" or quotes; and control characters.
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

// The cost that a search paid for a variant: later verdicts have its binary from the cache, and finals take
// longer.
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
  row.samples_us = result.samples_us;
  return row;
}

// Reads a database. Times under different caches or launches are different spaces; a failure counts for all
// of them.
std::vector<Recording> read_database(const std::filesystem::path& path, const QueryFilter& filter) {
  const Store store = Store::open(path, Store::Mode::read_only);
  QueryFilter with_history = filter;
  with_history.history = true;
  std::vector<ResultRow> results = store.results(with_history);
  const Costs costs(results);
  std::erase_if(results, [](const ResultRow& result) { return !result.is_current; });
  std::vector<Recording> spaces;
  std::vector<std::set<std::string>> configs;  // the configs of each space
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
  for (const ResultRow& result : results) {  // sorted by everything that identifies a space
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
    recordings.push_back(read_csv(unpacked(path), path));
    check_names(recordings.back(), path);
  } else if (ends_with(path, ".json")) {
    recordings.push_back(read_json_recording(path, stem(path)));
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
  return ends_with(path, ".json") ? read_t1(path) : std::nullopt;
}

std::string recording_text(const Recording& recording, const std::string& format) {
  if (format == "t4") return t4_text(recording);
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
    // Only the device's name is known, and no code is compiled for it.
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
