// SPDX-License-Identifier: Apache-2.0
#include "tuner/check/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "generator/ops.h"
#include "kernel_file/add.h"
#include "kernel_file/find_op.h"
#include "runtime/cache.h"
#include "runtime/toolchain.h"
#include "tuner/check/check_memory.h"
#include "tuner/check/checker.h"
#include "tuner/check/messages.h"
#include "tuner/check/watched_reference.h"
#include "tuner/device/kernel_reference.h"

namespace tunesmith {
namespace {

constexpr double answer_timeout_s = 60;  // the tuner reads at once, unless somebody stopped it

// A compiler process that runs for days must not grow for days: beyond these limits it is replaced, which
// takes 50 ms.
constexpr int most_compilations = 1000;
constexpr std::int64_t most_resident_bytes = std::int64_t{1} << 30;

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class Channel {
 public:
  template <typename Message>
  void send(const Message& message) {
    if (!send_frame(worker_descriptor, to_frame(message), answer_timeout_s))
      throw Error("The tuner is gone.");
  }
  bool receive(Frame& frame) { return receive_frame(worker_descriptor, buffer_, frame); }

 private:
  FrameBuffer buffer_;
};

// The result of `make`, or nothing after the reason was sent to the tuner.
template <typename Make>
auto make_or_tell(Channel& channel, Make make) -> decltype(make()) {
  Hello hello;
  try {
    return make();
  } catch (const UsageError& error) {
    hello.usage = true;
    hello.error = error.what();
  } catch (const std::exception& error) {
    hello.error = error.what();
  }
  channel.send(hello);
  return {};
}

int compile_all(Channel& channel, std::string_view target) {
  static_cast<void>(!::nice(5));  // the device's worker and the tuner have precedence
  const std::unique_ptr<Toolchain> toolchain = make_or_tell(channel, [&] { return make_toolchain(target); });
  if (!toolchain) return 1;
  Hello hello;
  hello.identity = toolchain->identity();
  channel.send(hello);
  int count = 0;
  for (Frame frame; channel.receive(frame);) {
    CompileRequest request = from_frame<CompileRequest>(frame);
    const Source source{.text = std::move(request.text),
                        .hash = std::move(request.hash),
                        .suffix = std::move(request.suffix),
                        .kernels = std::move(request.kernels),
                        .target = std::move(request.target)};
    CompileReply reply;
    const BinaryCache cache(request.cache_folder);
    if (auto known = cache.find(source)) {
      reply.ok = reply.cached = true;
      reply.bytes = std::move(*known);
    } else {
      Compilation compiled = toolchain->compile(source);
      reply.ok = compiled.ok;
      reply.is_late = compiled.is_late;
      reply.bytes = std::move(compiled.bytes);
      reply.log =
          compiled.ok ? std::move(compiled.log) : located(compiled.log, source.text, template_files());
      reply.milliseconds = compiled.milliseconds;
    }
    reply.last = ++count == most_compilations || resident_bytes() > most_resident_bytes;
    channel.send(reply);
    if (reply.ok && !reply.cached)
      static_cast<void>(cache.put(source, reply.bytes));  // while the tuner goes on
    if (reply.last) return 0;
  }
  return 0;
}

int make_references(Channel& channel) {
  bool may_be_watched = false;  // a kernel is the reference, and runs on the host
  for (Frame frame; channel.receive(frame);) {
    if (frame.kind == UserKernelNotice::kind) {
      const auto notice = from_frame<UserKernelNotice>(frame);
      add_user_kernel(notice.file);
      run_references_on(notice.device);
      ask_for_references(notice.program);
      ask_for_inputs(notice.inputs);
      may_be_watched = notice.program.empty() && notice.device == "host";
      continue;
    }
    const auto request = from_frame<ReferenceRequest>(frame);
    PrepareReply reply;
    try {
      const Op& op = find_op(request.op);
      const Problem problem = complete_problem(op, Problem::parse(request.problem));
      if (request.watched && may_be_watched)
        reply.error = outside_access_of_reference(op, problem, request.seed);
      if (reply.error.empty()) make_check_file(op, problem, request.seed, request.memory);
    } catch (const std::bad_alloc&) {
      reply.error = "the memory of this machine is not enough for it; give a smaller problem.";
    } catch (const std::exception& error) {
      reply.error = error.what();
      if (may_be_watched && reply.error.find(host_fault_words) != std::string::npos) {
        const Op& op = find_op(request.op);
        const std::string found = outside_access_of_reference(
            op, complete_problem(op, Problem::parse(request.problem)), request.seed);
        if (!found.empty()) reply.error = found;
      }
    }
    channel.send(reply);
  }
  return 0;
}

int measure_all(Channel& channel, std::string_view given) {
  Hello hello;
  const std::unique_ptr<Device> device = make_or_tell(channel, [&] {
    const ChosenDevice chosen = choose_device(DeviceId::parse(given));
    hello.identity = chosen.id.text();
    hello.note = chosen.note;
    return make_device(chosen);
  });
  if (!device) return 1;
  hello.device = device->facts();
  hello.driver = device->driver();
  hello.uuid = device->uuid();
  hello.energy = device->tells_energy();
  hello.other_processes = device->other_processes();
  channel.send(hello);

  std::unique_ptr<Checker> checker;
  for (Frame frame; channel.receive(frame);) {
    if (frame.kind == UserKernelNotice::kind) {
      add_user_kernel(from_frame<UserKernelNotice>(frame).file);
      continue;
    }
    if (frame.kind == PrepareRequest::kind) {
      const auto request = from_frame<PrepareRequest>(frame);
      PrepareReply reply;
      try {
        const Op& op = find_op(request.op);
        checker.reset();  // releases its memory before the next one allocates
        const Problem problem = complete_problem(op, Problem::parse(request.problem));
        const CheckFile file(op, problem, request.memory);
        checker = std::make_unique<Checker>(*device, op, file.parts());
      } catch (const std::bad_alloc&) {
        reply.error = "the memory of this machine is not enough for it; give a smaller problem.";
      } catch (const std::exception& error) {
        reply.error = error.what();
      }
      channel.send(reply);
      continue;
    }
    const auto request = from_frame<MeasureRequest>(frame);
    if (!checker) throw Error("The worker was asked to measure a variant before it was given a problem.");
    const MeasureReply reply = checker->judge(request);
    channel.send(reply);
    // Nothing is released: a failed context refuses to, and a damaged heap might abort the process.
    if (reply.lost) std::_Exit(0);
  }
  return 0;
}

}  // namespace

int worker_main(std::string_view role) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // the tuner decides what an interrupt ends
  Channel channel;
  try {
    static constexpr std::string_view compile = "compile:";
    if (role.substr(0, compile.size()) == compile) return compile_all(channel, role.substr(compile.size()));
    if (role == "reference") return make_references(channel);
    return measure_all(channel, role);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace tunesmith
