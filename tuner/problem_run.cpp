#include "tuner/problem_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "generator/error.h"
#include "generator/listed.h"

namespace tunesmith {
namespace {

// Between two looks at the clock and at the interrupt.
constexpr double longest_wait_s = 0.2;

// What was measured on another device says less, like another problem.
constexpr double other_device = 1;

// Finals alone begin with so many of what is stored; known times need no measurement, those of another
// toolchain do.
constexpr std::int64_t most_stored = 64;

// The winners' second check must not see the inputs of the first.
constexpr std::uint64_t second_check_seed = 0x7265636865636bu;

// What a check times: of a single launch the noise would be as large as the time.
constexpr double few_launches_us = 30;

// A finalist was measured before, and is now measured for longer.
constexpr double finals_limit = 5;

// An interrupted run waits so long for what the device and the compilers have begun.
constexpr double patience_s = 1;

// Proposes these, in their order.
// What is listed is for a library that compiles it when it is first needed; and one that takes longer would
// hold up all that are behind it.
constexpr double most_compile_s_of_a_list = 6;

class Listed : public Search {
 public:
  explicit Listed(std::vector<Point> points) : points_(std::move(points)) {}
  std::optional<Point> next() override {
    return next_ < points_.size() ? std::optional(points_[next_++]) : std::nullopt;
  }
  void report(const Point&, Verdict, double) override {}

 private:
  std::vector<Point> points_;
  std::size_t next_ = 0;
};

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string variant_text(const Trial& trial) {
  return trial.variant.tmpl->name + " " + trial.variant.point.config.text();
}

// Where all that is measured is listed, the base alone: the whole takes up to 0.2 s (conv_covariance).
SearchSpace space_of(const ProblemRun::Bench& bench, const Problem& problem) {
  std::vector<std::string> templates = bench.options.templates;
  if (bench.stages == ProblemRun::Bench::Stages::list) templates = {bench.op.templates.front().name};
  return search_space(bench.op, problem, bench.worker.hello().device, templates);
}

}  // namespace

ProblemRun::ProblemRun(const Bench& bench, const Problem& problem, const Problem* next)
    : bench_(bench),
      problem_(problem),
      next_(next),
      space_(space_of(bench, problem)),
      previous_(bench.recorder.winners()),
      started_(Clock::now()),
      deaths_seen_(bench.worker.deaths()) {
  result_.variants = space_.count();
  strategy_ = strategy();
  std::erase_if(previous_,
                [&](const WinnerRow& row) { return row.provisional || row.problem.text != problem.text(); });
  search_ = std::make_unique<SearchRun>(
      SearchRun::Setup{
          .search = *strategy_,
          .base = *space_.base,
          .device = device(),
          .device_id = bench.worker.hello().identity,
          .policy = bench.policy,
          .budget = bench.budget,
          .known = bench.recorder.known(problem),
          .base_again = bench.stages != Bench::Stages::list,
          .most_compile_s = bench.stages == Bench::Stages::list ? most_compile_s_of_a_list : 0,
          .least_loads = bench.stages == Bench::Stages::list ? bench.policy.list_loads : 1,
          .until_gain = bench.options.until.empty() ? 0 : least_gain_of(bench.options.until),
          .retry_failed = bench.options.retry_failed,
          .render =
              [this](const Point& point) { return render_variant(bench_.op, problem_, point, device()); },
          .record = record(),
          .now_s = [this] { return since(started_); }},
      findings_);
  result_.problem = problem.text();
  if (bench.stages == Bench::Stages::check || bench.stages == Bench::Stages::list)
    result_.variants = std::ssize(space_.promising);
  if (bench.stages != Bench::Stages::list) want_inputs(bench.options.seed);
}

std::unique_ptr<Search> ProblemRun::strategy() {
  if (bench_.stages != Bench::Stages::all && bench_.stages != Bench::Stages::search) {
    space_.promising = bench_.stages == Bench::Stages::list    ? listed()
                       : bench_.stages == Bench::Stages::check ? checked()
                                                               : stored();
    space_.parts.clear();
    return std::make_unique<Listed>(space_.promising);
  }
  space_.promising =
      promising(space_, guesses(), [&](std::string_view name) { return template_index(bench_.op, name); });
  const auto make = [&](std::uint64_t seed) {
    return make_search(bench_.options.strategy, space_, seed, bench_.options.prior);
  };
  auto whole = make(bench_.options.seed);
  if (!in_parts()) return whole;
  // Searches that hear of each other's verdicts propose alike, so they divide the points; and so do those
  // that do not learn, or have time for all points. Others find more where each may propose any.
  const bool all = bench_.budget.count ? *bench_.budget.count >=
                                             result_.variants / static_cast<std::int64_t>(bench_.part.parts)
                                       : !bench_.budget.seconds;
  if (hears_others() || all || !whole->learns()) {
    space_.share = bench_.part.part;
    space_.shares = bench_.part.parts;
  } else {
    space_.promising = promising_of(space_.promising, bench_.part);
  }
  return make(seed_of(bench_.options.seed, bench_.part));
}

// What is built in comes first, so that no run ends with a slower kernel than there was.
std::vector<Guess> ProblemRun::guesses() const {
  std::vector<Guess> guesses;
  const auto add = [&](const std::string& problem, double further, std::size_t place,
                       const std::string& template_name, const std::string& config) {
    try {
      const Problem other = complete_problem(bench_.op, Values::parse(problem));
      guesses.push_back({distance(bench_.op, problem_, other) + further, place, template_name, config});
    } catch (const UsageError&) {
      // The op has changed since.
    }
  };
  for (const BuiltIn& winner : bench_.options.built_in) {
    if (winner.op == bench_.op.name) add(winner.problem, 0, 0, winner.template_name, winner.config);
  }
  for (const WinnerRow& row : previous_) add(row.problem.text, 0, 0, row.template_.name, row.variant.config);
  std::size_t place = 0;
  const Store::Fast* before = nullptr;
  const std::vector<Store::Fast> fastest = bench_.recorder.fastest(most_remembered);
  for (const Store::Fast& fast : fastest) {
    const bool same =
        before != nullptr && before->problem == fast.problem && before->device_id == fast.device_id;
    place = same ? place + 1 : 0;
    before = &fast;
    const bool here = fast.device_id == bench_.recorder.device();
    add(fast.problem, here ? 0 : other_device, place, fast.template_name, fast.config);
  }
  return guesses;
}

// The kernels of the library's own winners of this problem, by hash.
std::vector<std::string> ProblemRun::built_in() const {
  std::vector<std::string> hashes;
  for (const BuiltIn& winner : bench_.options.built_in) {
    if (winner.op != bench_.op.name || winner.problem != problem_.text()) continue;
    if (const auto variant = render_legal(bench_.op, problem_, winner.template_name, winner.config, device()))
      hashes.push_back(variant->source.hash);
  }
  return hashes;
}

// The base, and the fastest that were measured on the problem, where their templates still have them.
std::vector<Point> ProblemRun::stored() const {
  std::vector<Point> points = {*space_.base};
  for (const Store::Fast& fast : bench_.recorder.fastest(most_stored)) {
    if (fast.device_id != bench_.recorder.device() || fast.problem != problem_.text()) continue;
    auto point = legal_point(bench_.op, problem_, device(), fast.template_name, fast.config);
    if (point && *point != points.front()) points.push_back(std::move(*point));
  }
  return points;
}

// The base, and what is listed where it is legal.
std::vector<Point> ProblemRun::listed() const {
  std::vector<Point> points = {*space_.base};
  for (const NamedVariant& variant : bench_.listed) {
    auto point = legal_point(bench_.op, problem_, device(), variant.template_name, variant.config);
    if (point && *point != points.front()) points.push_back(std::move(*point));
  }
  return points;
}

// The base, and this problem's part of what covers each template's axes.
std::vector<Point> ProblemRun::checked() const {
  std::vector<Point> points = {*space_.base};
  const std::size_t problems = bench_.options.problems.size();
  for (const SearchSpace::Part& part : space_.parts) {
    const std::vector<Config> configs =
        covering_configs(part.space, *bench_.options.random_checks, bench_.options.seed);
    for (std::size_t c = 0; c < configs.size(); ++c) {
      Point point{part.template_index, configs[c]};
      if ((c == 0 || c % problems == bench_.part.problem) && point != points.front())
        points.push_back(std::move(point));
    }
  }
  return points;
}

TunedProblem ProblemRun::run() {
  search();
  if (has_finals() && !bench_.interrupted()) finals();
  if (bench_.interrupted() && (has_finals() || in_parts())) name_provisional();
  bench_.progress.done();
  result_.verdicts = findings_.verdicts;
  result_.measured = findings_.measured;
  result_.known = findings_.known;
  result_.worst_us = findings_.worst_us;
  if (!findings_.trials.empty() && findings_.trials.front().variant.is_base) {
    const MeasureReply& base = findings_.trials.front().reply;
    if (base.verdict != Verdict::ok)
      result_.base_fault = std::string(name(base.verdict)) + ": " + base.reason;
  }
  for (const Trial& trial : findings_.trials) {
    if (bench_.stages == Bench::Stages::check && trial.reply.verdict != Verdict::ok)
      result_.failed.push_back({trial.variant.tmpl->name, trial.variant.point.config.text(),
                                trial.reply.verdict, trial.reply.reason});
  }
  result_.seconds = since(started_);
  return std::move(result_);
}

// From here on variants are measured on these inputs, as soon as they are made.
void ProblemRun::want_inputs(std::uint64_t seed) {
  inputs_seed_ = seed;
  wanted_ = true;
  prepared_ = false;
  bench_.worker.expect_problem();
  bench_.references.want(bench_.op.name, problem_.text(), seed);
}

void ProblemRun::prepare() {
  bench_.references.update();
  if (prepared_ || !wanted_) return;
  const std::string memory = bench_.references.ready(problem_.text(), inputs_seed_);
  if (memory.empty()) return;
  prepared_ = true;
  bench_.worker.prepare({bench_.op.name, problem_.text(), memory});
  bench_.references.forget_others(problem_.text());
  if (!has_finals() && next_ != nullptr && may_prepare_ahead())
    bench_.references.want(bench_.op.name, next_->text(), bench_.options.seed);
}

// The arithmetic would disturb the times of the host, and a reference that is a kernel those of a GPU.
bool ProblemRun::may_prepare_ahead() const {
  return device().kind != "host" && find_own_op(bench_.op.name) == nullptr;
}

// Of one variant, from what the base took.
double ProblemRun::limit_s() const {
  const Op& op = bench_.op;
  double base_s = 0;
  if (!findings_.trials.empty() && findings_.trials.front().checked &&
      findings_.trials.front().reply.verdict != Verdict::timeout) {
    const MeasureReply& base = findings_.trials.front().reply;
    base_s = base.load_s + base.check_s + base.time_s;
  }
  const double amount = (op.flops ? op.flops(problem_) : 0) + (op.bytes_moved ? op.bytes_moved(problem_) : 0);
  return measure_limit_s(limits_for(device().kind), base_s, amount);
}

// In the finals of all questions that were asked of the variant.
Recorder::Cost ProblemRun::cost(const Trial& trial, const MeasureReply& reply) {
  Recorder::Cost cost;
  cost.stage = in_finals_ ? "finals" : bench_.stages == Bench::Stages::list ? "table" : "search";
  cost.wall_s = reply.load_s + reply.check_s + reply.time_s;
  if (in_finals_) cost.wall_s = std::exchange(finals_s_[trial.variant.source.hash], 0);
  if (trial.variant.is_base && bench_.stages != Bench::Stages::list) cost.space_variants = result_.variants;
  return cost;
}

Record ProblemRun::record() {
  return [this](const Trial& trial, const MeasureReply& reply) {
    const bool waits = bench_.worker.idle();
    const Clock::time_point start = Clock::now();
    const std::int64_t id = bench_.recorder.record(problem_, trial.variant, reply, trial.compile_ms,
                                                   trial.loads_us, cost(trial, reply));
    if (reply.verdict != Verdict::ok) {
      const std::string kind(name(reply.verdict));
      bench_.progress.say_once(bench_.op.name + " " + kind,
                               "The first " + kind + ": " + bench_.op.name + "/" + variant_text(trial) +
                                   " for " + problem_.text() + ". " + one_line(reply.reason));
    }
    if (waits) bench_.worker.spent().stored(since(start));
    return id;
  };
}

MeasureRequest ProblemRun::request(Ticket ticket) const {
  const Trial& trial = findings_.trial(ticket);
  MeasureRequest request;
  request.template_name = trial.variant.tmpl->name;
  request.config = trial.variant.point.config.text();
  request.suffix = trial.variant.source.suffix;
  request.binary = trial.binary;
  request.samples = bench_.policy.samples;
  if (bench_.stages == Bench::Stages::list) request.loads = bench_.policy.list_loads;
  request.sample_target_us = bench_.policy.sample_target_us;
  if (bench_.stages == Bench::Stages::check) {  // some launches more, after which the result must be the same
    request.samples = 1;
    request.sample_target_us = few_launches_us;
  }
  request.chained = bench_.options.chained;
  request.cold_caches = bench_.options.cold_caches;
  return request;
}

void ProblemRun::wait() {
  std::vector<int> descriptors = {bench_.worker.descriptor()};
  bench_.compilers.descriptors(descriptors);
  double seconds = longest_wait_s;
  const auto until = [&](Clock::time_point deadline) {
    seconds = std::min(seconds, std::chrono::duration<double>(deadline - Clock::now()).count());
  };
  if (!bench_.worker.idle()) until(bench_.worker.deadline());
  until(bench_.compilers.deadline());
  if (bench_.references.descriptor() >= 0) {
    descriptors.push_back(bench_.references.descriptor());
    until(bench_.references.deadline());
  }
  wait_for(descriptors, seconds);
  prepare();
}

ProgressState ProblemRun::progress(const std::string& stage, std::int64_t done, std::int64_t total) const {
  ProgressState state;
  state.stage = stage;
  state.done = done;
  state.total = total;
  state.elapsed_s = search_->elapsed_s();
  state.budget_s = stage == "search" ? bench_.budget.seconds.value_or(0) : 0;
  state.measured = in_finals_ ? 0 : findings_.measured;
  state.failed = findings_.failed;
  if (bench_.stages != Bench::Stages::check) {
    state.best_us = findings_.best_us;
    state.base_us = findings_.base_us();
  }
  state.cold_caches = bench_.options.cold_caches;
  state.chained = bench_.options.chained;
  return state;
}

void ProblemRun::show(const std::string& stage, std::int64_t done, std::int64_t total) {
  bench_.progress.show(progress(stage, done, total));
}

// ---- The search

void ProblemRun::search() {
  // Without parts only what is promising is proposed.
  const std::int64_t proposed = space_.parts.empty() ? std::ssize(space_.promising) : result_.variants;
  while (true) {
    const bool over = bench_.interrupted() || search_->out_of_time();
    if (over) {
      bench_.compilers.drop_all();
      search_->drop_waiting();
    } else {
      propose();
      compile_ahead();
    }
    for (CompileResult& result : bench_.compilers.update()) search_->compiled(std::move(result));
    if (bench_.interrupted()) search_->drop_waiting();
    feed();
    if (search_->idle() && bench_.compilers.at_work() == 0 && (over || search_->exhausted())) break;
    if (out_of_patience()) break;
    wait();
    take_measured();
    show(bench_.stages == Bench::Stages::check ? "check" : "search", search_->counted(),
         std::min(bench_.budget.count.value_or(proposed), proposed));
  }
  result_.search_s = search_->elapsed_s();
  if (search_->little_expected()) {
    bench_.progress.say("The search ends after " +
                        counted(static_cast<std::size_t>(search_->counted()), "variant") +
                        ": it expects less than " + bench_.options.until + " of more.");
  }
}

// It has waited long enough since the interrupt, for a variant that hangs or a compilation that takes
// minutes.
bool ProblemRun::out_of_patience() {
  if (!bench_.interrupted()) return false;
  if (!interrupted_at_) interrupted_at_ = Clock::now();
  return since(*interrupted_at_) > patience_s;
}

// With parts, which the same file tells of each other.
void ProblemRun::hear_others() {
  if (!hears_others() || !strategy_->learns()) return;
  for (const Store::Verdict& other : bench_.recorder.of_others(problem_)) {
    const auto index = template_index(bench_.op, other.template_name);
    const auto part =
        std::find_if(space_.parts.begin(), space_.parts.end(),
                     [&](const SearchSpace::Part& each) { return index && each.template_index == *index; });
    if (part == space_.parts.end()) continue;
    if (auto config = part->space.find(Values::parse(other.config)))
      search_->learn({*index, std::move(*config)}, verdict_of(other.verdict), other.median_us);
  }
}

// The fastest so far, which no finals have compared. Not before all that is promising has been tried: one
// that is built in may be faster.
void ProblemRun::name_provisional() {
  if (bench_.options.objective != Objective::time) return;
  const auto judged = [&](const Point& point) {
    return std::any_of(findings_.trials.begin(), findings_.trials.end(), [&](const Trial& trial) {
      return trial.variant.point == point && trial.measurement > 0;
    });
  };
  const bool all_tried = in_parts()
                             ? findings_.trials.size() > space_.promising.size()  // some are another part's
                             : std::all_of(space_.promising.begin(), space_.promising.end(), judged);
  if (!judged(*space_.base) || !all_tried) return;
  std::vector<const Trial*> named;
  for (const bool any_alignment : {false, true}) {
    const Trial* best = nullptr;
    for (const Trial& trial : findings_.trials) {
      if (trial.median_us <= 0 || trial.measurement <= 0 || !reentrant(trial.variant.work)) continue;
      if (any_alignment && trial.variant.alignment_bytes > element_alignment(bench_.op, problem_)) continue;
      if (best == nullptr || trial.median_us < best->median_us) best = &trial;
    }
    if (best != nullptr && std::find(named.begin(), named.end(), best) == named.end()) named.push_back(best);
  }
  Recorder& recorder = bench_.recorder;
  for (const Trial* trial : named) {
    const std::int64_t alignment = trial->variant.alignment_bytes;
    if (!recorder.set_winner(trial->measurement, alignment, false, Store::Found::provisionally).taken)
      continue;
    if (!trial->binary.empty()) recorder.put_binary(trial->variant, trial->binary);
    result_.provisional = true;
    TunedWinner& winner = result_.winners.emplace_back();
    winner.any_alignment = alignment <= element_alignment(bench_.op, problem_);
    winner.template_name = trial->variant.tmpl->name;
    winner.config = trial->variant.point.config.text();
    winner.time.median_us = trial->median_us;
    winner.alignment_bytes = alignment;
    winner.registers = trial->reply.registers;
  }
  if (result_.provisional && findings_.base_us() > 0) result_.base = time_of(findings_.trials.front());
}

void ProblemRun::propose() {
  while (bench_.compilers.has_room()) {
    const auto proposal = search_->propose();
    if (!proposal) return;
    if (proposal->compile) {
      if (!wanted_) want_inputs(bench_.options.seed);
      Source& source = findings_.trial(proposal->ticket).variant.source;
      bench_.compilers.begin(proposal->ticket, source, search_->compile_limit_s());
      source.text.clear();  // thousands of texts; the hash and the config make it again
    }
    if (bench_.interrupted()) return;
    show(bench_.stages == Bench::Stages::check ? "check" : "search", search_->counted(), 0);
  }
}

// One slow compilation holds up a list, not the other compilers.
void ProblemRun::compile_ahead() {
  if (bench_.stages != Bench::Stages::list || next_ == nullptr || !search_->exhausted()) return;
  while (ahead_ < bench_.listed_next.size() && bench_.compilers.has_room()) {
    const NamedVariant& listed = bench_.listed_next[ahead_++];
    const auto variant = render_legal(bench_.op, *next_, listed.template_name, listed.config, device());
    if (variant) bench_.compilers.begin_ahead(variant->source, most_compile_s_of_a_list);
  }
}

void ProblemRun::feed() {
  if (!prepared_ || !bench_.worker.idle()) return;
  const auto wanted = search_->to_measure();
  if (!wanted) return;
  MeasureRequest asked = request(wanted->ticket);
  if (bench_.stages != Bench::Stages::check) asked.give_up_above_us = wanted->give_up_above_us;
  bench_.worker.measure(asked, limit_s());
}

void ProblemRun::take_measured() {
  auto reply = bench_.worker.update();
  if (!reply) return;
  const bool died = bench_.worker.deaths() != std::exchange(deaths_seen_, bench_.worker.deaths());
  search_->measured(std::move(*reply), died);
  if (!bench_.interrupted()) feed();  // the device works on while this verdict is written down
  search_->write_down();
  hear_others();
}

// ---- The finals

void ProblemRun::finals() {
  Finals finals({.policy = bench_.policy,
                 .element_bytes = element_alignment(bench_.op, problem_),
                 .previous = previous_,
                 .built_in = built_in(),
                 .caches = bench_.options.cold_caches ? "cold" : "warm",
                 .launches = launches_of(device().kind, bench_.options.chained),
                 .objective = bench_.options.objective,
                 .energy = bench_.options.energy && device().kind != "host",
                 .now_s = [this] { return since(started_); },
                 .render =
                     [this](const WinnerRow& row) {
                       return render_legal(bench_.op, problem_, row.template_.name, row.variant.config,
                                           device());
                     },
                 .record = record()},
                findings_);
  if (may_prepare_ahead()) {
    bench_.references.want(bench_.op.name, problem_.text(), bench_.options.seed ^ second_check_seed);
    if (next_ != nullptr) bench_.references.want(bench_.op.name, next_->text(), bench_.options.seed);
  }
  in_finals_ = true;
  compile_missing(finals);
  bool other_inputs = false;
  while (const auto question = finals.next()) {
    if (bench_.interrupted()) return;
    if (question->other_inputs && !std::exchange(other_inputs, true))
      want_inputs(bench_.options.seed ^ second_check_seed);
    auto reply = ask(*question);
    // A round that was cut short is worth nothing, a second check is a verdict.
    if (!reply || (bench_.interrupted() && !question->other_inputs)) return;
    finals_s_[findings_.trial(question->ticket).variant.source.hash] +=
        reply->load_s + reply->check_s + reply->time_s;
    finals.answered(std::move(*reply));
    show_finals(finals, *question);
  }
  if (!bench_.interrupted()) write(finals.decide());
}

void ProblemRun::show_finals(const Finals& finals, const Finals::Question& asked) {
  if (!bench_.progress.due()) return;
  if (asked.energy) return show("finals: energy", finals.done(), finals.total());
  if (asked.other_inputs) return show("finals: checking again", finals.done(), finals.total());
  ProgressState state = progress("finals: round", finals.done(), finals.total());
  state.running = static_cast<std::int64_t>(finals.running());
  if (const auto best = finals.best_us()) {
    state.best_us = best->middle;
    state.best_within = (best->high - best->low) / 2 / best->middle;
  }
  bench_.progress.show(state);
}

void ProblemRun::compile_missing(Finals& finals) {
  const std::vector<Ticket> missing = finals.uncompiled();
  std::size_t next = 0;
  while ((next < missing.size() || bench_.compilers.at_work() > 0) && !bench_.interrupted()) {
    while (next < missing.size() && bench_.compilers.has_room()) {
      const Ticket ticket = missing[next++];
      const Point& point = findings_.trial(ticket).variant.point;
      bench_.compilers.begin(ticket, render_variant(bench_.op, problem_, point, device()).source);
    }
    wait();
    bench_.worker.update();
    for (CompileResult& result : bench_.compilers.update()) finals.compiled(std::move(result));
    show("finals: compiling", static_cast<std::int64_t>(next), static_cast<std::int64_t>(missing.size()));
  }
  bench_.compilers.drop_all();
}

std::optional<MeasureReply> ProblemRun::ask(const Finals::Question& question) {
  while (!prepared_ || !bench_.worker.idle()) {
    if (bench_.interrupted()) return std::nullopt;
    wait();
    bench_.worker.update();
  }
  MeasureRequest wanted = request(question.ticket);
  wanted.check = question.check;
  wanted.samples = question.samples;
  wanted.energy = question.energy;
  wanted.repeats = repeats_for(findings_.best_us, bench_.policy.sample_target_us);  // one for all finalists
  bench_.worker.measure(wanted, finals_limit * limit_s());
  while (true) {
    wait();
    if (auto reply = bench_.worker.update()) return reply;
    if (out_of_patience()) return std::nullopt;
  }
}

TunedTime ProblemRun::time_of(const Trial& trial) const {
  TunedTime time;
  time.median_us = trial.median_us;
  time.interval_us = median_interval(trial.loads_us, stated_confidence);
  time.energy_uj = trial.reply.energy_uj;
  return time;
}

TunedWinner ProblemRun::tuned_winner(const Decision& decision, const Decision::Winner& chosen) const {
  const Trial& trial = findings_.trial(chosen.ticket);
  TunedWinner winner;
  winner.any_alignment = chosen.alignment_bytes <= element_alignment(bench_.op, problem_);
  winner.template_name = trial.variant.tmpl->name;
  winner.config = trial.variant.point.config.text();
  winner.time = time_of(trial);
  winner.alignment_bytes = chosen.alignment_bytes;
  winner.registers = trial.reply.registers;
  for (const Decision::Finalist& each : decision.finalists) {
    if (each.winner != chosen.ticket) continue;
    ++winner.finalists;
    if (each.tied) ++winner.tied;
    if (each.ticket != each.winner && winner.runner_up.empty()) {
      winner.runner_up = variant_text(findings_.trial(each.ticket));
      winner.runner_up_ratio = each.ratio;
    }
  }
  return winner;
}

void ProblemRun::record_finalists(const Decision& decision) {
  std::map<Ticket, std::vector<FinalistRow>> of_winner;
  for (const Decision::Finalist& each : decision.finalists) {
    FinalistRow row;
    row.measurement_id = findings_.trial(each.ticket).measurement;
    row.ratio = each.ratio.middle;
    if (std::isfinite(each.ratio.high)) {
      row.ratio_low = each.ratio.low;
      row.ratio_high = each.ratio.high;
    }
    row.tied = each.tied;
    of_winner[each.winner].push_back(row);
  }
  for (const auto& [winner, rows] : of_winner)
    bench_.recorder.record_finalists(findings_.trial(winner).measurement, rows);
}

void ProblemRun::write(const Decision& decision) {
  Recorder& recorder = bench_.recorder;
  for (const Decision::Confirmed& confirmed : decision.confirmed) {
    const Trial& trial = findings_.trial(confirmed.ticket);
    recorder.set_winner(trial.measurement, confirmed.alignment_bytes, confirmed.other_kind);
    recorder.put_binary(trial.variant, trial.binary);
  }
  for (const Decision::Winner& chosen : decision.winners) {
    const Trial& trial = findings_.trial(chosen.ticket);
    const SetWinner set =
        recorder.set_winner(trial.measurement, chosen.alignment_bytes, chosen.replaces_stale);
    if (set.taken) recorder.put_binary(trial.variant, trial.binary);
    result_.winners.push_back(tuned_winner(decision, chosen));
    if (!set.taken) result_.winners.back().note = set.why;
  }
  record_finalists(decision);
  for (const Decision::Finalist& each : decision.finalists) {
    if (each.winner != decision.winners.front().ticket) continue;
    const Trial& trial = findings_.trial(each.ticket);
    result_.finalists.push_back(
        {trial.variant.tmpl->name, trial.variant.point.config.text(), trial.median_us, each.ratio.middle});
  }
  for (const std::int64_t alignment : decision.dropped) recorder.drop_winner(problem_, alignment);
  if (decision.base) {
    const Trial& base = findings_.trials.front();
    recorder.put_binary(base.variant, base.binary);
    result_.base = time_of(base);
  }
}

}  // namespace tunesmith
