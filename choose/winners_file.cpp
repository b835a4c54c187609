// SPDX-License-Identifier: Apache-2.0
#include "choose/winners_file.h"

#include <algorithm>
#include <cctype>
#include <thread>
#include <tuple>

#include "choose/time_model.h"
#include "generator/csv.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "kernel_file/find_op.h"

namespace tunesmith {
namespace {

constexpr std::string_view devices_header =
    "file,kind,name,target,compute_capability,multiprocessors,memory_bytes,l2_bytes,"
    "shared_bytes_per_multiprocessor,max_threads_per_multiprocessor,max_shared_bytes_per_block";
constexpr std::string_view winners_header =
    "op,problem,template,config,alignment_bytes,caches,launches,objective,median_us,low_us,high_us,base_us,"
    "source_hash,toolchain,driver,measured_at";

template <typename Number>
Number number(const std::string& field, const std::string& where) {
  if (const auto value = parsed_number<Number>(field)) return *value;
  throw Error(where + " has \"" + field + "\" where a number belongs.");
}

std::string microseconds(double value) { return printed("%.3f", value); }

}  // namespace

bool stands_before(const WinnersFileRow& a, const WinnersFileRow& b) {
  const auto key = [](const WinnersFileRow& row) {
    return std::make_tuple(row.winner.device.kind, row.winner.device.name, row.winner.device.target,
                           row.winner.device.multiprocessors, row.winner.device.memory_bytes, row.winner.op,
                           row.winner.problem.text(), row.alignment_bytes);
  };
  return key(a) < key(b);
}

namespace {

std::string line(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(fields[i]);
  return text + "\n";
}

// "NVIDIA H200" -> "nvidia_h200"
std::string in_file_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter < 128 && std::isalnum(letter) != 0) {
      text += static_cast<char>(std::tolower(letter));
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  return text.empty() ? "device" : text;
}

std::vector<std::string> fields_of(const DeviceFacts& device) {
  return {std::string(to_text(device.kind)),
          device.name,
          device.target,
          std::to_string(device.compute_capability),
          std::to_string(device.multiprocessors),
          std::to_string(device.memory_bytes)};
}

// Returns the name of the device's file; if several devices have its name, with the facts that distinguish
// it.
std::string file_of(const DeviceFacts& device, const std::vector<DeviceFacts>& all) {
  const auto is_other = [&](const DeviceFacts& its) {
    return in_file_name(its.name) == in_file_name(device.name) && !same_model(its, device);
  };
  std::string name = in_file_name(device.name);
  if (std::any_of(all.begin(), all.end(), is_other)) {
    name += "_" + in_file_name(device.target) + "_" + std::to_string(device.multiprocessors) + "_" +
            std::to_string(device.memory_bytes);
  }
  return name;
}

std::vector<DeviceFacts> devices_of(const std::vector<WinnersFileRow>& rows,
                                    const std::vector<DeviceTable>& tables) {
  std::vector<DeviceFacts> devices;
  const auto add = [&](const DeviceFacts& device) {
    const auto known = std::find_if(devices.begin(), devices.end(),
                                    [&](const DeviceFacts& other) { return same_model(other, device); });
    if (known == devices.end()) {
      devices.push_back(device);
    } else if (known->l2_bytes == 0) {  // the row comes from a file without it
      *known = device;
    }
  };
  for (const WinnersFileRow& row : rows) add(row.winner.device);
  for (const DeviceTable& one : tables) add(one.device);
  std::sort(devices.begin(), devices.end(), [](const DeviceFacts& a, const DeviceFacts& b) {
    return std::tie(a.kind, a.name, a.target, a.multiprocessors, a.memory_bytes) <
           std::tie(b.kind, b.name, b.target, b.multiprocessors, b.memory_bytes);
  });
  return devices;
}

// Returns the lines after the header; `name` is for error messages.
std::vector<std::vector<std::string>> lines_of(std::string_view text, std::string_view name,
                                               std::string_view header) {
  std::vector<std::vector<std::string>> lines;
  const std::size_t columns = csv_fields(header).size();
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string where = "Line " + std::to_string(number) + " of " + std::string(name);
    if (number == 1) {
      if (line != header) throw Error(where + " is not the header \"" + std::string(header) + "\".");
      continue;
    }
    lines.push_back(csv_fields(line));
    if (lines.back().size() != columns) {
      throw Error(where + " has " + std::to_string(lines.back().size()) + " fields; it needs " +
                  std::to_string(columns) + ".");
    }
    lines.back().push_back(where);
  }
  return lines;
}

}  // namespace

Texts write_winners(std::vector<WinnersFileRow> rows, const std::vector<DeviceTable>& tables) {
  std::sort(rows.begin(), rows.end(), stands_before);
  const std::vector<DeviceFacts> all = devices_of(rows, tables);
  Texts texts;
  std::string& devices = texts[std::string(devices_file)] = std::string(devices_header) + "\n";
  for (const DeviceFacts& device : all) {
    std::vector<std::string> fields = fields_of(device);
    const std::string name = file_of(device, all);
    texts[name + ".csv"] = std::string(winners_header) + "\n";
    fields.insert(fields.begin(), name);
    for (const std::int64_t fact :
         {device.l2_bytes, device.shared_bytes_per_multiprocessor,
          std::int64_t{device.max_threads_per_multiprocessor}, device.max_shared_bytes_per_block})
      fields.push_back(std::to_string(fact));
    devices += line(fields);
  }
  for (const DeviceTable& one : tables)
    texts[timing_table_file(file_of(one.device, all), one.table.op)] = write_timing_table(one.table);
  for (const WinnersFileRow& row : rows) {
    const Candidate& winner = row.winner;
    std::string& file = texts.at(file_of(winner.device, all) + ".csv");
    file += line({winner.op, winner.problem.text(), winner.template_name, winner.config.text(),
                  std::to_string(row.alignment_bytes), std::string(to_text(winner.conditions.caches)),
                  std::string(to_text(winner.conditions.launches)),
                  std::string(to_text(winner.conditions.objective)), microseconds(winner.median_us),
                  microseconds(winner.low_us), microseconds(winner.high_us), microseconds(row.base_us),
                  winner.source_hash, row.toolchain, row.driver, row.measured_at});
  }
  return texts;
}

StoredTable stored_table(const DeviceFacts& device, const TimingTable& table) {
  StoredTable stored{write_timing_table(table), write_factors(table)};
  TimingTable written = read_timing_table(stored.text, "the table of " + table.op);
  read_factors(stored.factors, written);
  const Op& op = find_op(table.op);
  if (written.solved_from == solution_key(op, written)) return stored;
  solve_table(op, device, written, std::max(1u, std::thread::hardware_concurrency()));
  stored.factors = write_factors(written);
  return stored;
}

Texts write_solved_winners(const std::vector<WinnersFileRow>& rows, const std::vector<DeviceTable>& tables) {
  Texts texts = write_winners(rows, tables);
  const std::vector<DeviceFacts> all = devices_of(rows, tables);
  for (const DeviceTable& one : tables)
    texts[factors_file(file_of(one.device, all), one.table.op)] = stored_table(one.device, one.table).factors;
  return texts;
}

namespace {

// Returns the devices with the names of their files.
std::vector<std::pair<DeviceFacts, std::string>> devices_in(
    const std::function<std::string(std::string_view name)>& file) {
  std::vector<std::pair<DeviceFacts, std::string>> devices;
  for (const auto& entry : lines_of(file(devices_file), devices_file, devices_header)) {
    const std::string& where = entry.back();
    DeviceFacts device;
    device.kind = device_kind_of(entry[1]);
    device.name = entry[2];
    device.target = entry[3];
    device.compute_capability = number<int>(entry[4], where);
    device.multiprocessors = number<int>(entry[5], where);
    device.memory_bytes = number<std::int64_t>(entry[6], where);
    device.l2_bytes = number<std::int64_t>(entry[7], where);
    device.shared_bytes_per_multiprocessor = number<std::int64_t>(entry[8], where);
    device.max_threads_per_multiprocessor = number<int>(entry[9], where);
    device.max_shared_bytes_per_block = number<std::int64_t>(entry[10], where);
    devices.emplace_back(std::move(device), entry[0]);
  }
  return devices;
}

}  // namespace

std::vector<WinnersFileRow> read_winners(const std::function<std::string(std::string_view name)>& file) {
  std::vector<WinnersFileRow> rows;
  for (const auto& [device, device_name] : devices_in(file)) {
    const std::string name = device_name + ".csv";
    for (const auto& fields : lines_of(file(name), name, winners_header)) {
      WinnersFileRow row;
      Candidate& winner = row.winner;
      winner.origin = Candidate::Origin::built_in;
      winner.device = device;
      winner.op = fields[0];
      winner.problem = Problem::parse(fields[1]);
      winner.template_name = fields[2];
      winner.config = Values::parse(fields[3]);
      row.alignment_bytes = number<std::int64_t>(fields[4], fields.back());
      winner.conditions = {caches_of(fields[5]), launches_of(fields[6]), objective_of(fields[7])};
      winner.median_us = number<double>(fields[8], fields.back());
      winner.low_us = number<double>(fields[9], fields.back());
      winner.high_us = number<double>(fields[10], fields.back());
      row.base_us = number<double>(fields[11], fields.back());
      winner.source_hash = fields[12];
      row.toolchain = fields[13];
      row.driver = fields[14];
      row.measured_at = fields[15];
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string timing_table_file(std::string_view device, std::string_view op) {
  return std::string(device) + "." + std::string(op) + ".csv";
}

std::string factors_file(std::string_view device, std::string_view op) {
  return std::string(device) + "." + std::string(op) + ".factors";
}

std::vector<UnreadTable> timing_tables(const std::function<std::string(std::string_view name)>& file,
                                       std::span<const Op> ops) {
  std::vector<UnreadTable> tables;
  for (const auto& entry : devices_in(file)) {
    for (const Op& op : ops) {
      const std::string path = timing_table_file(entry.second, op.name);
      if (file(path).empty()) continue;
      const std::string factors = factors_file(entry.second, op.name);
      tables.push_back({entry.first, op.name, [file, path, factors, device = entry.first] {
                          DeviceTable table{device, read_timing_table(file(path), path)};
                          read_factors(file(factors), table.table);
                          return table;
                        }});
    }
  }
  return tables;
}

std::vector<DeviceTable> read_timing_tables(const std::function<std::string(std::string_view name)>& file,
                                            std::span<const Op> ops) {
  std::vector<DeviceTable> tables;
  for (const UnreadTable& table : timing_tables(file, ops)) tables.push_back(table.read());
  return tables;
}

void complete_factors(const DeviceFacts& device, TimingTable& table) {
  const Op& op = find_op(table.op);
  if (table.solved_from != solution_key(op, table)) solve_table(op, device, table);
}

std::vector<Candidate> candidates_of(DeviceTable read) {
  TimingTable& table = read.table;
  complete_factors(read.device, table);
  const Op& op = find_op(table.op);
  std::vector<std::shared_ptr<const Problem>> problems;
  for (const TimingTable::Anchor& anchor : table.anchors) {
    Problem problem = complete_problem(op, anchor.problem);
    problem.forget_derived();  // the ranking needs its sizes only once
    problems.push_back(std::make_shared<const Problem>(std::move(problem)));
  }
  const auto weights = std::make_shared<const Weights>(table.weights);
  std::vector<Candidate> candidates;
  for (std::size_t v = 0; v < table.variants.size(); ++v) {
    const TimingTable::Variant& variant = table.variants[v];
    Candidate& candidate = candidates.emplace_back();
    candidate.origin = Candidate::Origin::built_in;
    candidate.device = read.device;
    candidate.op = op.name;
    candidate.template_name = variant.template_name;
    candidate.config = variant.config;
    candidate.weights = weights;
    candidate.times.reserve(problems.size());
    for (std::size_t a = 0; a < problems.size(); ++a) {
      const TimingTable::Anchor& anchor = table.anchors[a];
      if (anchor.us[v] <= 0) continue;
      candidate.times.emplace_back(Candidate::Time{problems[a], anchor.us[v], anchor.best_us,
                                                   anchor.factor[v], anchor.best_factor,
                                                   anchor.launch.empty() ? LaunchShape() : anchor.launch[v]});
    }
    candidate.fault = fault_of(op, variant);
  }
  return candidates;
}

std::vector<std::string> tuned_devices(std::string_view devices_csv) {
  std::vector<std::string> names;
  for (const auto& entry : lines_of(devices_csv, devices_file, devices_header)) names.push_back(entry[0]);
  return names;
}

}  // namespace tunesmith
