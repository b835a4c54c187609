// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/problem_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "generator/listed.h"
#include "tuner/run/finals_run.h"
#include "tuner/run/interrupt.h"
#include "tuner/run/outcome.h"
#include "tuner/run/problem_points.h"

namespace tunesmith {
namespace {

// Finals without a search begin with this many stored variants; variants with known times need no
// measurement, those of another toolchain do.
constexpr std::int64_t most_stored = 64;

// The base alone if all variants to measure are listed: the whole space takes up to 0.2 s (conv_covariance).
SearchSpace space_of(const RunContext& context, const ProblemTask& task) {
  std::vector<std::string> templates = context.options.search.templates;
  if (task.mode.points == Mode::Points::listed) templates = {context.op.templates.front().name};
  return search_space(context.op, task.problem, context.worker.hello().device, templates);
}

// Above this the progress shows no total: a run does not come near it.
constexpr std::int64_t most_told = 1'000'000'000;

void say_what_is_left_out(const RunContext& context, const SearchSpace& space) {
  for (const SearchSpace::TemplateSpace& part : space.parts) {
    std::size_t values = 0;
    for (const Axis& axis : part.space.axes()) values += axis.values.size();
    if (values <= most_covered) continue;
    const std::string text = context.op.name + "/" + context.op.templates[part.template_index].name +
                             " has " + std::to_string(values) + " values on its axes: at most " +
                             std::to_string(most_covered) + " of them are checked, evenly spread.";
    context.progress.say_once(text, text);
  }
}

std::string drawn_text(const Op& op, const Search::Drawn& drawn) {
  const std::string name = op.name + "/" + op.templates[drawn.template_index].name;
  if (drawn.drawn == 0)
    return name +
           ": its legal configs are so rare that none was found by random draws. The search measures the "
           "base, what was fast before, and neighbours. Make the rules less strict for more.";
  return name + " has " + drawn.configs.text() + " legal configs, too many to list: the search begins with " +
         std::to_string(drawn.drawn) + " random ones and goes on with neighbours of the fastest.";
}

}  // namespace

ProblemRun::ProblemRun(const RunContext& context, const ProblemTask& task)
    : space_(space_of(context, task)),
      previous_(context.recorder.winners()),
      session_(context, task, findings_),
      context_(session_.context()),
      task_(session_.task()),
      mode_(task_.mode),
      deaths_seen_(context.worker.deaths()) {
  result_.problem = task.problem.text();
  result_.variants = space_.count();
  strategy_ = strategy(previous_);
  std::erase_if(previous_, [&](const WinnerRow& row) {
    return row.provisional || row.problem.text != task_.problem.text();
  });
  search_ = std::make_unique<SearchRun>(setup(), findings_);
  if (mode_.base_is_baseline) session_.want_inputs(context.options.seed);
}

std::unique_ptr<Search> ProblemRun::strategy(const std::vector<WinnerRow>& winners) {
  const Place place{context_.op, task_.problem, session_.device()};
  const TuneOptions& options = context_.options;
  switch (mode_.points) {
    case Mode::Points::proposed:
      return proposing(winners);
    case Mode::Points::stored:
      space_.promising = stored_points(place, *space_.base, context_.recorder.fastest(most_stored),
                                       context_.recorder.device());
      break;
    case Mode::Points::listed:
      space_.promising = listed_points(place, *space_.base, task_.listed);
      result_.variants = std::ssize(space_.promising);
      break;
    case Mode::Points::covering:
      say_what_is_left_out(context_, space_);
      space_.promising = covering_points(space_, options.random_checks, options.seed, task_.part.problem,
                                         options.problems.size());
      result_.variants = std::ssize(space_.promising);
      break;
  }
  space_.parts.clear();
  return search_of(space_.promising);
}

std::unique_ptr<Search> ProblemRun::proposing(const std::vector<WinnerRow>& winners) {
  const TuneOptions& options = context_.options;
  const Task& task = task_.part;
  const auto index = [&](std::string_view name) { return template_index(context_.op, name); };
  space_.promising =
      promising(space_,
                guesses({context_.op, task_.problem, session_.device()}, options.search.built_in, winners,
                        context_.recorder.fastest(most_remembered), context_.recorder.device()),
                index);
  const auto make = [&](std::uint64_t seed) {
    return make_search(options.search.strategy, space_, seed, options.search.prior);
  };
  auto whole = make(options.seed);
  for (const Search::Drawn& drawn : whole->drawn()) {
    const std::string text = drawn_text(context_.op, drawn);
    context_.progress.say_once(text, text);
  }
  if (!task_.in_parts()) return whole;
  // Searches that learn each other's verdicts propose similar points, so they divide the points; so do
  // searches that do not learn, or that have time for all points. Other searches find more if each may
  // propose any point.
  const Budget& budget = session_.budget();
  const bool all = budget.count ? *budget.count >= result_.variants / static_cast<std::int64_t>(task.parts)
                                : !budget.seconds;
  if (task_.hears_others() || all || !whole->learns()) {
    space_.share = task.part;
    space_.shares = task.parts;
  } else {
    space_.promising = promising_of(space_.promising, task);
  }
  return make(seed_of(options.seed, task));
}

SearchRun::Setup ProblemRun::setup() {
  const TuneOptions& options = context_.options;
  return {.search = *strategy_,
          .base = *space_.base,
          .device = session_.device(),
          .device_id = context_.worker.hello().identity,
          .policy = session_.policy(),
          .budget = session_.budget(),
          .known = context_.recorder.known(task_.problem),
          .mode = mode_,
          .retry_failed = options.search.retry_failed,
          .render =
              [this](const Point& point) {
                return render_variant(context_.op, task_.problem, point, session_.device());
              },
          .record = [this](const Trial& trial, const MeasureReply& reply) { return record(trial, reply); },
          .now_s = [this] { return session_.now_s(); }};
}

std::int64_t ProblemRun::record(const Trial& trial, const MeasureReply& reply) {
  Recorder::Cost cost{.stage = std::string(mode_.recorded)};
  cost.wall_s = reply.load_s + reply.check_s + reply.time_s;
  if (trial.variant.is_base && mode_.base_is_baseline) cost.space_variants = result_.variants;
  return session_.record(trial, reply, cost);
}

TunedProblem ProblemRun::run() {
  search();
  if (mode_.finals && !interrupted()) {
    if (const auto decision = FinalsRun(session_, findings_, previous_, result_.variants).run())
      write(*decision);
  }
  if (interrupted() && (mode_.finals || task_.in_parts())) name_provisional();
  context_.progress.done();
  add_counts(result_, findings_);
  if (!mode_.seeks_times) result_.failed = failed_variants(findings_);
  result_.seconds = session_.now_s();
  return std::move(result_);
}

void ProblemRun::search() {
  // Without parts, only the promising points are proposed.
  const std::int64_t proposed = space_.parts.empty() ? std::ssize(space_.promising) : result_.variants;
  while (true) {
    const bool over = interrupted() || search_->out_of_time();
    if (over) {
      context_.compilers.drop_all();
      search_->drop_waiting();
    } else {
      propose();
      compile_ahead();
    }
    for (CompileResult& result : context_.compilers.update()) search_->compiled(std::move(result));
    if (interrupted()) search_->drop_waiting();
    feed();
    if (search_->idle() && context_.compilers.at_work() == 0 && (over || search_->exhausted())) break;
    if (session_.out_of_patience()) break;
    session_.wait();
    take_measured();
    show(std::min(session_.budget().count.value_or(proposed), proposed));
  }
  result_.search_s = search_->elapsed_s();
  if (search_->little_expected()) {
    context_.progress.say("The search ends after " +
                          counted(static_cast<std::size_t>(search_->counted()), "variant") +
                          ": it expects less than " + context_.options.search.until + " of more.");
  }
}

void ProblemRun::propose() {
  while (context_.compilers.has_room()) {
    const auto proposal = search_->propose();
    if (!proposal) return;
    if (proposal->compile) {
      if (!session_.wants_inputs()) session_.want_inputs(context_.options.seed);
      Source& source = findings_.trial(proposal->trial_id).variant.source;
      context_.compilers.begin(proposal->trial_id, source, search_->compile_limit_s());
      source.text.clear();  // saves memory for thousands of texts; the hash and the config make it again
    }
    if (interrupted()) return;
    show(0);
  }
}

// One slow compilation holds up a list, but not the other compilers.
void ProblemRun::compile_ahead() {
  if (!mode_.compiles_ahead || !search_->exhausted()) return;
  while (ahead_ < task_.next.size() && context_.compilers.has_room()) {
    const ProblemTask::Upcoming& next = task_.next[ahead_];
    if (ahead_listed_ == next.listed.size()) {
      ++ahead_;
      ahead_listed_ = 0;
      continue;
    }
    const NamedVariant& listed = next.listed[ahead_listed_++];
    const auto point =
        table_point(context_.op, *next.problem, session_.device(), listed.template_name, listed.config);
    if (!point) continue;
    const Source source = render_variant(context_.op, *next.problem, *point, session_.device()).source;
    if (compiled_ahead_.insert(source.hash).second)
      context_.compilers.begin_ahead(source, mode_.most_compile_s);
  }
}

void ProblemRun::feed() {
  if (!session_.ready()) return;
  const auto wanted = search_->to_measure();
  if (!wanted) return;
  MeasureRequest asked = session_.request(wanted->trial_id);
  if (mode_.seeks_times) asked.timing.give_up_above_us = wanted->give_up_above_us;
  session_.measure(wanted->trial_id, asked);
}

void ProblemRun::take_measured() {
  auto reply = context_.worker.update();
  if (!reply) return;
  const bool died = context_.worker.deaths() != std::exchange(deaths_seen_, context_.worker.deaths());
  search_->measured(std::move(*reply), died);
  if (!interrupted()) feed();  // the device works while this verdict is written
  search_->write_down();
  hear_others();
}

// Other parts write their verdicts to the same file.
void ProblemRun::hear_others() {
  if (!task_.hears_others() || !strategy_->learns()) return;
  for (const Store::Verdict& other : context_.recorder.of_others(task_.problem)) {
    const auto index = template_index(context_.op, other.template_name);
    const auto part = std::find_if(
        space_.parts.begin(), space_.parts.end(),
        [&](const SearchSpace::TemplateSpace& each) { return index && each.template_index == *index; });
    if (part == space_.parts.end()) continue;
    if (auto config = part->space.find(Values::parse(other.config)))
      search_->learn({*index, std::move(*config)}, verdict_of(other.verdict), other.median_us);
  }
}

void ProblemRun::show(std::int64_t total) {
  ProgressState state =
      session_.state(std::string(mode_.shown), search_->counted(), total > most_told ? 0 : total);
  state.elapsed_s = search_->elapsed_s();
  state.budget_s = session_.budget().seconds.value_or(0);
  state.measured = findings_.measured;
  context_.progress.show(state);
}

void ProblemRun::name_provisional() {
  if (context_.options.measure.conditions.objective != Objective::time) return;
  const std::int64_t element_bytes = element_alignment(context_.op, task_.problem);
  for (const TrialId trial_id : provisional_winners(findings_, space_, task_.in_parts(), element_bytes)) {
    const Trial& trial = findings_.trial(trial_id);
    const SetWinner set = context_.recorder.set_winner(trial.measurement, trial.variant.alignment_bytes,
                                                       false, Store::Evidence::provisionally);
    if (!set.taken) continue;
    if (!trial.binary.empty()) context_.recorder.put_binary(trial.variant, trial.binary);
    result_.provisional = true;
    result_.winners.push_back(provisional_winner(trial, element_bytes));
  }
  if (result_.provisional && findings_.base_us() > 0) result_.base = tuned_time(findings_.trials.front());
}

void ProblemRun::write(const Decision& decision) {
  Recorder& recorder = context_.recorder;
  for (const Decision::Confirmation& confirmed : decision.confirmed) {
    const Trial& trial = findings_.trial(confirmed.trial_id);
    recorder.set_winner(trial.measurement, confirmed.alignment_bytes, confirmed.other_kind);
    recorder.put_binary(trial.variant, trial.binary);
  }
  for (const Decision::Winner& chosen : decision.winners) {
    const Trial& trial = findings_.trial(chosen.trial_id);
    const SetWinner set =
        recorder.set_winner(trial.measurement, chosen.alignment_bytes, chosen.replaces_stale);
    if (set.taken) recorder.put_binary(trial.variant, trial.binary);
    result_.winners.push_back(
        tuned_winner(findings_, decision, chosen, element_alignment(context_.op, task_.problem)));
    if (!set.taken) result_.winners.back().note = set.why;
  }
  for (const auto& [winner, rows] : finalist_rows(findings_, decision))
    recorder.record_finalists(findings_.trial(winner).measurement, rows);
  result_.finalists = first_finalists(findings_, decision);
  for (const std::int64_t alignment : decision.dropped) recorder.drop_winner(task_.problem, alignment);
  if (decision.base) {
    const Trial& base = findings_.trials.front();
    recorder.put_binary(base.variant, base.binary);
    result_.base = tuned_time(base);
  }
}

}  // namespace tunesmith
