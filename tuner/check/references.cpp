// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/references.h"

#include <algorithm>
#include <utility>

#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {
namespace {

// A process that died may have been killed because others held much memory for a moment.
constexpr int most_failures = 3;

std::string key_of(const ReferenceRequest& wanted) {
  return wanted.op + ' ' + wanted.problem + ' ' + std::to_string(wanted.seed);
}

}  // namespace

SharedReferences::SharedFile SharedReferences::find(const ReferenceRequest& wanted) {
  const std::scoped_lock lock(mutex_);
  const auto [at, is_new] = files_.try_emplace(key_of(wanted));
  if (is_new) return {true, nullptr};
  if (auto file = at->second.lock()) return {false, std::move(file)};
  const std::weak_ptr<MemoryFile> never;
  const bool was_made = at->second.owner_before(never) || never.owner_before(at->second);
  if (was_made) at->second.reset();  // and its file has no owner any more
  return {was_made, nullptr};
}

void SharedReferences::complete(const ReferenceRequest& made, const std::shared_ptr<MemoryFile>& file) {
  const std::scoped_lock lock(mutex_);
  files_[key_of(made)] = file;
}

void SharedReferences::give_up(const ReferenceRequest& wanted) {
  const std::scoped_lock lock(mutex_);
  files_.erase(key_of(wanted));
}

References::~References() { give_up(); }

void References::give_up() {
  if (busy_) child_.reset();  // its answer would be taken for the answer to the next request
  busy_ = false;
  deadline_ = Clock::time_point::max();
  std::erase_if(jobs_, [&](const ReferenceJob& job) {
    if (job.complete) return false;
    if (job.file) shared_->give_up(job.request);
    return true;
  });
}

// Takes over the file that another device has made, or the task of making it.
void References::look(ReferenceJob& job) {
  SharedReferences::SharedFile found = shared_->find(job.request);
  if (found.is_mine) {
    job.file = std::make_shared<MemoryFile>();
  } else if (found.file) {
    job.file = std::move(found.file);
    job.complete = true;
  }
  if (job.file) job.request.memory = job.file->path();
}

void References::want(const std::string& op, const std::string& problem, std::uint64_t seed) {
  for (const ReferenceJob& job : jobs_) {
    if (job.request.problem == problem && job.request.seed == seed) return;
  }
  look(jobs_.emplace_back(ReferenceJob{{op, problem, seed, ""}}));
  go_on();
}

std::string References::ready(const std::string& problem, std::uint64_t seed) const {
  for (const ReferenceJob& job : jobs_) {
    if (job.complete && job.request.problem == problem && job.request.seed == seed) return job.request.memory;
  }
  return {};
}

void References::forget_others(const std::string& problem) {
  std::erase_if(jobs_,
                [&](const ReferenceJob& job) { return job.complete && job.request.problem != problem; });
}

References::ReferenceJob* References::pending() {
  const auto found =
      std::find_if(jobs_.begin(), jobs_.end(), [](const ReferenceJob& e) { return e.file && !e.complete; });
  return found != jobs_.end() ? &*found : nullptr;
}

void References::go_on() {
  const ReferenceJob* const next = pending();
  if (busy_ || next == nullptr) return;
  if (!child_) child_ = std::make_unique<Child>("reference");
  if (const UserKernel* own = find_op(next->request.op).user_kernel)
    child_->send(to_frame(UserKernelNotice{own->file, device_, program_, inputs_}));
  child_->send(to_frame(next->request));  // if it is gone, update() notices
  busy_ = true;
  deadline_ =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
}

void References::update() {
  for (ReferenceJob& job : jobs_)
    if (!job.file) look(job);
  go_on();
  if (!child_) return;
  if (const auto frame = child_->receive()) {
    const auto reply = from_frame<PrepareReply>(*frame);
    ReferenceJob& made = *pending();
    if (!reply.error.empty()) {
      const Error error("The problem " + made.request.problem + " cannot be prepared: " + reply.error);
      busy_ = false;
      give_up();
      throw error;
    }
    made.complete = true;
    shared_->complete(made.request, made.file);
    failures_ = 0;
    busy_ = false;
    deadline_ = Clock::time_point::max();
    return go_on();
  }
  const bool late = Clock::now() >= deadline_;
  if (!late && !child_->gone()) return;
  if (late) child_->kill();
  const std::string how = late ? printed("took longer than %.3g s", timeout_s_) : child_->end();
  child_.reset();
  if (busy_ && !late) pending()->request.watched = failures_ + 2 == most_failures;
  if (busy_ && (late || ++failures_ >= most_failures)) {
    const Error error("The process that computes inputs and references of " + pending()->request.problem +
                      " " + how + (late ? "." : ", " + std::to_string(failures_) + " times in a row.") +
                      " Give a smaller problem, or look into the op's reference.");
    give_up();
    throw error;
  }
  busy_ = false;
  go_on();
}

}  // namespace tunesmith
