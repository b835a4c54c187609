// SPDX-License-Identifier: Apache-2.0
// Names of a variant and its problem that several folders share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "generator/op.h"

namespace tunesmith {

/// The data that determine a variant's text and its launch.
struct VariantSpec {
  const Op& op;
  const Template& tmpl;
  const Problem& problem;
  const Config& config;
  std::string config_text = config.text();
};

/// A key of the data that determine a source's text for one target.
std::string key_of(const VariantSpec& spec);

/// A variant and its problem, which the struct owns.
struct PackedVariant {
  const Op* op = nullptr;
  const Template* tmpl = nullptr;
  Problem problem;
  Config config;
  VariantSpec spec() const { return {*op, *tmpl, problem, config}; }
};

/// A template and a config, for any problem.
struct NamedVariant {
  std::string template_name, config;
  bool operator==(const NamedVariant&) const = default;
};
using VariantLists = std::map<std::string, std::vector<NamedVariant>>;  ///< by the problem's text

/// A winner that the library was built with; it is a candidate of every run on its op.
struct BuiltIn {
  std::string op, problem, template_name, config;
};

}  // namespace tunesmith
