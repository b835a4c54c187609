#include "dispatch/select.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "generator/error.h"

namespace tunesmith {
namespace {

// The parameters whose values differ, as "mask_height=3 mask_width=3".
std::string difference(const Values& theirs, const Values& ours) {
  Values differing;
  for (const auto& [name, value] : theirs.entries()) {
    const Value* other = ours.find(name);
    if (other == nullptr || *other != value) differing.set(name, value);
  }
  return differing.text();
}

// How far two values of an axis are apart; different words are far apart.
double step(const Value& a, const Value& b) {
  if (a == b) return 0;
  if (a.index() != b.index() || std::holds_alternative<std::string>(a)) return 100;
  return 1e-3 + std::abs(log2_of(a) - log2_of(b));
}

// The legal config nearest to an illegal one among those that differ in one axis: a width that VECTOR does
// not divide, a tile that is too large for another mask.
std::optional<Config> adapted(const Space& space, const Values& config, std::string& changed) {
  std::optional<Config> best;
  double least = 0;
  for (const Config& neighbour : space.neighbours(config)) {
    double steps = 0;
    std::string axis;
    const Values values = neighbour.values();
    for (const auto& [name, value] : values.entries()) {
      const Value* before = config.find(name);
      if (before != nullptr && *before == value) continue;
      steps += before == nullptr ? 1000 : step(*before, value);
      axis = name + "=" + to_text(value);
    }
    if (!best || steps < least) {
      best = neighbour;
      least = steps;
      changed = axis;
    }
  }
  return best;
}

std::optional<std::string> why_refused(const Op& op, const Problem& problem, const DeviceFacts& device,
                                       const Candidate& candidate, bool may_compile, Choice& choice) {
  if (!candidate.fault.empty()) return candidate.fault;
  const auto tmpl = std::find_if(op.templates.begin(), op.templates.end(),
                                 [&](const Template& t) { return t.name == candidate.template_name; });
  if (tmpl == op.templates.end()) {
    return op.name + " has no template " + candidate.template_name + " in this version.";
  }
  if (candidate.device.kind != device.kind) {
    return "It was tuned on a device of kind " + candidate.device.kind + ", and this device is of kind " +
           device.kind + ".";
  }
  if (dtype_of(candidate.problem) != dtype_of(problem)) {
    return "It was tuned for dtype=" + candidate.problem.word("dtype") +
           ", and the problem has dtype=" + problem.word("dtype") + ".";
  }
  if (auto why = why_not(*tmpl, problem, device)) return why;
  const Space space = tmpl->space(problem, device);
  if (auto config = space.find(candidate.config)) {
    choice.config = std::move(*config);
  } else {
    const auto near = may_compile ? adapted(space, candidate.config, choice.changed) : std::nullopt;
    if (!near)
      return "Its config is not legal for this problem: " + space.why_not(candidate.config).value_or("");
    choice.config = *near;
  }
  const Work work = tmpl->work(problem, choice.config, device);
  if (!reentrant(work)) {
    return "It keeps state in its module between two steps, so two streams cannot launch it at the same "
           "time.";
  }
  if (auto why = exceeds(work, device)) return why;

  const std::string constants =
      difference(compiled_in(op, *tmpl, candidate.problem), compiled_in(op, *tmpl, problem));
  const bool same_target = candidate.device.target == device.target;
  choice.must_compile =
      !constants.empty() || !same_target || !candidate.has_binary || !choice.changed.empty();
  if (choice.must_compile && !may_compile) {
    if (!constants.empty()) {
      return "It was compiled for other constants (" + constants + "), and compiling is not allowed.";
    }
    if (!same_target) {
      return "It was compiled for " + candidate.device.target + ", this device needs " + device.target +
             ", and compiling is not allowed.";
    }
    return "No binary is stored for it, and compiling is not allowed.";
  }
  choice.alignment_bytes = alignment_bytes(*tmpl, problem, choice.config);
  choice.distance = distance(op, candidate.problem, problem);
  if (candidate.problem == problem && !choice.changed.empty()) {
    return "It is stale: its config is no longer legal for the problem that it won; tune it again.";
  }
  choice.match = !same_model(candidate.device, device) ? Match::other_device
                 : candidate.problem == problem        ? Match::exact
                                                       : Match::nearest;
  return std::nullopt;
}

}  // namespace

bool same_model(const DeviceFacts& a, const DeviceFacts& b) {
  return a.kind == b.kind && a.name == b.name && a.target == b.target &&
         (a.kind == "host" || a.multiprocessors == b.multiprocessors);
}

Selection select(const Op& op, const Problem& problem, const DeviceFacts& device,
                 std::span<const Candidate> candidates, bool may_compile) {
  Selection selection;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].op != op.name) continue;
    Choice choice;
    choice.candidate = i;
    if (auto why = why_refused(op, problem, device, candidates[i], may_compile, choice)) {
      selection.refusals.push_back({i, *why});
    } else {
      selection.choices.push_back(std::move(choice));
    }
  }
  std::stable_sort(selection.choices.begin(), selection.choices.end(), [&](const Choice& a, const Choice& b) {
    const Candidate& left = candidates[a.candidate];
    const Candidate& right = candidates[b.candidate];
    const bool left_changed = !a.changed.empty();
    const bool right_changed = !b.changed.empty();
    return std::tie(a.match, a.distance, left.origin, left_changed, a.must_compile, left.median_us) <
           std::tie(b.match, b.distance, right.origin, right_changed, b.must_compile, right.median_us);
  });
  return selection;
}

}  // namespace tunesmith
