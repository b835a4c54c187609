// SPDX-License-Identifier: Apache-2.0
// Implements the C interface, tunesmith.h, with the C++ interface, dispatcher.h.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/error.h"
#include "generator/values.h"
#include "tunesmith/dispatcher.h"
#include "tunesmith/tunesmith.h"

using tunesmith::Status;
using tunesmith::UsageError;

struct tunesmith_dispatcher {  // NOLINT(readability-identifier-naming)
  explicit tunesmith_dispatcher(const tunesmith::DispatcherOptions& options) : dispatcher(options) {}

  // Texts that were returned once stay valid, as the dispatcher's notes do.
  const char* notes() const {
    const std::vector<std::string>& now = dispatcher.notes();
    std::string text;
    for (const std::string& note : now) text += note + "\n";
    const std::scoped_lock lock(mutex);
    return texts.emplace(now.size(), std::move(text)).first->second.c_str();
  }

  tunesmith::Dispatcher dispatcher;
  mutable std::mutex mutex;                          // guards texts
  mutable std::map<std::size_t, std::string> texts;  // by the number of notes
};

struct tunesmith_plan {  // NOLINT(readability-identifier-naming)
  tunesmith::Plan plan;
};

namespace {

static_assert(TUNESMITH_WRONG_ARGUMENT_COUNT == int{Status::wrong_argument_count} &&
              TUNESMITH_NULL_ARGUMENT == int{Status::null_argument} &&
              TUNESMITH_MISALIGNED_ARGUMENT == int{Status::misaligned_argument} &&
              TUNESMITH_OVERLAPPING_ARGUMENTS == int{Status::overlapping_arguments} &&
              TUNESMITH_MISSING_WORKSPACE == int{Status::missing_workspace} &&
              TUNESMITH_FOREIGN_ARGUMENT == int{Status::foreign_argument} &&
              TUNESMITH_WRONG_INPUT == int{Status::wrong_input} && TUNESMITH_FAILED == int{Status::failed} &&
              TUNESMITH_WRONG_NUMBER_COUNT == int{Status::wrong_number_count} &&
              TUNESMITH_REFUSED_NUMBERS == int{Status::refused_numbers});
static_assert(TUNESMITH_EXACT == static_cast<int>(tunesmith::Match::exact) &&
              TUNESMITH_PREDICTED == static_cast<int>(tunesmith::Match::predicted) &&
              TUNESMITH_OTHER_DEVICE == static_cast<int>(tunesmith::Match::other_device) &&
              TUNESMITH_BASE == static_cast<int>(tunesmith::Match::base));

// pthread_cancel() ends a thread by an exception, which no noexcept function lets pass: so a cancellation
// within C++ code waits until the call returns.
class NotCancelled {
 public:
  NotCancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { ::pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = 0;
};

template <typename Function>
Status attempt(const Function& function) noexcept {
  const NotCancelled scope;
  return tunesmith::attempt(function);
}

thread_local std::string last_text;
thread_local const char* last_message = "";

tunesmith_status remember(const Status& status) noexcept {
  if (status) return TUNESMITH_SUCCESS;
  try {
    last_text = status.message();
    last_message = last_text.c_str();
  } catch (...) {
    last_message = "A call failed, and there is no memory to say why.";
  }
  return status.code();
}

// Returns `pointer`; throws UsageError if `pointer` is null.
template <typename T>
T* given(T* pointer, const char* what) {
  if (pointer == nullptr)
    throw UsageError("The pointer to the " + std::string(what) + " is null; pass one that is not.");
  return pointer;
}

bool is_on(const std::string& name, const std::string& word) {
  if (word != "on" && word != "off")
    throw UsageError("The option " + name + " is \"" + word + "\"; allowed are on and off.");
  return word == "on";
}

std::int64_t count(const std::string& name, const tunesmith::Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number < 0)
    throw UsageError("The option " + name + " is " + tunesmith::to_text(value) +
                     "; it must be a whole number of at least 0.");
  return *number;
}

tunesmith::Compile compile_of(const std::string& word) {
  if (word == "background") return tunesmith::Compile::background;
  if (word == "now") return tunesmith::Compile::now;
  if (word == "never") return tunesmith::Compile::never;
  throw UsageError("The option compile is \"" + word + "\"; allowed are background, now and never.");
}

tunesmith::DispatcherOptions options_of(const char* text) {
  tunesmith::DispatcherOptions options;
  if (text == nullptr) return options;
  const tunesmith::Values given_options = tunesmith::Values::parse(text);
  for (const auto& [name, value] : given_options.entries()) {
    const auto* number = std::get_if<std::int64_t>(&value);
    const std::string word = number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
    if (name == "device") {
      options.device = word;
    } else if (name == "database") {
      options.database = word;
    } else if (name == "kernels") {
      for (std::size_t at = 0; at <= word.size();) {
        const std::size_t end = std::min(word.find(':', at), word.size());
        if (end > at) options.kernels.push_back(word.substr(at, end - at));
        at = end + 1;
      }
    } else if (name == "host_binaries") {
      options.host_binaries = is_on(name, word);
    } else if (name == "compile") {
      options.compile = compile_of(word);
    } else if (name == "compile_limit_ms") {
      options.compile_limit = std::chrono::milliseconds(count(name, value));
    } else if (name == "cache_folder") {
      options.cache_folder = word;
    } else if (name == "overlap") {
      options.overlap = is_on(name, word);
    } else if (name == "check_pointers") {
      options.check_pointers = is_on(name, word);
    } else if (name == "most_bytes") {
      options.most_bytes = static_cast<std::size_t>(count(name, value));
    } else if (name == "tune_on_first_use") {
      options.tune_on_first_use = static_cast<std::size_t>(count(name, value));
    } else if (name == "keep_first_use") {
      options.keep_first_use = is_on(name, word);
    } else {
      throw UsageError(
          "There is no option " + name +
          "; the options are device, database, kernels, host_binaries, compile, compile_limit_ms, "
          "cache_folder, overlap, check_pointers, most_bytes, tune_on_first_use and keep_first_use.");
    }
  }
  return options;
}

}  // namespace

const char* tunesmith_message() { return last_message; }
const char* tunesmith_version() { return TUNESMITH_VERSION; }

const char* tunesmith_first_device() {
  bool cuda = false;
  static_cast<void>(attempt([&] { cuda = tunesmith::first_device() == "cuda"; }));
  return cuda ? "cuda" : "host";
}

tunesmith_status tunesmith_dispatcher_create(const char* options, tunesmith_dispatcher** dispatcher) {
  return remember(attempt([&] {
    given(dispatcher, "new dispatcher");
    *dispatcher = new tunesmith_dispatcher(options_of(options));
  }));
}

void tunesmith_dispatcher_destroy(tunesmith_dispatcher* dispatcher) {
  const NotCancelled scope;
  delete dispatcher;
}

const char* tunesmith_dispatcher_device(const tunesmith_dispatcher* dispatcher) {
  return dispatcher == nullptr ? "" : dispatcher->dispatcher.device().c_str();
}
int tunesmith_dispatcher_cuda_ordinal(const tunesmith_dispatcher* dispatcher) {
  return dispatcher == nullptr ? -1 : dispatcher->dispatcher.cuda_ordinal();
}
const char* tunesmith_dispatcher_notes(const tunesmith_dispatcher* dispatcher) {
  const char* notes = "";
  static_cast<void>(remember(attempt([&] { notes = dispatcher == nullptr ? "" : dispatcher->notes(); })));
  return notes;
}

tunesmith_status tunesmith_plan_create(tunesmith_dispatcher* dispatcher, const char* op, const char* problem,
                                       tunesmith_plan** plan) {
  return remember(attempt([&] {
    given(plan, "new plan");
    *plan = new tunesmith_plan{
        given(dispatcher, "dispatcher")->dispatcher.plan(given(op, "op"), given(problem, "problem"))};
  }));
}

void tunesmith_plan_destroy(tunesmith_plan* plan) {
  const NotCancelled scope;
  delete plan;
}

tunesmith_match tunesmith_plan_match(const tunesmith_plan* plan) {
  return plan == nullptr ? TUNESMITH_BASE : static_cast<tunesmith_match>(plan->plan.match());
}
double tunesmith_plan_expected_us(const tunesmith_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.expected_us();
}
double tunesmith_plan_expected_loss(const tunesmith_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.expected_loss();
}
const char* tunesmith_plan_template(const tunesmith_plan* plan) {
  return plan == nullptr ? "" : plan->plan.variant().template_name.c_str();
}
const char* tunesmith_plan_config(const tunesmith_plan* plan) {
  return plan == nullptr ? "" : plan->plan.variant().config.c_str();
}
const char* tunesmith_plan_problem(const tunesmith_plan* plan) {
  return plan == nullptr ? "" : plan->plan.problem().c_str();
}
int64_t tunesmith_plan_alignment_bytes(const tunesmith_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.alignment_bytes();
}
int64_t tunesmith_plan_workspace_bytes(const tunesmith_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.workspace_bytes();
}
size_t tunesmith_plan_argument_count(const tunesmith_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.argument_count();
}
int64_t tunesmith_plan_argument_bytes(const tunesmith_plan* plan, size_t argument) {
  return argument < tunesmith_plan_argument_count(plan) ? plan->plan.argument_bytes(argument) : 0;
}
int tunesmith_plan_outdated(const tunesmith_plan* plan) {
  return plan != nullptr && plan->plan.outdated() ? 1 : 0;
}

tunesmith_status tunesmith_plan_launch(const tunesmith_plan* plan, void* const* arguments, size_t count,
                                       void* stream, void* workspace) {
  return tunesmith_plan_launch_with_numbers(plan, arguments, count, nullptr, 0, stream, workspace);
}

tunesmith_status tunesmith_plan_launch_with_numbers(const tunesmith_plan* plan, void* const* arguments,
                                                    size_t count, const double* numbers, size_t number_count,
                                                    void* stream, void* workspace) {
  const bool lacks_arguments = arguments == nullptr && count > 0;
  if (plan == nullptr || lacks_arguments || (numbers == nullptr && number_count > 0)) {
    return remember(attempt([&] {
      given(plan, "plan");
      if (lacks_arguments) given(arguments, "arguments");
      given(numbers, "numbers");
    }));
  }
  const NotCancelled scope;
  return remember(plan->plan.launch({arguments, count}, std::span(numbers, number_count), stream, workspace));
}

tunesmith_status tunesmith_prepare(tunesmith_dispatcher* dispatcher, const tunesmith_problem* problems,
                                   size_t count) {
  return remember(attempt([&] {
    std::vector<tunesmith::NamedProblem> named;
    for (size_t i = 0; i < count; ++i) {
      const tunesmith_problem& one = given(problems, "problems")[i];
      named.push_back({given(one.op, "op"), given(one.problem, "problem")});
    }
    given(dispatcher, "dispatcher")->dispatcher.prepare(named);
  }));
}

tunesmith_status tunesmith_wait_until_ready(tunesmith_dispatcher* dispatcher, int64_t limit_ms) {
  using std::chrono::milliseconds;
  constexpr milliseconds longest = std::chrono::hours(24 * 365);  // beyond some 292 years a clock overflows
  bool ready = true;
  const Status status = attempt([&] {
    const milliseconds limit = limit_ms < 0 ? milliseconds::max() : std::min(milliseconds(limit_ms), longest);
    ready = given(dispatcher, "dispatcher")->dispatcher.wait_until_ready(limit);
  });
  if (status && !ready) {
    last_message = "Kernels are still being compiled or loaded; wait longer.";
    return TUNESMITH_NOT_READY;
  }
  return remember(status);
}

tunesmith_status tunesmith_summary(const tunesmith_dispatcher* dispatcher, const tunesmith_usage** usages,
                                   size_t* count) {
  return remember(attempt([&] {
    static thread_local std::vector<tunesmith::Usage> kept;
    static thread_local std::vector<tunesmith_usage> listed;
    given(usages, "usages");
    given(count, "count");
    kept = given(dispatcher, "dispatcher")->dispatcher.summary();
    listed.clear();
    for (const tunesmith::Usage& one : kept) {
      listed.push_back({.op = one.op.c_str(),
                        .problem = one.problem.c_str(),
                        .match = static_cast<tunesmith_match>(one.match),
                        .launches = one.launches,
                        .expected_us = one.expected_us,
                        .expected_loss = one.expected_loss,
                        .lost_us = one.lost_us});
    }
    *usages = listed.data();
    *count = listed.size();
  }));
}

tunesmith_status tunesmith_save_problems(const tunesmith_dispatcher* dispatcher, const char* file) {
  return remember(attempt(
      [&] { given(dispatcher, "dispatcher")->dispatcher.save_problems(given(file, "file's name")); }));
}

tunesmith_status tunesmith_explain(tunesmith_dispatcher* dispatcher, const char* op, const char* problem,
                                   const char** text) {
  return remember(attempt([&] {
    static thread_local std::string kept;
    given(text, "text");
    kept = given(dispatcher, "dispatcher")->dispatcher.explain(given(op, "op"), given(problem, "problem"));
    *text = kept.c_str();
  }));
}
