// SPDX-License-Identifier: Apache-2.0
#include "choose/launch_set.h"

#include <cmath>
#include <utility>

namespace tunesmith {
namespace {

using Kind = LaunchKernel::Kind;

// The slowdown against the best (a logarithm) above which the base gives way to a default that a template
// names without measurements, if that is available.
const double too_slow = std::log(2.5);

// True if a choice may replace one with this match and rank, so that it is preferred to a config without
// measurements.
bool is_near(const Choice& choice, Match match, double cautious) {
  return choice.match <= match && choice.cautious <= cautious + (choice.match == Match::exact ? 1 : 0.25);
}

// Returns the first legal neighbour of `config` whose pointers need at most an alignment of `bytes`.
std::optional<Config> narrower(const Template& tmpl, const Problem& problem, const DeviceFacts& device,
                               const Values& config, std::int64_t bytes) {
  for (const Config& neighbour : tmpl.space(problem, device).neighbours(config)) {
    if (alignment_bytes(tmpl, problem, neighbour) <= bytes &&
        reentrant(tmpl.work(problem, neighbour, device)))
      return neighbour;
  }
  return std::nullopt;
}

LaunchKernel kernel_of(Kind kind, const Op& op, const Choices& choices, const Choice& choice,
                       std::size_t place) {
  return {kind, &find_template(op, choices.candidate_of(choice).template_name), choice.config, choice, place};
}

}  // namespace

std::optional<LaunchKernel> first_kernel(const Op& op, Choices& choices, const Problem& problem,
                                         const DeviceFacts& device, std::optional<std::size_t> favourite,
                                         const std::function<bool(const LaunchKernel&)>& can_be_had) {
  const auto in_turn = [&](std::size_t i) {
    return !favourite || i > *favourite ? i : i == 0 ? *favourite : i - 1;
  };
  const auto from_untuned = [&](Kind kind) -> std::optional<LaunchKernel> {
    for (UntunedVariant& guess : untuned(op, problem, device)) {
      LaunchKernel kernel{kind, guess.tmpl, std::move(guess.config), std::nullopt, 0};
      if (can_be_had(kernel)) return kernel;
    }
    return std::nullopt;
  };
  for (std::size_t i = 0; const Choice* choice = choices.at(in_turn(i)); ++i) {
    LaunchKernel kernel = kernel_of(Kind::choice, op, choices, *choice, in_turn(i));
    if (!can_be_had(kernel)) continue;
    if (i > 0 && kernel.tmpl == &op.templates.front() && kernel.choice->cautious > too_slow)
      if (auto better = from_untuned(Kind::instead_of_base)) return better;
    return kernel;
  }
  if (auto guess = from_untuned(Kind::untuned)) return guess;
  LaunchKernel base{Kind::base, &op.templates.front(), base_config(op, problem, device), std::nullopt, 0};
  return can_be_had(base) ? std::optional(std::move(base)) : std::nullopt;
}

std::optional<LaunchKernel> unaligned_kernel(const Op& op, Choices& choices, const Problem& problem,
                                             const DeviceFacts& device, const FirstKernel& first,
                                             const UnalignedRequest& request) {
  using Answer = UnalignedRequest::Answer;
  const std::int64_t any = element_alignment(op, problem);
  std::optional<LaunchKernel> found;
  const auto is_over = [&](LaunchKernel kernel) {
    const Answer answer = request.ask(kernel);
    if (answer == Answer::yes) found = std::move(kernel);
    return answer != Answer::no;
  };
  const auto among_choices = [&](bool near) {
    const auto wanted = [&](const Choice& choice) {
      const bool is_passed_over = request.passes_over && request.passes_over(choice);
      return !is_passed_over && choice.alignment_bytes <= any &&
             is_near(choice, first.match, first.cautious) == near;
    };
    for (std::size_t i = 0; const Choice* choice = choices.find(i, wanted); ++i)
      if (is_over(kernel_of(near ? Kind::choice : Kind::next_choice, op, choices, *choice, i))) return true;
    return false;
  };
  if (among_choices(true)) return found;
  if (!request.only_choices) {
    if (auto config = narrower(*first.tmpl, problem, device, first.config, any))
      if (is_over({Kind::narrowed, first.tmpl, std::move(*config), std::nullopt, 0})) return found;
  }
  among_choices(false);
  return found;
}

LaunchSet launch_set(const Op& op, const Chooser& chooser, const Problem& problem,
                     const DeviceFacts& device) {
  Choices choices(chooser, problem, true);
  LaunchSet set{*first_kernel(op, choices, problem, device, {}, [](const LaunchKernel&) { return true; }),
                {}};
  const LaunchKernel& first = set.first;
  if (alignment_bytes(*first.tmpl, problem, first.config) <= element_alignment(op, problem)) return set;
  const FirstKernel known = first.choice ? FirstKernel{first.tmpl, first.config.values(), first.choice->match,
                                                       first.choice->cautious}
                                         : FirstKernel{first.tmpl, first.config.values()};
  set.unaligned =
      unaligned_kernel(op, choices, problem, device, known,
                       {.ask = [](const LaunchKernel&) { return UnalignedRequest::Answer::yes; }});
  return set;
}

}  // namespace tunesmith
