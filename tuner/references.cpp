#include "tuner/references.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tunesmith {
namespace {

// A process that died may have been killed for want of memory that others held for a moment.
constexpr int most_failures = 3;

}  // namespace

void References::want(const std::string& op, const std::string& problem, std::uint64_t seed) {
  for (const Entry& entry : entries_) {
    if (entry.request.problem == problem && entry.request.seed == seed) return;
  }
  MemoryFile file;
  ReferenceRequest request{op, problem, seed, file.path()};
  entries_.push_back({std::move(request), std::move(file)});
  go_on();
}

std::string References::ready(const std::string& problem, std::uint64_t seed) const {
  for (const Entry& entry : entries_) {
    if (entry.complete && entry.request.problem == problem && entry.request.seed == seed)
      return entry.request.memory;
  }
  return {};
}

void References::forget_others(const std::string& problem) {
  std::erase_if(entries_,
                [&](const Entry& entry) { return entry.complete && entry.request.problem != problem; });
}

References::Entry* References::pending() {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return !e.complete; });
  return found != entries_.end() ? &*found : nullptr;
}

void References::go_on() {
  const Entry* const next = pending();
  if (busy_ || next == nullptr) return;
  if (!child_) child_ = std::make_unique<Child>("reference");
  if (const OwnOp* own = find_own_op(next->request.op))
    child_->send(to_frame(OwnOpNotice{own->text, device_}));
  child_->send(to_frame(next->request));  // should it be gone, update() sees it
  busy_ = true;
  deadline_ =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
}

void References::update() {
  if (!child_) return;
  if (const auto frame = child_->receive()) {
    const auto reply = from_frame<PrepareReply>(*frame);
    Entry& made = *pending();
    if (!reply.error.empty())
      throw Error("The problem " + made.request.problem + " cannot be prepared: " + reply.error);
    made.complete = true;
    failures_ = 0;
    busy_ = false;
    deadline_ = Clock::time_point::max();
    return go_on();
  }
  const bool late = Clock::now() >= deadline_;
  if (!late && !child_->gone()) return;
  if (late) child_->kill();
  char limit[64];
  std::snprintf(limit, sizeof limit, "took longer than %.3g s", timeout_s_);
  const std::string how = late ? limit : child_->end();
  child_.reset();
  if (busy_ && (late || ++failures_ >= most_failures)) {
    throw Error("The process that computes inputs and references of " + pending()->request.problem + " " +
                how + (late ? "." : ", " + std::to_string(failures_) + " times in a row.") +
                " Give a smaller problem, or look into the op's reference.");
  }
  busy_ = false;
  go_on();
}

}  // namespace tunesmith
