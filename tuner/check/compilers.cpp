// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/compilers.h"

#include <algorithm>
#include <utility>

#include "generator/hash.h"
#include "generator/number_text.h"
#include "generator/ops.h"
#include "kernel_file/add.h"
#include "runtime/cache.h"

namespace tunesmith {
namespace {

constexpr double start_timeout_s = 120;
constexpr double goodbye_s = 2;
constexpr std::size_t most_log_bytes =
    2000;  // limit of a compiler's output in a reason; C++ templates can fill pages

Clock::time_point in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Compilers::Compilers(const std::string& target, int processes, double timeout_s,
                     const std::filesystem::path& cache_folder)
    : target_(target), timeout_s_(timeout_s), processes_(static_cast<std::size_t>(std::max(processes, 1))) {
  Process& first = processes_.front();
  start(first);
  const Clock::time_point deadline = in(start_timeout_s);
  while (!first.greeted) {
    wait_for({first.child->descriptor()}, 1);
    std::vector<CompileResult> none;
    if (const auto frame = first.child->receive()) take(first, *frame, none);
    if (!first.greeted && first.child->gone())
      throw Error("The compiler's worker " + first.child->end() + ".");
    if (Clock::now() > deadline) throw Error("The compiler's worker did not start within 120 s.");
  }
  if (!cache_folder.empty()) cache_folder_ = cache_folder / ("tuner-" + sha256(identity_).substr(0, 16));
}

void Compilers::start(Process& process) {
  process.child.reset();
  process.child = std::make_unique<Child>("compile:" + target_);
  process.greeted = false;
}

bool Compilers::has_room() const {
  return std::any_of(processes_.begin(), processes_.end(), [](const Process& p) { return !p.at_work; });
}

int Compilers::at_work() const {
  return static_cast<int>(std::count_if(processes_.begin(), processes_.end(),
                                        [](const Process& p) { return p.at_work && p.wanted; }));
}

Compilers::Process& Compilers::give(const Source& source, double limit_s) {
  Process& process =
      *std::find_if(processes_.begin(), processes_.end(), [](const Process& p) { return !p.at_work; });
  process.request = {source.text, source.hash, source.suffix, source.target, source.kernels, cache_folder_};
  process.again = false;
  process.at_work = true;
  process.wanted = false;
  process.limit_s = limit_s > 0 ? std::min(limit_s, timeout_s_) : timeout_s_;
  process.began = Clock::now();
  send(process);
  return process;
}

Compilers::Process* Compilers::unwanted(const Source& source) {
  const auto found = std::find_if(processes_.begin(), processes_.end(), [&](const Process& p) {
    return p.at_work && !p.wanted && p.request.hash == source.hash && p.request.suffix == source.suffix &&
           p.request.target == source.target;
  });
  return found == processes_.end() ? nullptr : &*found;
}

void Compilers::begin(std::int64_t ticket, const Source& source, double limit_s) {
  Process* const begun = unwanted(source);
  Process& process = begun != nullptr ? *begun : give(source, limit_s);
  process.wanted = true;
  process.ticket = ticket;
}

void Compilers::begin_ahead(const Source& source, double limit_s) {
  if (unwanted(source) == nullptr) give(source, limit_s);
}

void Compilers::send(Process& process) {
  if (!process.child) start(process);
  process.child->send(to_frame(process.request));  // if it is gone, update() notices
  process.limit.reset();
  process.deadline = in(start_timeout_s);
  if (process.greeted) process.limit_begins();
}

void Compilers::Process::limit_begins() {
  limit.emplace(child->process(), limit_s, processor_seconds(child->process()));
}

bool Compilers::Process::is_late() { return limit ? limit->is_over() : Clock::now() >= deadline; }

void Compilers::rest(Process& process) {
  process.at_work = false;
  busy_s_ += std::chrono::duration<double>(Clock::now() - process.began).count();
}

void Compilers::take(Process& process, const Frame& frame, std::vector<CompileResult>& results) {
  if (frame.kind == Hello::kind) {
    const auto hello = from_frame<Hello>(frame);
    if (hello.usage) throw UsageError(hello.error);
    if (!hello.error.empty()) throw Error(hello.error);
    identity_ = hello.identity;
    process.greeted = true;
    if (process.at_work) process.limit_begins();
    return;
  }
  auto reply = from_frame<CompileReply>(frame);
  CompileResult result;
  result.ticket = process.ticket;
  if (!reply.cached) result.milliseconds = reply.milliseconds;
  if (reply.ok) {
    result.binary = std::move(reply.bytes);
  } else {
    result.verdict = reply.is_late ? Verdict::timeout : Verdict::compile_error;
    // The compiler's process does not know the ops that were given to this process.
    const std::string log = located(reply.log, process.request.text);
    result.reason = (reply.is_late ? "" : "It does not compile: ") + log.substr(0, most_log_bytes) +
                    (log.size() > most_log_bytes ? " …" : "");
  }
  rest(process);
  if (process.wanted) results.push_back(std::move(result));
  if (reply.last) start(process);
}

std::vector<CompileResult> Compilers::update() {
  std::vector<CompileResult> results;
  for (Process& process : processes_) {
    if (!process.child) continue;
    while (const auto frame = process.child->receive()) take(process, *frame, results);
    const bool late = process.at_work && process.is_late();
    if (!late && !process.child->gone()) continue;
    if (process.at_work && !late && process.wanted && !std::exchange(process.again, true)) {
      // The next process may succeed: somebody may have killed this one, or memory was short.
      start(process);
      send(process);
      continue;
    }
    if (process.at_work) {
      CompileResult result;
      result.ticket = process.ticket;
      if (late) {
        result.verdict = Verdict::timeout;
        result.reason =
            "Compiling took longer than " +
            (process.limit ? process.limit->passed() : printed("%.3g s", start_timeout_s)) +
            "; the compiler was ended." +
            (process.limit_s < timeout_s_ ? " It may take longer in a run with a longer budget." : "");
        result.milliseconds = 1e3 * process.limit_s;
      } else {
        result.verdict = Verdict::compile_error;
        result.reason = "The compiler's process " + process.child->end() + ", and so did another one before.";
      }
      rest(process);
      if (process.wanted) results.push_back(std::move(result));
    }
    process.child.reset();  // ends it; the next source starts another
  }
  return results;
}

// Running compilers are not killed: a killed compiler leaves its files behind.
void Compilers::drop_all() {
  for (Process& process : processes_) process.wanted = false;
}

Compilers::~Compilers() {
  for (Process& process : processes_) {
    if (process.child) process.child->say_goodbye();
  }
  const Clock::time_point deadline = in(goodbye_s);
  for (Process& process : processes_) {
    while (process.child && !process.child->gone() && Clock::now() < deadline) {
      wait_for({process.child->descriptor()}, 0.1);
      while (process.child->receive()) {
      }
    }
  }
  BinaryCache(cache_folder_.parent_path()).trim(most_cached_bytes);
}

void Compilers::descriptors(std::vector<int>& add_to) const {
  for (const Process& process : processes_) {
    if (process.child) add_to.push_back(process.child->descriptor());
  }
}

Clock::time_point Compilers::deadline() const {
  Clock::time_point earliest = Clock::now() + std::chrono::hours(1);
  for (const Process& process : processes_) {
    if (process.at_work)
      earliest = std::min(earliest, process.limit ? process.limit->next_look() : process.deadline);
  }
  return earliest;
}

}  // namespace tunesmith
