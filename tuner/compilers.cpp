#include "tuner/compilers.h"

#include <algorithm>
#include <cstdio>

namespace tunesmith {
namespace {

constexpr double start_timeout_s = 120;
constexpr double goodbye_s = 2;
constexpr std::size_t most_log_bytes =
    2000;  // of a compiler's output in a reason; C++ templates can fill pages

Clock::time_point in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Compilers::Compilers(const std::string& target, int processes, double timeout_s)
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

void Compilers::begin(std::int64_t ticket, const Source& source) {
  Process& process =
      *std::find_if(processes_.begin(), processes_.end(), [](const Process& p) { return !p.at_work; });
  if (!process.child) start(process);
  CompileRequest request;
  request.text = source.text;
  request.hash = source.hash;
  request.suffix = source.suffix;
  request.target = source.target;
  request.kernels = source.kernels;
  process.child->send(to_frame(request));  // should it be gone, update() sees it
  process.at_work = true;
  process.began = Clock::now();
  process.wanted = true;
  process.ticket = ticket;
  process.deadline = in(timeout_s_ + (process.greeted ? 0 : start_timeout_s));
}

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
    if (process.at_work) process.deadline = in(timeout_s_);
    return;
  }
  auto reply = from_frame<CompileReply>(frame);
  CompileResult result;
  result.ticket = process.ticket;
  result.milliseconds = reply.milliseconds;
  if (reply.ok) {
    result.binary = std::move(reply.bytes);
  } else {
    result.verdict = Verdict::compile_error;
    result.reason = "It does not compile: " + reply.log.substr(0, most_log_bytes);
  }
  rest(process);
  if (process.wanted) results.push_back(std::move(result));
}

std::vector<CompileResult> Compilers::update() {
  std::vector<CompileResult> results;
  for (Process& process : processes_) {
    if (!process.child) continue;
    while (const auto frame = process.child->receive()) take(process, *frame, results);
    const bool late = process.at_work && Clock::now() >= process.deadline;
    if (!late && !process.child->gone()) continue;
    if (process.at_work) {
      CompileResult result;
      result.ticket = process.ticket;
      if (late) {
        char words[80];
        std::snprintf(words, sizeof words, "Compiling took longer than %.3g s; the compiler was ended.",
                      timeout_s_);
        result.verdict = Verdict::timeout;
        result.reason = words;
      } else {
        result.verdict = Verdict::compile_error;
        result.reason = "The compiler's process " + process.child->end() + ".";
      }
      rest(process);
      if (process.wanted) results.push_back(std::move(result));
    }
    process.child.reset();  // ends it; the next source starts another
  }
  return results;
}

// They are not killed: a compiler that is killed leaves its files behind.
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
}

void Compilers::descriptors(std::vector<int>& add_to) const {
  for (const Process& process : processes_) {
    if (process.child) add_to.push_back(process.child->descriptor());
  }
}

Clock::time_point Compilers::deadline() const {
  Clock::time_point earliest = Clock::now() + std::chrono::hours(1);
  for (const Process& process : processes_) {
    if (process.at_work) earliest = std::min(earliest, process.deadline);
  }
  return earliest;
}

}  // namespace tunesmith
