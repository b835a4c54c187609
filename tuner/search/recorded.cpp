// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/recorded.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <variant>

#include "generator/error.h"
#include "generator/random.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_axes = 24;  // of a Space

std::vector<std::string> names_of(const Values& config) {
  std::vector<std::string> names;
  for (const auto& entry : config.entries()) names.push_back(entry.first);
  return names;
}

// Integers are in their order, texts as they come. An axis that has both is categorical.
std::vector<Axis> axes_of(const std::vector<RecordedRow>& rows, const std::vector<std::string>& names) {
  std::vector<Axis> axes;
  for (const std::string& name : names) {
    std::vector<Value> values;
    bool is_categorical = false;
    for (const RecordedRow& row : rows) {
      const Value& value = *row.config.find(name);
      is_categorical = is_categorical || value.index() == 1;
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    }
    if (!is_categorical) std::sort(values.begin(), values.end());
    if (is_categorical) {
      for (Value& value : values) value = to_text(value);
    }
    axes.emplace_back(name, std::move(values), "recorded");
  }
  if (axes.size() > most_axes) std::erase_if(axes, [](const Axis& axis) { return axis.values.size() < 2; });
  return axes;
}

std::size_t place_of(const Axis& axis, const Value& value) {
  const bool is_categorical = axis.values.front().index() == 1;
  const Value wanted = is_categorical ? Value(to_text(value)) : value;
  return static_cast<std::size_t>(std::find(axis.values.begin(), axis.values.end(), wanted) -
                                  axis.values.begin());
}

// The hash of a config, or of its beginning, with one more axis. It is a mix of bits, because the number of a
// config in its space may need more than 64 bits.
std::uint64_t hash_with(std::uint64_t beginning, std::size_t index) {
  return Random(beginning ^ (index + 1)).next();
}

// By depth: the hashes of the beginnings of recorded configs. They prune a walk at each axis.
using Beginnings = std::vector<std::unordered_set<std::uint64_t>>;

Space space_of(const std::vector<Axis>& axes, const std::shared_ptr<const Beginnings>& beginnings,
               std::vector<Rule> worth) {
  auto kept = std::make_shared<std::vector<Axis>>(axes);  // for the handles' names
  std::vector<Rule> recorded;
  for (std::size_t depth = 0; depth < axes.size(); ++depth) {
    const IntegerAxis integer((*kept)[depth].name);
    const CategoricalAxis category((*kept)[depth].name);
    const bool is_categorical = axes[depth].values.front().index() == 1;
    recorded.push_back({"It was recorded.", [=, names = kept](const Config& config) {
                          // A walk that has not come to this axis yet then waits for this axis alone.
                          is_categorical ? void(config[category]) : void(config[integer]);
                          if (!config.is_chosen(depth)) return true;
                          std::uint64_t hash = 0;
                          for (std::size_t axis = 0; axis <= depth; ++axis)
                            hash = hash_with(hash, config.index(axis));
                          return (*beginnings)[depth].contains(hash);
                        }});
  }
  return Space(axes, std::move(recorded), std::move(worth));
}

}  // namespace

RecordedSpace::RecordedSpace(const Recording& recording,
                             const std::function<std::vector<Rule>(const std::string&)>& worth) {
  std::map<std::string, std::vector<RecordedRow>> by_template;
  for (const RecordedRow& row : recording.rows) {
    std::vector<RecordedRow>& rows = by_template[row.template_name];
    if (rows.empty()) templates_.push_back(row.template_name);
    rows.push_back(row);
  }
  for (std::size_t index = 0; index < templates_.size(); ++index) {
    std::vector<RecordedRow>& rows = by_template[templates_[index]];
    std::map<std::vector<std::string>, std::size_t> counts;
    for (const RecordedRow& row : rows) ++counts[names_of(row.config)];
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    left_out_ +=
        std::erase_if(rows, [&](const RecordedRow& row) { return names_of(row.config) != most->first; });
    const std::vector<Axis> axes = axes_of(rows, most->first);
    auto beginnings = std::make_shared<Beginnings>(axes.size());
    std::map<std::uint64_t, RecordedRow>& hashed = rows_.emplace_back();
    for (RecordedRow& row : rows) {
      std::uint64_t hash = 0;
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        hash = hash_with(hash, place_of(axes[axis], *row.config.find(axes[axis].name)));
        (*beginnings)[axis].insert(hash);
      }
      hashed.insert_or_assign(hash, std::move(row));
    }
    for (const auto& [hash, row] : hashed) {
      if (row.verdict == Verdict::ok && (best_us_ == 0 || row.median_us < best_us_)) best_us_ = row.median_us;
    }
    size_ += hashed.size();
    space_.parts.push_back(
        {index,
         space_of(axes, beginnings, worth ? worth(templates_[index]) : std::vector<Rule>()),
         {static_cast<double>(hashed.size())},
         templates_[index]});
  }
}

const RecordedRow& RecordedSpace::row(const Point& point) const {
  std::uint64_t hash = 0;
  for (std::size_t axis = 0; axis < point.config.axes().size(); ++axis)
    hash = hash_with(hash, point.config.index(axis));
  return rows_[point.template_index].at(hash);
}

}  // namespace tunesmith
