// SPDX-License-Identifier: Apache-2.0
#include "generator/rates.h"

#include <algorithm>

#include "generator/csv.h"
#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/render.h"
#include "generator/same_model.h"

namespace tunesmith {

const Files& rates_files();  // written by the build

double Rates::value(std::string_view op, std::string_view name) const {
  const auto found = std::find_if(rates.begin(), rates.end(),
                                  [&](const Rate& rate) { return rate.op == op && rate.name == name; });
  if (found == rates.end())
    throw Error("The rates of " + device.name + " have no rate " + std::string(op) + " " + std::string(name) +
                ".");
  return found->value;
}

bool Rates::has(std::string_view op) const {
  return std::any_of(rates.begin(), rates.end(), [&](const Rate& rate) { return rate.op == op; });
}

std::string write_rates(const Rates& rates) {
  std::string text = "device," + csv_field(rates.device.name) + "," + rates.device.target + "," +
                     std::to_string(rates.device.multiprocessors) + "\n";
  for (const std::string& origin : rates.origins) text += "from," + csv_field(origin) + "\n";
  for (const Rate& rate : rates.rates)
    text += "rate," + rate.op + "," + csv_field(rate.name) + "," + ShortestText(rate.value).string() + "," +
            csv_field(rate.unit) + "\n";
  return text;
}

Rates read_rates(std::string_view text, std::string_view where) {
  Rates read;
  for (int number = 1; !text.empty(); ++number) {
    const std::vector<std::string> fields = csv_fields(take_csv_record(text));
    const auto is = [&](std::string_view kind, std::size_t count) {
      return fields.front() == kind && fields.size() == count;
    };
    const auto multiprocessors = is("device", 4) ? parsed_number<int>(fields[3]) : std::nullopt;
    const auto value = is("rate", 5) ? parsed_number<double>(fields[3]) : std::nullopt;
    if (multiprocessors) {
      read.device.kind = DeviceKind::cuda;
      read.device.name = fields[1];
      read.device.target = fields[2];
      read.device.multiprocessors = *multiprocessors;
    } else if (is("from", 2)) {
      read.origins.push_back(fields[1]);
    } else if (value && *value > 0) {
      read.rates.push_back({fields[1], fields[2], *value, fields[4]});
    } else {
      throw Error("Line " + std::to_string(number) + " of " + std::string(where) +
                  " is none of device,NAME,TARGET,MULTIPROCESSORS; from,SENTENCE; and "
                  "rate,OP,NAME,VALUE,UNIT with a value above 0.");
    }
  }
  return read;
}

const Rates& rates_of(std::string_view op, const DeviceFacts& device) {
  static const std::vector<Rates>& all = *[] {  // never destroyed, as the texts
    auto* const made = new std::vector<Rates>;
    for (const auto& [name, text] : rates_files()) made->push_back(read_rates(text, name));
    return made;
  }();
  const Rates* nearest = nullptr;
  for (const Rates& one : all) {
    if (!one.has(op)) continue;
    if (same_model(one.device, device)) return one;
    if (nearest == nullptr || unlikeness(one.device, device) < unlikeness(nearest->device, device))
      nearest = &one;
  }
  if (nearest == nullptr) throw Error("No file of rates has rates of " + std::string(op) + ".");
  return *nearest;
}

}  // namespace tunesmith
