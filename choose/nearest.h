// SPDX-License-Identifier: Apache-2.0
// Finds the nearest legal config if the wanted one is not legal. Dispatch and the tuner's search use it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "generator/op.h"
#include "generator/space.h"

namespace tunesmith {

/// A measure of distance between configs. Two numbers are as far apart as the octaves between them, plus
/// `unequal`.
struct Nearness {
  int most_axes = 1;      ///< the number of axes that may change, in addition to conditional ones: 1, or 2
  double unequal = 1e-3;  ///< makes 0 and 1 differ too
  double other_word = 100;
};
/// For a config that is used without having been measured: only one number may change.
inline constexpr Nearness one_number = {};
/// For a guess that will be measured. The values may come from an earlier version: values of missing axes are
/// left out, others are moved onto their axis, and new axes get a promising value.
inline constexpr Nearness a_guess = {.most_axes = 2, .unequal = 0.1, .other_word = 1};

/// Returns these values if they are legal, else the nearest legal config; nothing if more axes would have to
/// change.
std::optional<Config> nearest_legal(const Space& space, const Values& values, const Nearness& nearness);

/// Returns the config that another problem's config is in this space: each number moves to the nearest on its
/// axis, then the space's translation changes values, then axes that have no effect take their one value. If
/// a rule is still broken, the nearest legal config with one axis changed; nothing if there is none. A legal
/// config stays as it is unless the translation says that its values have no meaning beyond its problem.
std::optional<Config> adapted(const Space& space, const Values& values);

/// A variant for a problem without a usable candidate: the default config of a template that is sensible
/// without measurements and serves the problem on the device. untuned() returns them in the op's order; a
/// later one serves if the earlier ones are not there. Empty: only the base is left.
struct UntunedVariant {
  const Template* tmpl;
  Config config;
};
std::vector<UntunedVariant> untuned(const Op& op, const Problem& problem, const DeviceFacts& device);

/// The first of untuned().
std::optional<UntunedVariant> first_guess(const Op& op, const Problem& problem, const DeviceFacts& device);

/// The config of each way of each template (Template::ways) that has one for the problem on the device.
std::vector<UntunedVariant> ways(const Op& op, const Problem& problem, const DeviceFacts& device);

/// A template's name and config in a table stand for one config on each problem: config_on() returns it, for
/// the template's space of the problem. Of an op with kinds it is what the values are adapted to; or, if they
/// are a way of the template (Template::ways), its config for the problem; or, without values, the first of
/// untuned() if that is of this template: where another template comes first, a guess means nothing. Of
/// another op it is the config with the same values, if that is legal.
std::optional<Config> config_on(const Op& op, const Template& tmpl, const Problem& problem,
                                const DeviceFacts& device, const Space& space, const Values& values);

/// True if a table's variant is the first of untuned(), where that is of its template.
bool is_guess(const Op& op, std::string_view template_name, const Values& values);

/// True if a table's variant is a way of its template.
bool is_way(const Op& op, std::string_view template_name, const Values& values);

/// True if it is one of both: its template names its config for each problem.
bool is_guess_or_way(const Op& op, std::string_view template_name, const Values& values);

}  // namespace tunesmith
