#include "dispatch/planner.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dispatch/packed.h"
#include "generator/error.h"
#include "generator/ops.h"

namespace tunesmith {
namespace {

constexpr const char* compiling_not_allowed = "Compiling is not allowed.";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<PlanState::Argument> arguments_of(const Op& op, const Problem& problem) {
  std::vector<PlanState::Argument> arguments;
  for (const Argument& argument : op.arguments) {
    const std::int64_t element = bytes(argument.dtype(problem));
    if (size_bytes(argument, problem) > 0x1p62) {
      throw UsageError("The " + op.name + " problem " + problem.text() +
                       " needs more than 2^62 bytes for the argument " + argument.name +
                       "; use smaller sizes.");
    }
    arguments.push_back({static_cast<std::uintptr_t>(elements(argument, problem) * element),
                         static_cast<std::uintptr_t>(element - 1), argument.role != Role::input,
                         argument.in_place && argument.in_place(problem)});
  }
  return arguments;
}

std::string with_changes(const Choice& choice) {
  return choice.changed.empty() ? "" : ", changed to " + choice.changed + " to be legal for this problem";
}

// The kernels of a binary made by an older version may have another suffix: eight hexadecimal digits after
// the name.
std::string suffix_in(const std::string& binary, const Source& source) {
  constexpr std::size_t digits = 8;
  for (const std::string& kernel : source.kernels) {
    const std::string name = kernel + "_";
    for (std::size_t at = 0; (at = binary.find(name, at)) != std::string::npos; at += name.size()) {
      const std::string suffix = binary.substr(at + kernel.size(), digits + 1);
      if (suffix.size() == digits + 1 && suffix.find_first_not_of("0123456789abcdef", 1) == std::string::npos)
        return suffix;
    }
  }
  return source.suffix;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

Planner::Planner(DeviceFacts device, int ordinal, Known known, BinaryCache cache, bool allow_compile,
                 bool overlap)
    : device_(std::move(device)),
      ordinal_(ordinal),
      known_(std::move(known)),
      cache_(std::move(cache)),
      allow_compile_(allow_compile),
      overlap_(overlap) {}

Planner::Attempt Planner::load(const Work& work, const Source& source, const std::string& binary) const {
  try {
    Loaded loaded;
    loaded.executable = ordinal_ < 0 ? load_host(binary, source.suffix, work)
                                     : load_cuda(binary, source.suffix, work, ordinal_);
    loaded.workspace_bytes = work.workspace_bytes;
    return loaded;
  } catch (const LoadError& error) {
    return std::string(error.what());
  }
}

Planner::Attempt Planner::compile(const Work& work, const Source& source) {
  if (!allow_compile_) return std::string(compiling_not_allowed);
  if (!toolchain_ && why_no_toolchain_.empty()) {
    try {
      toolchain_ = make_toolchain(device_.target);
    } catch (const std::exception& error) {
      why_no_toolchain_ = error.what();
    }
  }
  if (!toolchain_) return "No compiler is available: " + why_no_toolchain_;
  const Compiled compiled = toolchain_->compile(source);
  if (!compiled.ok) return "It does not compile: " + first_line(compiled.log);
  Attempt loaded = load(work, source, compiled.bytes);
  if (auto* success = std::get_if<Loaded>(&loaded)) {
    success->how = "compiled now in " + rounded(compiled.milliseconds) + " ms";
    cache_.put(source, compiled.bytes);
  }
  return loaded;
}

// Looks for the binary in the cheapest place first: database, library, cache, compiler. If one does not
// load, the next is tried.
Planner::Attempt Planner::attempt(const Op& op, const Template& tmpl, const Problem& problem,
                                  const Config& config, const Candidate* candidate) {
  const Source source = render(op, tmpl, problem, config, device_.target);
  if (candidate != nullptr && !candidate->source_hash.empty()) {
    std::string now;
    try {
      const Config tuned = tmpl.space(candidate->problem, candidate->device).legal(candidate->config);
      now = render(op, tmpl, candidate->problem, tuned, candidate->device.target).hash;
    } catch (const Error& error) {
      return "It is stale, its template has changed since it was tuned; tune it again: " +
             std::string(error.what());
    }
    if (now != candidate->source_hash) {
      return "It is stale: its template has changed since it was tuned (source " +
             candidate->source_hash.substr(0, 8) + " then, " + now.substr(0, 8) + " now); tune it again.";
    }
  }
  Work work = tmpl.work(problem, config, device_);
  if (auto why = exceeds(work, device_)) return *why;
  for (Step& step : work.steps) {
    if (auto* launch = std::get_if<Launch>(&step)) launch->overlaps_previous &= overlap_;
  }

  const auto finish = [&](Attempt attempt, const char* how) {
    if (auto* loaded = std::get_if<Loaded>(&attempt)) {
      if (how != nullptr) loaded->how = how;
      loaded->alignment_bytes = alignment_bytes(tmpl, problem, config);
      loaded->variant.template_name = tmpl.name;
      loaded->variant.config = config.text();
      loaded->variant.source_hash = source.hash;
      if (candidate != nullptr) {
        loaded->variant.tuned_problem = candidate->problem.text();
        loaded->variant.tuned_on = candidate->device.name;
        loaded->variant.median_us = candidate->median_us;
        loaded->variant.cold_caches = candidate->cold_caches;
      }
    }
    return attempt;
  };
  std::string refused;
  const auto add = [&](const char* what, const Attempt& attempt) {
    refused += std::string(what) + " does not load: " + std::get<std::string>(attempt) + " ";
  };

  const std::string key = packed_name(device_.target, source.hash);
  if (const auto stored = known_.binaries.find(key); stored != known_.binaries.end()) {
    Source as_stored = source;
    as_stored.suffix = suffix_in(stored->second, source);
    Attempt result = load(work, as_stored, stored->second);
    if (std::holds_alternative<Loaded>(result))
      return finish(std::move(result), "its binary is in the database");
    add("The database's binary", result);
  }
  if (const std::string_view built_in = packed(key); !built_in.empty()) {
    Attempt result = load(work, source, std::string(built_in));
    if (std::holds_alternative<Loaded>(result)) return finish(std::move(result), "its binary is built in");
    add("The built-in binary", result);
  }
  if (const auto cached = cache_.find(source)) {
    Attempt result = load(work, source, *cached);
    if (std::holds_alternative<Loaded>(result))
      return finish(std::move(result), "its binary is in the cache, compiled before");
    add("The cached binary", result);
  }
  Attempt result = compile(work, source);
  if (std::holds_alternative<Loaded>(result)) return finish(std::move(result), nullptr);
  refused += std::get<std::string>(result);
  if (&tmpl == &op.templates.front() && device_.kind == "cuda") {
    const Source ptx = render(op, tmpl, problem, config, ptx_target);
    if (const std::string_view built_in = packed(packed_name(ptx_target, ptx.hash)); !built_in.empty()) {
      result = load(work, ptx, std::string(built_in));
      if (std::holds_alternative<Loaded>(result))
        return finish(std::move(result), "the driver compiled its PTX");
      refused += " The built-in PTX does not load: " + std::get<std::string>(result);
    }
  }
  return refused;
}

// The tuned config with one axis changed so that it takes pointers aligned to `alignment_bytes`.
std::optional<Planner::Loaded> Planner::lowered(const Op& op, const Template& tmpl, const Config& tuned,
                                                const Problem& problem, std::int64_t alignment_bytes,
                                                std::string& config) {
  for (const Config& neighbour : tmpl.space(problem, device_).neighbours(tuned.values())) {
    if (tunesmith::alignment_bytes(tmpl, problem, neighbour) > alignment_bytes) continue;
    if (!reentrant(tmpl.work(problem, neighbour, device_))) continue;
    Attempt result = attempt(op, tmpl, problem, neighbour, nullptr);
    if (auto* loaded = std::get_if<Loaded>(&result)) {
      config = neighbour.text();
      return std::move(*loaded);
    }
    return std::nullopt;  // the next value is not expected to load either
  }
  return std::nullopt;
}

Planner::Attempt Planner::base(const Op& op, const Problem& problem) {
  return attempt(op, op.templates.front(), problem, base_config(op, problem, device_), nullptr);
}

const Chooser& Planner::chooser(const Op& op) {
  const auto known = choosers_.find(op.name);
  if (known != choosers_.end()) return known->second;
  const auto weights = known_.weights.find(op.name);
  return choosers_
      .try_emplace(op.name, op, device_, known_.candidates,
                   weights == known_.weights.end() ? Weights() : weights->second)
      .first->second;
}

std::shared_ptr<const PlanState> Planner::plan(const Op& op, const Problem& problem) {
  auto state = std::make_shared<PlanState>();
  state->arguments = arguments_of(op, problem);
  state->problem = problem.text();
  state->device = device_.name;
  std::vector<std::string>& say = state->explanation;
  const std::int64_t unaligned_bytes = element_alignment(op, problem);
  const auto take = [&](Loaded& loaded) {
    state->executable = std::move(loaded.executable);
    state->variant = state->unaligned_variant = loaded.variant;
    state->alignment_bytes = std::max(loaded.alignment_bytes, unaligned_bytes);
    state->workspace_bytes = loaded.workspace_bytes;
  };
  const auto take_unaligned = [&](Loaded& loaded, const std::string& what) {
    say.push_back("Pointers that are not multiples of " + std::to_string(state->alignment_bytes) +
                  " bytes are given to " + what + " (" + loaded.how + ").");
    state->unaligned = std::move(loaded.executable);
    state->unaligned_variant = std::move(loaded.variant);
    if (loaded.workspace_bytes > 0) {
      state->unaligned_workspace = (state->workspace_bytes + 255) / 256 * 256;
      state->workspace_bytes = state->unaligned_workspace + loaded.workspace_bytes;
    }
  };
  const auto refuse = [&](std::size_t candidate, const std::string& why) {
    say.push_back("Not used: " + describe(known_.candidates[candidate]) + ": " + why);
  };

  const Selection selection = chooser(op).select(problem, allow_compile_);
  for (const Refusal& refusal : selection.refusals) refuse(refusal.candidate, refusal.why);

  const auto& choices = selection.choices;
  auto choice = choices.begin();
  for (; choice != choices.end() && !state->executable; ++choice) {
    const Candidate& candidate = known_.candidates[choice->candidate];
    Attempt result =
        attempt(op, find_template(op, candidate.template_name), problem, choice->config, &candidate);
    if (auto* loaded = std::get_if<Loaded>(&result)) {
      state->match = choice->match;
      state->expected_us = choice->expected_us;
      state->expected_loss = choice->expected_loss;
      say.push_back("Used, " + std::string(name(choice->match)) +
                    (choice->expected_us > 0 ? ", " + rounded(choice->expected_us) + " us expected" : "") +
                    (choice->match == Match::exact
                         ? std::string()
                         : ", " + std::to_string(std::lround(100 * choice->expected_loss)) +
                               " % behind the best expected") +
                    ": " + describe(candidate) + with_changes(*choice) + "; " + loaded->how + ".");
      take(*loaded);
    } else {
      refuse(choice->candidate, std::get<std::string>(result));
    }
  }
  if (choice != choices.end()) {
    say.push_back(std::to_string(choices.end() - choice) +
                  " more winners could be used; they rank behind it.");
  }
  if (!state->executable) {
    Attempt result = base(op, problem);
    if (const auto* why = std::get_if<std::string>(&result)) {
      throw Error("No kernel of " + op.name + ", not even its base, can be loaded on " + device_.name +
                  " for " + problem.text() + ": " + *why);
    }
    Loaded& loaded = std::get<Loaded>(result);
    say.push_back("Used, base: no known winner can be used; " + op.name + "/" + loaded.variant.template_name +
                  " " + loaded.variant.config + "; " + loaded.how + ".");
    take(loaded);
  }
  if (state->alignment_bytes <= unaligned_bytes) return state;

  // The second kernel: a winner for the same problem, else the first one with a narrower access, else the
  // next winner, else the base.
  const Choice& first = *std::prev(choice);
  const auto try_choice = [&](const Choice& other) {
    if (other.alignment_bytes > unaligned_bytes) return;
    const Candidate& candidate = known_.candidates[other.candidate];
    Attempt result =
        attempt(op, find_template(op, candidate.template_name), problem, other.config, &candidate);
    if (auto* loaded = std::get_if<Loaded>(&result)) {
      take_unaligned(*loaded, describe(candidate) + with_changes(other));
    } else {
      refuse(other.candidate, std::get<std::string>(result));
    }
  };
  // Not worse than a config that nobody measured may be; of what was measured, far worse.
  const auto as_near = [&](const Choice& other) {
    return other.match <= first.match &&
           other.cautious <= first.cautious + (other.match == Match::exact ? 1 : 0.25);
  };
  for (auto other = choice; other != choices.end() && as_near(*other) && !state->unaligned; ++other) {
    try_choice(*other);
  }
  if (!state->unaligned) {
    std::string config;
    if (auto loaded = lowered(op, find_template(op, known_.candidates[first.candidate].template_name),
                              first.config, problem, unaligned_bytes, config)) {
      take_unaligned(*loaded, "the same template with a narrower access, " + config);
    }
  }
  for (auto other = choice; other != choices.end() && !state->unaligned; ++other) {
    if (!as_near(*other)) try_choice(*other);
  }
  if (!state->unaligned) {
    Attempt result = base(op, problem);
    if (auto* loaded = std::get_if<Loaded>(&result)) {
      take_unaligned(*loaded, "the base, " + loaded->variant.config);
    } else {
      say.push_back("Pointers that are not multiples of " + std::to_string(state->alignment_bytes) +
                    " bytes are refused, because no kernel for them can be loaded. The base: " +
                    std::get<std::string>(result));
      for (PlanState::Argument& argument : state->arguments) {
        if (argument.bytes < static_cast<std::uintptr_t>(state->alignment_bytes)) continue;
        argument.address_bits = static_cast<std::uintptr_t>(state->alignment_bytes - 1);
      }
    }
  }
  return state;
}

}  // namespace tunesmith
