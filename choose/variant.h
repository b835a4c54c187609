// SPDX-License-Identifier: Apache-2.0
// A variant and the problem that it is for, as several rooms name it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// What decides a variant's text, and what it launches.
struct VariantSpec {
  const Op& op;
  const Template& tmpl;
  const Problem& problem;
  const Config& config;
  std::string config_text = config.text();
};

/// What decides a source's text for one target.
std::string key_of(const VariantSpec& spec);

/// A variant for a problem that it holds.
struct PackedVariant {
  const Op* op = nullptr;
  const Template* tmpl = nullptr;
  Problem problem;
  Config config;
  VariantSpec spec() const { return {*op, *tmpl, problem, config}; }
};

/// A template and a config, for whatever problem.
struct NamedVariant {
  std::string template_name, config;
  bool operator==(const NamedVariant&) const = default;
};
using VariantLists = std::map<std::string, std::vector<NamedVariant>>;  ///< by the text of a problem

/// A winner that the library was built with: a candidate of every run on its op.
struct BuiltIn {
  std::string op, problem, template_name, config;
};

}  // namespace tunesmith
