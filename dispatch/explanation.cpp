// SPDX-License-Identifier: Apache-2.0
#include "dispatch/explanation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "dispatch/packed.h"
#include "dispatch/source.h"
#include "generator/error.h"
#include "generator/listed.h"
#include "generator/number_text.h"
#include "generator/shell.h"
#include "generator/target.h"

namespace tunesmith {
namespace {

std::string percent(double part) { return std::to_string(std::lround(100 * part)) + " %"; }

std::string expected(const Choice& choice) {
  return std::string(name(choice.match)) +
         (choice.expected_us > 0 ? ", " + rounded(choice.expected_us) + " us expected" : "");
}

std::string changed_to(const std::string& changed) {
  return changed.empty() ? "" : ", changed to " + changed + " to be legal for this problem";
}

}  // namespace

std::string rounded(double value) { return printed("%.2f", value); }

std::vector<std::string> why_used(const SelectionContext& context, const Op& op, const Problem& problem,
                                  const Candidate* used) {
  std::vector<std::string> say;
  const SelectionContext::OpContext& known = context.of(op);
  for (const Candidate& candidate : known.candidates)
    if (candidate.template_name.empty()) say.push_back(candidate.fault);  // a fault of a whole table
  const Chooser& chooser = known.chooser;
  Choices choices(chooser, problem, context.may_compile);
  const auto candidate_of = [&](const Choice& choice) { return &known.candidates[choice.candidate]; };
  std::size_t i = 0;
  const Choice* choice = choices.at(0);
  while (choice != nullptr && candidate_of(*choice) != used) choice = choices.at(++i);
  // The command ends its line, without a full stop, so that it can be pasted.
  const std::string tune = "tunesmith tune " + shell_word(command_name(op)) + " --problem " +
                           shell_word(shown_problem(op.name, problem));
  if (choice == nullptr) {
    say.push_back("What tuning this problem would gain is not known: " + tune);
    return say;
  }
  const Choice first = *choice;
  if (first.match != Match::exact) {
    std::string near;
    for (const TimeModel::MeasuredTime& one : chooser.nearest(problem, first, 2)) {
      near += (near.empty() ? "" : "; ") + rounded(one.us) + " us for " +
              shown_problem(op.name, *one.problem) + ", where the best takes " + rounded(one.best_us) + " us";
    }
    say.push_back("By its times on the problems most like this one: " + near + ".");
  }
  const auto variant_of = [&](const Choice& one) {
    return std::pair(candidate_of(one)->template_name, one.config.text());
  };
  std::set said = {variant_of(first)};  // a winner may be one of a portfolio too
  while (const Choice* next = choices.at(++i)) {
    if (said.size() > 2) break;
    if (!said.insert(variant_of(*next)).second) continue;
    const Candidate& other = *candidate_of(*next);
    say.push_back("Next, " + expected(*next) + ": " + describe(other) + changed_to(next->changed) + ".");
  }
  if (first.match == Match::predicted) {
    say.push_back("Tuning this problem is expected to gain " + percent(first.expected_loss) + ": " + tune);
  } else if (first.match == Match::other_device) {
    say.push_back("What tuning this problem would gain on this device is not known: " + tune);
  }
  return say;
}

std::vector<std::string> why_not_others(const SelectionContext& context, const Op& op, const Problem& problem,
                                        const std::vector<PlanState::Failure>& failures) {
  std::map<std::string, std::vector<const Candidate*>> refused;
  const SelectionContext::OpContext& known = context.of(op);
  for (const Refusal& refusal : known.chooser.select(problem, context.may_compile).refusals) {
    const Candidate& candidate = known.candidates[refusal.candidate];
    if (!candidate.template_name.empty()) refused[refusal.why].push_back(&candidate);
  }
  for (const PlanState::Failure& failure : failures) refused[failure.why].push_back(failure.candidate);
  constexpr std::size_t named = 2;
  std::vector<std::string> say;
  for (const auto& [why, candidates] : refused) {
    std::string who;
    for (std::size_t i = 0; i < candidates.size() && i < named; ++i)
      who += (who.empty() ? "" : "; ") + describe(*candidates[i]);
    if (candidates.size() > named) who += "; and " + std::to_string(candidates.size() - named) + " more";
    say.push_back("Not used: " + why + " (" + counted(candidates.size(), "variant") + ": " + who + ")");
  }
  return say;
}

std::string heading(const std::string& op, const std::string& problem, const DeviceFacts& device, Match match,
                    const std::string& template_name, const std::string& config) {
  return op + " " + problem + "\non " + device.name + " (" + device.target +
         ")\nmatch: " + std::string(name(match)) + "\nvariant: " + template_name + " " + config + "\n\n";
}

bool is_named(const DeviceFacts& device, const std::string& text) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  const std::string& name = device.name;
  return device.target == text ||
         std::search(name.begin(), name.end(), text.begin(), text.end(), same) != name.end() || text.empty();
}

DeviceFacts find_device(const std::string& text, const std::string& database) {
  DeviceFacts any_gpu;
  any_gpu.kind = DeviceKind::cuda;
  std::map<std::string, DeviceFacts> exact;
  std::map<std::string, DeviceFacts> alike;
  std::vector<std::string> all;
  const TuningData data = read_tuning_data({.database = database, .device = any_gpu});
  std::vector<DeviceFacts> devices;
  for (const Candidate& winner : data.winners) devices.push_back(winner.device);
  for (const TuningData::Table& table : data.tables) devices.push_back(table.device);
  for (const DeviceFacts& device : devices) {
    const std::string name = device.name + " (" + device.target + ", " +
                             std::to_string(device.multiprocessors) + " multiprocessors)";
    if (std::find(all.begin(), all.end(), name) == all.end()) all.emplace_back(name);
    if (device.name == text) exact.emplace(name, device);
    if (is_named(device, text)) alike.emplace(name, device);
  }
  if (exact.size() == 1) return exact.begin()->second;
  if (alike.size() == 1) return alike.begin()->second;
  const auto target = Target::parse(text);
  if (alike.empty() && target && target->kind == Target::Kind::gpu) {
    DeviceFacts device = facts_of_capability(target->compute_capability);
    device.name = device.target = text;
    return device;
  }
  std::vector<std::string> meant;
  meant.reserve(alike.size());
  for (const auto& [name, device] : alike) meant.emplace_back(name);
  throw UsageError((alike.empty() ? "No known device has \"" + text + "\" in its name, or as its target"
                                  : "\"" + text + "\" may be " + listed(meant)) +
                   "; known are " + listed(all) +
                   ". Name one of them, or a target such as sm_80 for a GPU that is not known, or a "
                   "device of this machine: auto, cuda, cuda:N or host.");
}

std::string explain_absent(const DeviceFacts& device, const Op& op, const Problem& problem,
                           const std::string& database, bool with_refusals) {
  TuningData data = read_tuning_data({.database = database, .device = device});
  const SelectionContext context(device, CandidateSet{std::move(data.winners), std::move(data.tables)}, true);
  Choices choices(context.of(op).chooser, problem, true);
  const Choice* first = choices.at(0);
  const Candidate* used = first == nullptr ? nullptr : &context.of(op).candidates[first->candidate];
  const std::vector<UntunedVariant> guesses =
      used == nullptr ? untuned(op, problem, device) : std::vector<UntunedVariant>();
  const UntunedVariant* guess = guesses.empty() ? nullptr : &guesses.front();
  const Template& tmpl = used != nullptr    ? find_template(op, used->template_name)
                         : guess != nullptr ? *guess->tmpl
                                            : op.templates.front();
  const Config config = used != nullptr    ? first->config
                        : guess != nullptr ? guess->config
                                           : base_config(op, problem, device);

  std::string text = heading(op.name, shown_problem(op.name, problem), device,
                             used == nullptr ? Match::base : first->match, tmpl.name, config.text());
  for (const std::string& note : data.notes) text += note + "\n";
  const std::string hash = source_of({op, tmpl, problem, config}, device.target).hash;
  const std::string name = packed_name(device.target, hash);
  const auto stored = data.binaries.find(name);
  const std::string how = stored != data.binaries.end()                      ? stored->second.is_exported
                                                                                   ? "its binary was exported with the kernel"
                                                                                   : "its binary is in the database"
                          : !packed_binary_name(device.target, hash).empty() ? "its binary is built in"
                                                                             : "it has to be compiled first";
  text += used == nullptr
              ? "It would use " +
                    (guess != nullptr ? op.name + "/" + tmpl.name +
                                            " in its default config, which is sensible without times"
                                      : std::string("the base")) +
                    ": no known winner can be used; " + how + ".\n"
              : "It would use, " + expected(*first) + ": " + describe(*used) + changed_to(first->changed) +
                    "; " + how + ".\n";
  const std::string warning =
      used == nullptr && guess == nullptr ? faults_of_base(database, device, hash).on(problem.text()) : "";
  if (!warning.empty()) text += warning + "\n";
  for (const std::string& sentence : why_used(context, op, problem, used)) text += sentence + "\n";
  if (with_refusals)
    for (const std::string& sentence : why_not_others(context, op, problem, {})) text += sentence + "\n";
  return text;
}

}  // namespace tunesmith
