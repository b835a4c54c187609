// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/device_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "db/store.h"
#include "generator/listed.h"
#include "generator/same_model.h"
#include "kernel_file/user_kernel.h"
#include "tuner/run/interrupt.h"
#include "tuner/run/problem_run.h"

namespace tunesmith {
namespace {

int compilers_wanted(const CompileOptions& options, std::size_t device_runs) {
  // One processor is left to each worker: on the host its times are wall-clock times.
  const int all = options.processes > 0
                      ? options.processes
                      : static_cast<int>(std::thread::hardware_concurrency()) - static_cast<int>(device_runs);
  return std::max(1, all / static_cast<int>(device_runs));
}

// Recorder::known() reads these sentences.
std::string compared_with(const UserKernel& own, const MeasureOptions& options) {
  const std::string& program = options.reference;
  return (program.empty() ? own.compared : "The reference of " + own.op.name + " is " + program + ".") +
         (options.inputs.empty() ? "" : " Its inputs come from " + options.inputs + ".");
}

}  // namespace

DeviceRun::DeviceRun(const Setup& setup, Progress& progress)
    : setup_(setup),
      progress_(setup.device_runs > 1 ? progress.named(setup.device) : progress),
      store_(Store::open(setup.database, Store::Mode::create)),
      references_(setup.options.measure.worker.prepare_s, setup.references),
      worker_(setup.device, setup.options.measure.worker),
      compilers_(device().target, compilers_wanted(setup.options.compile, setup.device_runs),
                 setup.options.compile.timeout_s, setup.options.compile.cache_folder),
      policy_(setup.options.measure.policy.value_or(policy_for(device().kind))) {
  const TuneOptions& options = setup.options;
  references_.run_on(id());
  references_.ask(options.measure.reference);
  references_.take_inputs_from(options.measure.inputs);
  SessionRow& session = facts_.session;
  session.command = options.command;
  if (const UserKernel* own = setup.op.user_kernel)
    session.command += "  # " + compared_with(*own, options.measure);
  const SearchOptions& search = options.search;
  session.strategy = options.mode.chooses_again()
                         ? "finals"
                         : search.strategy + (search.prior == Prior::none ? ", prior none" : "");
  session.budget = search.budget + (search.until.empty() ? "" : ", until " + search.until);
  session.seed = static_cast<std::int64_t>(options.seed);
  session.toolchain = compilers_.identity();
  session.driver = worker_.hello().driver;
  session.device_uuid = worker_.hello().uuid;
  facts_.device = device();
  facts_.conditions = on_device(device().kind, options.measure.conditions);
}

void DeviceRun::introduce() {
  const SearchOptions& search = setup_.options.search;
  const bool searches = setup_.options.mode.searches();
  std::string budget = searches ? ", " + budget_text(search.budget) + " per problem" : "";
  const Budget parsed = Budget::parse(search.budget);
  // A small number is easily meant as seconds.
  if (searches && parsed.count && !parsed.seconds && *parsed.count < 100)
    budget += " (--budget " + search.budget + "s is a time)";
  if (searches && !search.until.empty()) budget += ", or until less than " + search.until + " is expected";
  progress_.say((setup_.options.mode.only_checks() ? "Checking " : "Tuning ") +
                std::string(facts_.conditions.caches == Caches::cold ? "for cold caches " : "") +
                (facts_.conditions.launches == Launches::chained ? "for chained launches " : "") + "on " +
                device().name + " (" + id() + ", " + device().target + ")" + budget +
                (note().empty() ? "." : ". " + note()));
  if (const UserKernel* own = setup_.op.user_kernel) {
    progress_.say(compared_with(*own, setup_.options.measure));
    // One note says what is done; the others are similar.
    if (!own->notes.empty())
      progress_.say(own->notes.front() +
                    (own->notes.size() > 1 ? "; so " + std::string(own->notes.size() == 2 ? "does " : "do ") +
                                                 counted(own->notes.size() - 1, "more line")
                                           : ""));
  }
}

void DeviceRun::must_be_like(const DeviceRun& first) const {
  if (same_model(device(), first.device())) return;
  throw UsageError("The devices of one run must be of one model; " + first.id() + " is " +
                   first.device().name + " and " + id() + " is " + device().name +
                   ". Tune them in runs of their own.");
}

TunedProblem DeviceRun::run(const ProblemTask& task) {
  if (!progress_.in_parts()) progress_.say(setup_.op.name + " " + task.problem.text());
  ProblemRun run(
      {setup_.op, setup_.options, policy_, compilers_, references_, worker_, recorder(), progress_}, task);
  return run.run();
}

std::string DeviceRun::binary_of(const RenderedVariant& variant) {
  compilers_.begin(0, variant.source);
  while (compilers_.at_work() > 0 && !interrupted()) {
    std::vector<int> descriptors;
    compilers_.descriptors(descriptors);
    wait_for(descriptors, 0.2);
    for (CompileResult& result : compilers_.update()) return std::move(result.binary);
  }
  return {};
}

double DeviceRun::median_us(const RenderedVariant& variant, const Problem& problem,
                            const std::string& binary) {
  references_.want(setup_.op.name, problem.text(), setup_.options.seed);
  std::string memory;
  while ((memory = references_.ready(problem.text(), setup_.options.seed)).empty()) {
    if (interrupted()) return 0;
    wait_for({references_.descriptor()}, 0.2);
    references_.update();
  }
  worker_.prepare({setup_.op.name, problem.text(), memory});
  MeasureRequest request;
  request.template_name = variant.tmpl->name;
  request.config = variant.point.config.text();
  request.suffix = variant.source.suffix;
  request.binary = binary;
  request.timing = {.samples = policy_.final_samples,
                    .sample_target_us = policy_.sample_target_us,
                    .conditions = setup_.options.measure.conditions};
  for (bool asked = false; !interrupted();) {
    if (!asked && worker_.idle()) {
      worker_.measure(request, 60);  // for the base
      asked = true;
    }
    wait_for({worker_.descriptor()}, 0.2);
    const auto reply = worker_.update();
    if (reply) return reply->verdict == Verdict::ok ? summarize(reply->samples_us).median_us : 0;
  }
  return 0;
}

void DeviceRun::rest() { references_.give_up(); }

void DeviceRun::add_spent(TuneResult& result) {
  result.spent.add(worker_.spent(), 1.0 / static_cast<double>(setup_.device_runs));
  result.compile_s += compilers_.busy_s();
  result.compilers += compilers_.processes();
}

void DeviceRun::finish() {
  if (recorder_) recorder_->finish();
}

Recorder& DeviceRun::recorder() {
  if (!recorder_) recorder_.emplace(store_, setup_.op, facts_);
  return *recorder_;
}

}  // namespace tunesmith
