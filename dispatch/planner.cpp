// SPDX-License-Identifier: Apache-2.0
#include "dispatch/planner.h"

#include <algorithm>

#include "generator/error.h"

namespace tunesmith {
namespace {

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

// Gives the kernel a part of the plan's workspace behind those of other kernels.
void add_workspace(PlanState& state, Kernel& kernel) {
  if (kernel.workspace_bytes == 0) return;
  kernel.workspace_offset = round_up(state.workspace_bytes, 256);
  state.workspace_bytes = kernel.workspace_offset + kernel.workspace_bytes;
}

bool is(const TriedVariant& one, const Candidate& candidate, const Choice& choice) {
  return one.template_name == candidate.template_name && one.config == choice.config.text();
}

}  // namespace

Planner::Planner(DeviceFacts device, int ordinal, TuningData data, const DispatcherOptions& options,
                 std::function<void(const std::string&)> cannot_cache)
    : context_(std::make_shared<const SelectionContext>(
          device, CandidateSet{std::move(data.winners), std::move(data.tables)},
          options.compile != Compile::never || is_exported())),
      ordinal_(ordinal),
      may_compile_(options.compile != Compile::never),
      overlap_(options.overlap),
      check_pointers_(options.check_pointers),
      database_(options.database),
      modules_(std::move(device), ordinal, std::move(data.binaries), BinaryCache(options.cache_folder),
               options.compile_limit, may_compile_, std::move(cannot_cache)) {}

Modules::LoadPolicy Planner::most() const {
  return may_compile_ ? Modules::LoadPolicy::compile : Modules::LoadPolicy::ready;
}

// Returns why a winner's template no longer gives the kernel that won; empty if it still does. Looked up
// once.
const std::string& Planner::why_stale(const Op& op, std::size_t place) {
  static const std::string& of_a_portfolio = *new const std::string;  // threads outlive statics
  const SelectionContext::OpContext& known = context_->of(op);
  const Candidate& candidate = known.candidates[place];
  if (candidate.source_hash.empty()) return of_a_portfolio;
  SelectionContext::OpContext::CandidateCheck& check = known.checks[place];
  std::call_once(check.once, [&] {
    try {
      const Template& tmpl = find_template(op, candidate.template_name);
      const Config tuned = tmpl.space(candidate.problem, candidate.device).legal(candidate.config);
      const std::string now = modules_.find({op, tmpl, candidate.problem, tuned})->source().hash;
      if (now.empty() || now == candidate.source_hash) return;
      check.why_stale = "It is stale: its template has changed since it was tuned (source " +
                        candidate.source_hash.substr(0, 8) + " then, " + now.substr(0, 8) +
                        " now); tune it again.";
    } catch (const Error& error) {
      check.why_stale = "It is stale, its template has changed since it was tuned; tune it again: " +
                        std::string(error.what());
    }
  });
  return check.why_stale;
}

Planner::KernelResult Planner::make(const Op& op, const Template& tmpl, const Problem& problem,
                                    const Config& config, const Choice* choice, Modules::LoadPolicy policy,
                                    const std::stop_token& stop) {
  KernelResult made;
  Kernel& kernel = made.kernel;
  if (choice != nullptr) {
    kernel.candidate = &context_->of(op).candidates[choice->candidate];
    kernel.changed = choice->changed;
    made.why_not = why_stale(op, choice->candidate);
    if (!made.why_not.empty()) return made;
  }
  Work work = tmpl.work(problem, config, device());
  if (auto why = exceeds(work, device())) {
    made.why_not = *why;
    return made;
  }
  for (Step& step : work.steps) {
    if (auto* launch = std::get_if<Launch>(&step)) launch->overlaps_previous &= overlap_;
  }
  VariantSpec spec{op, tmpl, problem, config};
  kernel.workspace_bytes = work.workspace_bytes;
  made.module = modules_.find(spec);
  Modules::Attempt attempt = modules_.take(made.module, spec, work, policy, stop);
  if (auto* why = std::get_if<std::string>(&attempt)) {
    made.why_not = std::move(*why);
    if (may_compile_) made.try_again = modules_.try_again(*made.module);
    return made;
  }
  kernel.executable = std::move(std::get<std::unique_ptr<Executable>>(attempt));
  kernel.module = made.module;
  kernel.alignment_bytes = std::max(alignment_bytes(tmpl, problem, config), element_alignment(op, problem));
  kernel.variant.template_name = tmpl.name;
  kernel.variant.config = std::move(spec.config_text);
  kernel.variant.source_hash = made.module->source().hash;
  if (kernel.candidate != nullptr) {
    kernel.variant.tuned_problem = kernel.candidate->problem.text();
    kernel.variant.tuned_on = kernel.candidate->device.name;
    kernel.variant.median_us = kernel.candidate->median_us;
    kernel.variant.cold_caches = kernel.candidate->conditions.caches == Caches::cold;
  }
  for (std::string* const kept : {&kernel.variant.config, &kernel.variant.tuned_problem})
    kept->shrink_to_fit();
  return made;
}

std::string Planner::fault_of_base(const std::string& source_hash, const std::string& problem) {
  const std::scoped_lock lock(faults_mutex_);
  auto known = faults_.find(source_hash);
  if (known == faults_.end())
    known = faults_.emplace(source_hash, faults_of_base(database_, device(), source_hash)).first;
  return known->second.on(problem);
}

// The base of an op is in the library, unless its problem holds a user's own code.
Planner::KernelResult Planner::base(const Op& op, const Problem& problem, const std::stop_token& stop) {
  return make(op, op.templates.front(), problem, base_config(op, problem, device()), nullptr, most(), stop);
}

std::optional<std::size_t> Planner::place_of_tried(const Op& op, const Problem& problem, Choices& choices,
                                                   const std::vector<TriedVariant>& tried) {
  constexpr std::size_t places = 64;  // if this many could not be loaded, something else promises most by now
  const Choice* best = tried.empty() || tried.front().us <= 0 ? nullptr : choices.at(0);
  if (best == nullptr || best->match == Match::exact) return std::nullopt;
  std::optional<std::size_t> place;
  std::vector<bool> found(tried.size());
  for (std::size_t i = 0; i < places && std::count(found.begin(), found.end(), false) > 0; ++i) {
    const Choice* choice = choices.at(i);
    if (choice == nullptr) break;
    const Candidate& candidate = choices.candidate_of(*choice);
    const auto same = std::find_if(tried.begin(), tried.end(),
                                   [&](const TriedVariant& one) { return is(one, candidate, *choice); });
    if (same == tried.end()) {
      if (i == 0) return std::nullopt;
      continue;
    }
    const auto which = static_cast<std::size_t>(same - tried.begin());
    if (found[which]) continue;
    if (which == 0) place = i;
    found[which] = true;
    const VariantSpec spec{op, find_template(op, candidate.template_name), problem, choice->config};
    if (modules_.find(spec)->source().hash != same->source_hash) return std::nullopt;
  }
  return place;
}

std::vector<TrialCandidate> Planner::trial_candidates(const Op& op, const Problem& problem, std::size_t count,
                                                      const std::stop_token& stop) {
  std::vector<TrialCandidate> candidates;
  Choices choices(context_->of(op).chooser, problem, context_->may_compile && !modules_.has_no_compiler());
  for (std::size_t i = 0; candidates.size() < count && !stop.stop_requested(); ++i) {
    const Choice* choice = choices.at(i);
    if (choice == nullptr) break;
    const std::string& name = choices.candidate_of(*choice).template_name;
    const std::string config = choice->config.text();
    if (std::any_of(candidates.begin(), candidates.end(), [&](const TrialCandidate& other) {
          return other.template_name == name && other.config == config;
        }))
      continue;  // the same variant won several problems
    KernelResult made = make(op, find_template(op, name), problem, choice->config, choice, most(), stop);
    TrialCandidate candidate;
    candidate.template_name = name;
    candidate.config = config;
    if (made.module) candidate.source_hash = made.module->source().hash;
    if (made.kernel.executable) candidate.made_by = made.module->made_by();
    candidate.executable = std::move(made.kernel.executable);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// A plan with the members that follow from the op, the problem and the options alone.
std::shared_ptr<PlanState> Planner::new_plan(const Op& op, const Problem& problem) const {
  auto state = std::make_shared<PlanState>();
  state->op = &op;
  state->problem = problem;
  state->problem_text = problem.text();
  state->context = context_;
  state->arguments = arguments_of(op, problem);
  if (op.launch_numbers) state->make_numbers = op.launch_numbers(problem);
  state->number_count = static_cast<std::size_t>(std::count_if(
      op.parameters.begin(), op.parameters.end(), [](const Parameter& p) { return p.at_launch; }));
  state->ordinal = ordinal_;
  state->checks_pointers = check_pointers_;
  return state;
}

Modules::LoadPolicy Planner::policy_for(const LaunchKernel& kernel, bool may_wait, bool one_comes) const {
  using Reason = LaunchKernel::Reason;
  if (kernel.reason == Reason::base)
    return most();  // in the library, unless the problem holds a user's own code
  if (kernel.reason == Reason::instead_of_base || kernel.reason == Reason::stand_in)
    return Modules::LoadPolicy::ready;
  if (may_wait) return Modules::LoadPolicy::compile;
  // While a better kernel is going to be compiled, a choice that needs a compiler itself is used only if it
  // is loaded.
  const bool must_compile = kernel.choice && kernel.choice->must_compile;
  return must_compile && one_comes ? Modules::LoadPolicy::loaded : Modules::LoadPolicy::ready;
}

// If a kernel is not available, the plan records why, or that it is being compiled.
Planner::KernelResult Planner::make_first(PlanState& state, const LaunchKernel& kernel, bool may_compile,
                                          const PlanOptions& options) {
  using Reason = LaunchKernel::Reason;
  const Op& op = *state.op;
  const Choice* choice = kernel.choice ? &*kernel.choice : nullptr;
  const auto policy = policy_for(kernel, may_compile && options.may_wait, state.coming != nullptr);
  KernelResult made = make(op, *kernel.tmpl, state.problem, kernel.config, choice, policy, options.stop);
  made.kernel.stands_in = kernel.reason == Reason::stand_in;
  if (made.kernel.executable || made.kernel.stands_in) return made;
  const bool comes = may_compile && !options.may_wait && made.module && state.coming == nullptr &&
                     modules_.may_compile(*made.module);
  // Asked after may_compile(): another thread's compilation may have failed just before.
  if (kernel.reason != Reason::base && may_compile_ && made.module)
    state.try_again_at(modules_.try_again(*made.module));
  if (choice != nullptr) {
    const Candidate* candidate = &context_->of(op).candidates[choice->candidate];
    if (comes) {
      state.coming = candidate;
    } else if (policy != Modules::LoadPolicy::loaded) {
      state.failures.push_back({candidate, made.why_not});
    }
  } else if (kernel.reason == Reason::untuned && comes && state.untuned_coming == nullptr) {
    state.untuned_coming = kernel.tmpl;
  }
  return made;
}

std::shared_ptr<PlanState> Planner::plan(const Op& op, const Problem& problem, const PlanOptions& options) {
  const auto state = new_plan(op, problem);
  const bool may_compile = may_compile_ && !modules_.has_no_compiler();
  Choices choices(context_->of(op).chooser, problem, may_compile || is_exported());
  const std::optional<std::size_t> fastest = place_of_tried(op, problem, choices, options.tried);
  std::string why_not;  // why the last kernel could not be loaded or compiled
  const auto can_be_had = [&](const LaunchKernel& kernel) {
    KernelResult made = make_first(*state, kernel, may_compile, options);
    if (made.kernel.executable) {
      state->first = std::move(made.kernel);
      return true;
    }
    why_not = std::move(made.why_not);
    return false;
  };
  const auto first =
      first_kernel(op, choices, problem, device(), fastest, can_be_had, context_->of(op).ready);
  if (!first) {
    throw Error("No kernel of " + op.name + ", not even its base, can be loaded on " + device().name +
                " for " + problem.text() + ": " + why_not +
                (is_exported() ? "Export the library again, with --target " + device().target +
                                     " and the problem in --problems."
                               : ""));
  }
  if (first->choice) {
    state->match = first->choice->match;
    state->expected_us = first->choice->expected_us;
    state->expected_loss = first->choice->expected_loss;
    state->cautious = first->choice->cautious;
    state->is_tried = fastest.has_value();
    if (fastest && first->place == *fastest) {  // it loses no more than the one that promised most
      state->tried = options.tried;
      state->expected_us = options.tried.front().us;
      state->expected_loss = std::min(state->expected_loss, choices.at(0)->expected_loss);
    }
  }
  if (first->reason == LaunchKernel::Reason::base)
    state->warning = fault_of_base(state->first.variant.source_hash, state->problem_text);
  if (may_compile_ && !may_compile && state->match != Match::exact)
    state->try_again_at(modules_.no_compiler_until());
  state->alignment_bytes = state->first.alignment_bytes;
  add_workspace(*state, state->first);
  if (state->alignment_bytes > element_alignment(op, problem))
    add_unaligned(*state, problem, choices, options);
  state->problem_text.shrink_to_fit();
  state->problem.forget_derived();  // bytes that DispatcherOptions::most_bytes does not count
  return state;
}

// If only loaded kernels will do, takes the best of the choices that are near the first, or none.
Planner::KernelResult Planner::find_fallback(const PlanState& state, const Problem& problem, Choices& choices,
                                             Modules::LoadPolicy policy, const std::stop_token& stop) {
  using Answer = UnalignedRequest::Answer;
  const Op& op = *state.op;
  const SelectionContext::OpContext& known = context_->of(op);
  const bool only_loaded = policy == Modules::LoadPolicy::loaded;
  const std::int64_t any = element_alignment(op, problem);
  Clock::time_point again = never;
  KernelResult made;  // the last one asked for
  bool comes_later = false;
  UnalignedRequest request;
  request.only_choices = only_loaded;
  request.passes_over = [&](const Choice& choice) {
    std::atomic<bool>& is_wide = known.checks[choice.candidate].is_wide;
    if (choice.alignment_bytes > any) is_wide = true;
    return only_loaded && is_wide;
  };
  request.ask = [&](const LaunchKernel& kernel) {
    const Choice* choice = kernel.choice ? &*kernel.choice : nullptr;
    made = make(op, *kernel.tmpl, problem, kernel.config, choice, policy, stop);
    again = std::min(again, made.try_again);
    if (made.kernel.executable) return Answer::yes;
    comes_later = only_loaded && kernel.reason == LaunchKernel::Reason::choice && made.module;
    return comes_later ? Answer::stop : Answer::no;
  };
  const FirstKernel first{&find_template(op, state.first.variant.template_name),
                          Values::parse(state.first.variant.config), state.match, state.cautious};
  const bool found = unaligned_kernel(op, choices, problem, device(), first, request).has_value();
  if (!found && !comes_later) made = {};
  made.try_again = again;
  return made;
}

void Planner::add_unaligned(PlanState& state, const Problem& problem, Choices& choices,
                            const PlanOptions& options) {
  const auto at_once = options.may_wait ? most() : Modules::LoadPolicy::ready;
  KernelResult fallback =
      find_fallback(state, problem, choices, options.fallback_at_once ? at_once : Modules::LoadPolicy::loaded,
                    options.stop);
  if (fallback.kernel.executable) {
    state.fallback = std::move(fallback.kernel);
    add_workspace(state, state.fallback);
    state.unaligned = &state.fallback;
    return;
  }
  state.try_again_at(fallback.try_again);
  KernelResult temporary_fallback = base(*state.op, problem, options.stop);
  if (temporary_fallback.kernel.executable) {
    state.temporary_fallback = std::move(temporary_fallback.kernel);
    add_workspace(state, state.temporary_fallback);
    state.unaligned = &state.temporary_fallback;
    state.fallback_comes = !options.fallback_at_once;
    if (state.fallback_comes) {  // an unaligned variant of the same template needs no more than `first`
      state.fallback.workspace_bytes = std::max(fallback.kernel.workspace_bytes, state.first.workspace_bytes);
      add_workspace(state, state.fallback);
    }
    return;
  }
  state.why_refuses_unaligned = temporary_fallback.why_not;
  for (PlanState::Argument& argument : state.arguments) {
    if (argument.bytes < static_cast<std::uintptr_t>(state.alignment_bytes)) continue;
    argument.address_bits = static_cast<std::uintptr_t>(state.alignment_bytes - 1);
  }
}

void Planner::make_fallback(PlanState& state, const std::stop_token& stop) {
  const Problem problem = state.problem;  // a copy, which takes its derived data with it
  Choices choices(context_->of(*state.op).chooser, problem, context_->may_compile);
  const std::uint64_t lacked = modules_.lacked();
  KernelResult fallback = find_fallback(state, problem, choices, most(), stop);
  if (!fallback.kernel.executable && fallback.try_again < never) {
    state.fallback_state = PlanState::did_not_compile;
    state.try_again_at(fallback.try_again);
  } else if (!fallback.kernel.executable && modules_.lacked() != lacked) {
    state.fallback_state = PlanState::not_requested;
  }
  if (!fallback.kernel.executable || fallback.kernel.workspace_bytes > state.fallback.workspace_bytes) return;
  fallback.kernel.workspace_offset = state.fallback.workspace_offset;
  state.fallback = std::move(fallback.kernel);
  state.unaligned = &state.fallback;
}

}  // namespace tunesmith
