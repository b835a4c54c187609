// SPDX-License-Identifier: Apache-2.0
#include "generator/config.h"

#include <algorithm>
#include <variant>

#include "generator/error.h"

namespace tunesmith {

std::span<const Axis> Config::axes() const {
  return axes_ ? std::span<const Axis>(axes_->list) : std::span<const Axis>();
}

const Value& Config::value(std::size_t axis) const { return axes_->list[axis].values[index(axis)]; }

std::size_t Config::position(const AxisHandle& axis) const {
  const std::size_t count = axes_ ? axes_->hashes.size() : 0;
  std::size_t at = count == 0 ? 0 : axes_->places[axis.hash % axes_->places.size()];
  for (std::size_t seen = 0; seen < count; ++seen, at = at + 1 < count ? at + 1 : 0) {
    if (axes_->hashes[at] != axis.hash) continue;
    return at;
  }
  throw Error("The config \"" + text() + "\" has no axis " + std::string(axis.name) + ".");
}

std::int64_t Config::operator[](const IntegerAxis& axis) const {
  const Value& found = value(position(axis));
  const auto* integer = std::get_if<std::int64_t>(&found);
  if (integer == nullptr)
    throw Error("The values of the axis " + std::string(axis.name) + " are not integers.");
  return *integer;
}

const std::string& Config::operator[](const CategoricalAxis& axis) const {
  const Value& found = value(position(axis));
  const auto* word = std::get_if<std::string>(&found);
  if (word == nullptr) throw Error("The values of the axis " + std::string(axis.name) + " are not words.");
  return *word;
}

Values Config::values() const {
  Values values;
  for (std::size_t at = 0; at < axes().size(); ++at) values.set(axes()[at].name, value(at));
  return values;
}

std::string Config::text() const {
  std::string text;
  for (std::size_t at = 0; at < axes().size(); ++at) append(text, axes()[at].name, value(at));
  return text;
}

bool Config::operator==(const Config& other) const {
  return axes_ == other.axes_ ? chosen_ == other.chosen_ : values() == other.values();
}

}  // namespace tunesmith
