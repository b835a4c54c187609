// SPDX-License-Identifier: Apache-2.0
#include "choose/launch_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace tunesmith {
namespace {

using Reason = LaunchKernel::Reason;

// The slowdown against the best (a logarithm) above which the base gives way to a default that a template
// names without measurements, if that is available.
const double too_slow = std::log(2.5);

constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();

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

LaunchKernel kernel_of(Reason reason, const Op& op, const Choices& choices, const Choice& choice,
                       std::size_t place) {
  return {reason, &find_template(op, choices.candidate_of(choice).template_name), choice.config, choice,
          place};
}

// The configs that stand in for choices which are not available.
class StandIns {
 public:
  StandIns(const Op& op, const Problem& problem, const DeviceFacts& device, const ReadyConfigs& ready)
      : op_(op), problem_(problem), device_(device), ready_(ready) {}

  // Adds those that are near a choice.
  void add(const Template& tmpl, const Choice& choice) {
    const std::vector<Config>& configs = legal(tmpl);
    if (configs.empty()) return;
    const double by_octave = loss_by_octave(device_);
    for (const Config& config : configs) {
      const double loss = by_octave * octaves_apart(choice.config, config);
      const double cautious = choice.cautious + loss;
      const auto known = std::find_if(found_.begin(), found_.end(), [&](const LaunchKernel& one) {
        return one.tmpl == &tmpl && one.config == config;
      });
      if (known != found_.end() && known->choice->cautious <= cautious) continue;
      LaunchKernel& its = known != found_.end() ? *known : found_.emplace_back();
      its = {Reason::stand_in, &tmpl, config, choice, no_place};
      its.choice->config = config;
      its.choice->must_compile = false;
      its.choice->cautious = cautious;
      its.choice->expected_us *= std::exp(loss);
      its.choice->expected_loss = (1 + choice.expected_loss) * std::exp(loss) - 1;
    }
  }

  // Takes the best one, if it is expected to be faster than `cautious`.
  std::optional<LaunchKernel> take(double cautious) {
    const auto best = std::min_element(
        found_.begin(), found_.end(),
        [](const LaunchKernel& a, const LaunchKernel& b) { return a.choice->cautious < b.choice->cautious; });
    if (best == found_.end() || best->choice->cautious >= cautious) return std::nullopt;
    std::optional<LaunchKernel> taken = std::move(*best);
    found_.erase(best);
    return taken;
  }

 private:
  // The template's configs with a binary for the problem.
  const std::vector<Config>& legal(const Template& tmpl) {
    const auto [its, is_new] = legal_.try_emplace(&tmpl);
    const auto configs = ready_.find(tmpl.name);
    if (!is_new || configs == ready_.end()) return its->second;
    const std::string constants = compiled_in(op_, tmpl, problem_).text();
    std::optional<Space> space;
    for (const ReadyConfig& one : configs->second) {
      if (one.constants != constants) continue;
      if (!space) space = tmpl.space(problem_, device_);
      std::optional<Config> config = space->find(one.config);
      if (!config) continue;
      const Work work = tmpl.work(problem_, *config, device_);
      if (reentrant(work) && !exceeds(work, device_)) its->second.push_back(std::move(*config));
    }
    return its->second;
  }

  const Op& op_;
  const Problem& problem_;
  const DeviceFacts& device_;
  const ReadyConfigs& ready_;
  std::map<const Template*, std::vector<Config>> legal_;
  std::vector<LaunchKernel> found_;
};

}  // namespace

std::optional<LaunchKernel> first_kernel(const Op& op, Choices& choices, const Problem& problem,
                                         const DeviceFacts& device, std::optional<std::size_t> favourite,
                                         const std::function<bool(const LaunchKernel&)>& can_be_had,
                                         const ReadyConfigs& ready) {
  const auto in_turn = [&](std::size_t i) {
    return !favourite || i > *favourite ? i : i == 0 ? *favourite : i - 1;
  };
  const auto from_untuned = [&](Reason reason) -> std::optional<LaunchKernel> {
    for (UntunedVariant& guess : untuned(op, problem, device)) {
      LaunchKernel kernel{reason, guess.tmpl, std::move(guess.config), std::nullopt, 0};
      if (can_be_had(kernel)) return kernel;
    }
    return std::nullopt;
  };
  StandIns near(op, problem, device, ready);
  const auto stand_in = [&](double cautious) {
    std::optional<LaunchKernel> one = near.take(cautious);
    while (one && !can_be_had(*one)) one = near.take(cautious);
    return one;
  };
  for (std::size_t i = 0; const Choice* choice = choices.at(in_turn(i)); ++i) {
    LaunchKernel kernel = kernel_of(Reason::choice, op, choices, *choice, in_turn(i));
    if (auto better = stand_in(kernel.choice->cautious)) return better;
    if (!can_be_had(kernel)) {
      near.add(*kernel.tmpl, *kernel.choice);
      continue;
    }
    if (i > 0 && kernel.tmpl == &op.templates.front() && kernel.choice->cautious > too_slow)
      if (auto better = from_untuned(Reason::instead_of_base)) return better;
    return kernel;
  }
  if (auto better = stand_in(std::numeric_limits<double>::infinity())) return better;
  if (auto guess = from_untuned(Reason::untuned)) return guess;
  LaunchKernel base{Reason::base, &op.templates.front(), base_config(op, problem, device), std::nullopt, 0};
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
      if (is_over(kernel_of(near ? Reason::choice : Reason::next_choice, op, choices, *choice, i)))
        return true;
    return false;
  };
  if (among_choices(true)) return found;
  if (!request.only_choices) {
    if (auto config = narrower(*first.tmpl, problem, device, first.config, any))
      if (is_over({Reason::narrowed, first.tmpl, std::move(*config), std::nullopt, 0})) return found;
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
