// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/device_worker.h"

#include <algorithm>
#include <utility>

#include "generator/number_text.h"
#include "kernel_file/find_op.h"
#include "kernel_file/user_kernel.h"

namespace tunesmith {
namespace {

// A worker that dies during its start may have found the device still being reset after its predecessor.
constexpr int most_failed_starts = 3;

std::string seconds(double value) { return printed("%.3g s", value); }

Clock::time_point in(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double left(Clock::time_point deadline) {
  return std::chrono::duration<double>(deadline - Clock::now()).count();
}

}  // namespace

DeviceWorker::DeviceWorker(std::string id, const WorkerTimeouts& timeouts)
    : id_(std::move(id)), timeouts_(timeouts) {
  start();
  while (state_ == State::starting) {
    wait_for({descriptor()}, std::min(left(deadline_), 1.0));
    update();
  }
  id_ = hello_.identity;  // a restart gets the same device
}

TimeSpent& DeviceWorker::spent() {
  count_time();
  return spent_;
}

void DeviceWorker::count_time() {
  const Clock::time_point now = Clock::now();
  const double passed = std::chrono::duration<double>(now - counted_).count();
  counted_ = now;
  switch (state_) {
    case State::starting:
    case State::preparing:
      spent_.prepare_s += passed;
      return;
    case State::idle:
      (expects_problem_ ? spent_.prepare_s : spent_.idle_s) += passed;
      return;
    case State::busy:
      spent_.other_s += passed;
  }
}

void DeviceWorker::enter(State state, double timeout_s) {
  count_time();
  state_ = state;
  limit_s_ = timeout_s;
  entered_ = Clock::now();
  deadline_ = in(timeout_s);
  work_.reset();
}

void DeviceWorker::start() {
  child_.reset();
  child_ = std::make_unique<Child>(id_);
  wants_another_ = false;
  enter(State::starting, timeouts_.start_s);
}

void DeviceWorker::expect_problem() {
  count_time();
  expects_problem_ = true;
}

void DeviceWorker::prepare(const PrepareRequest& request) {
  count_time();
  expects_problem_ = false;
  wanted_ = request;
  if (state_ == State::starting) return;  // its first message is followed by this request
  if (state_ == State::preparing) {       // and so is its answer to the request before
    wants_another_ = true;
    return;
  }
  if (const UserKernel* own = find_op(request.op).user_kernel)
    child_->send(to_frame(UserKernelNotice{own->file, "", "", ""}));
  child_->send(to_frame(request));  // if it is gone, update() notices
  enter(State::preparing, timeouts_.prepare_s);
}

void DeviceWorker::measure(const MeasureRequest& request, double limit_s) {
  child_->send(to_frame(request));
  enter(State::busy, timeouts_.measure_s > 0 ? timeouts_.measure_s : limit_s);
  if (hello_.device.kind == DeviceKind::host)
    work_.emplace(process(), limit_s_, processor_seconds(process()));
}

void DeviceWorker::take(const Frame& frame, std::optional<MeasureReply>& reply) {
  switch (state_) {
    case State::starting: {
      auto hello = from_frame<Hello>(frame);
      if (hello.version != protocol_version) {
        throw Error("The worker has protocol version " + std::to_string(hello.version) +
                    ", the tuner version " + std::to_string(protocol_version) + ".");
      }
      if (!hello.error.empty()) {
        if (hello.usage) throw UsageError(hello.error);
        throw Error(hello.error);
      }
      hello_ = std::move(hello);
      enter(State::idle, 0);
      if (wanted_) {
        prepare(*wanted_);
      } else {
        failed_starts_ = 0;
      }
      return;
    }
    case State::preparing: {
      const auto prepared = from_frame<PrepareReply>(frame);
      if (std::exchange(wants_another_, false)) {
        enter(State::idle, 0);
        prepare(*wanted_);
        return;
      }
      if (!prepared.error.empty()) {
        throw Error("The problem " + wanted_->problem + " cannot be prepared on " + id_ + ": " +
                    prepared.error);
      }
      failed_starts_ = 0;
      enter(State::idle, 0);
      return;
    }
    case State::busy:
      reply = from_frame<MeasureReply>(frame);
      enter(State::idle, 0);
      spent_.load_s += reply->load_s;
      spent_.check_s += reply->check_s;
      spent_.time_s += reply->time_s;
      spent_.other_s -= reply->load_s + reply->check_s + reply->time_s;
      if (reply->lost) {
        ++deaths_;
        child_->end();  // frees its memory and its device before the next one starts
        start();
      }
      return;
    case State::idle:
      throw Error("The worker on " + id_ + " sent a message that was not requested.");
  }
}

MeasureReply DeviceWorker::died(bool late) {
  MeasureReply reply;
  ++deaths_;
  // The time counts as checking, which it mostly is; the worker did not say.
  const double took = std::chrono::duration<double>(Clock::now() - entered_).count();
  reply.check_s = took;
  spent_.check_s += took;
  spent_.other_s -= took;
  if (late) {
    reply.verdict = Verdict::timeout;
    reply.reason = "Loading, checking and timing took longer than " +
                   (work_ ? work_->passed() : seconds(limit_s_)) + "; the worker was ended.";
    if (hello_.device.kind == DeviceKind::host)
      reply.reason += " The host emulates a GPU, so a right kernel may be that slow: try a smaller problem.";
  } else {
    reply.verdict = Verdict::crash;
    reply.reason = "The worker process " + child_->end() + ".";
  }
  return reply;
}

void DeviceWorker::fail_if_unable(const std::string& how) {
  if (++failed_starts_ < most_failed_starts) return;
  const std::string doing =
      state_ == State::starting ? "starting" : "preparing " + (wanted_ ? wanted_->problem : "");
  throw Error("The worker on " + id_ + " failed " + std::to_string(failed_starts_) +
              " times in a row while " + doing + ": the last one " + how +
              ". Likely causes are too little memory for the problem and a device that needs a reset.");
}

std::optional<MeasureReply> DeviceWorker::update() {
  std::optional<MeasureReply> reply;
  while (!reply) {
    const auto frame = child_->receive();
    if (!frame) break;
    take(*frame, reply);
  }
  if (reply) return reply;
  const bool late = state_ != State::idle && (work_ ? work_->is_over() : Clock::now() >= deadline_);
  if (!late && !child_->gone()) return reply;
  if (late) child_->kill();
  const std::string how = late ? "took longer than " + seconds(limit_s_) : child_->end();
  if (state_ == State::busy) {
    reply = died(late);
  } else if (state_ != State::idle) {
    fail_if_unable(how);
  }
  start();
  return reply;
}

}  // namespace tunesmith
