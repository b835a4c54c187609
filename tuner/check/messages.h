// SPDX-License-Identifier: Apache-2.0
// The messages between tuner and worker. The tuner asks, the worker answers, one request at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/op.h"
#include "kernel_file/user_kernel.h"
#include "tuner/device/timing.h"
#include "tuner/process/wire.h"
#include "tuner/search/verdict.h"

namespace tunesmith {

/// Increased with every change to a message below.
inline constexpr std::int32_t protocol_version = 10;

/// The first message of either kind of worker: says what it is, or why it cannot work.
struct Hello {
  static constexpr std::uint8_t kind = 1;
  std::int32_t version = protocol_version;
  std::string error;     ///< why it cannot work; empty if it can
  bool usage = false;    ///< the error is a person's wrong input
  std::string identity;  ///< of a compiler: Toolchain::identity(); of a device: its id, "cuda:0"
  std::string note;      ///< why the device `auto` is the host
  std::string driver;
  std::string uuid;                           ///< of a device, as Device::uuid()
  bool energy = false;                        ///< as Device::tells_energy()
  std::vector<std::int32_t> other_processes;  ///< as Device::other_processes()
  DeviceFacts device = {};
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    auto& d = self.device;
    archive(self.version, self.error, self.usage, self.identity, self.note, self.driver, self.uuid,
            self.energy, self.other_processes, d.kind, d.name, d.target, d.compute_capability,
            d.multiprocessors, d.memory_bytes, d.l2_bytes, d.shared_bytes_per_multiprocessor,
            d.max_threads_per_multiprocessor, d.max_threads_per_block, d.max_shared_bytes_per_block,
            d.max_block.x, d.max_block.y, d.max_block.z, d.max_grid.x, d.max_grid.y, d.max_grid.z);
  }
};

struct CompileRequest {
  static constexpr std::uint8_t kind = 2;
  std::string text, hash, suffix, target;
  std::vector<std::string> kernels;
  std::string cache_folder;  ///< folder of binaries; empty: none
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.text, self.hash, self.suffix, self.target, self.kernels, self.cache_folder);
  }
};

struct CompileReply {
  static constexpr std::uint8_t kind = 3;
  bool ok = false;
  bool is_late = false;  ///< as in Compilation
  bool cached = false;   ///< an earlier run compiled it
  bool last = false;     ///< this process has compiled enough; it ends now
  std::string bytes, log;
  double milliseconds = 0;
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.ok, self.is_late, self.cached, self.last, self.bytes, self.log, self.milliseconds);
  }
};

/// An op that this process was given and the worker was not. It is sent before messages that name the op.
/// There is no answer.
struct UserKernelNotice {
  static constexpr std::uint8_t kind = 9;
  KernelFile file;
  std::string device;   ///< its reference runs there; empty: no reference runs in this worker
  std::string program;  ///< a ReferenceProgram's words, which replaces the reference; empty: none
  std::string inputs;   ///< words of a program that gives input arrays; empty: none
  struct IncludedFile {
    std::string name, text;
    template <typename Self, typename Archive>
    static void fields(Self& self, Archive& archive) {
      archive(self.name, self.text);
    }
  };
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.file.path, self.file.cu, self.file.description, self.device, self.program, self.inputs);
    std::vector<IncludedFile> included;
    for (const auto& [name, text] : self.file.included) included.push_back({name, text});
    archive(included);
    if constexpr (!std::is_const_v<Self>) {
      self.file.included.clear();
      for (IncludedFile& one : included)
        self.file.included.emplace_back(std::move(one.name), std::move(one.text));
    }
  }
};

/// Asks the process that makes references to fill this file (make_check_file). The answer is a PrepareReply.
struct ReferenceRequest {
  static constexpr std::uint8_t kind = 8;
  std::string op, problem;
  std::uint64_t seed = 0;
  std::string memory;    ///< path of the file
  bool watched = false;  ///< the process died of it: look first for what the reference accesses
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.op, self.problem, self.seed, self.memory, self.watched);
  }
};

/// The problem that variants are measured on from here on, instead of the one before.
struct PrepareRequest {
  static constexpr std::uint8_t kind = 4;
  std::string op, problem;
  std::string memory;  ///< path of the file with its inputs and references (CheckFile)
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.op, self.problem, self.memory);
  }
};

struct PrepareReply {
  static constexpr std::uint8_t kind = 5;
  std::string error;
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.error);
  }
};

struct MeasureRequest {
  static constexpr std::uint8_t kind = 6;
  std::string template_name;
  std::string config, suffix, binary;
  bool check = true;               ///< false: it was checked before in this run
  Timing timing = {.samples = 0};  ///< without samples: check only
  std::int32_t loads = 1;          ///< how often the binary is loaded for these samples, if a launch is short
  bool energy = false;             ///< also measure the energy of a launch
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    auto& t = self.timing;
    archive(self.template_name, self.config, self.suffix, self.binary, self.check, t.samples,
            t.sample_target_us, t.repeats, t.give_up_above_us, t.conditions.caches, t.conditions.launches,
            self.loads, self.energy);
  }
};

struct MeasureReply {
  static constexpr std::uint8_t kind = 7;
  Verdict verdict = Verdict::ok;
  std::string reason;  ///< a sentence; empty when ok
  std::vector<double> samples_us;
  std::int32_t loads = 1;      ///< loads of the binary, for these samples
  std::int32_t clock_mhz = 0;  ///< as in TimeSamples
  std::string throttled;       ///< as in TimeSamples
  double energy_uj = 0;        ///< per launch; 0: not measured
  bool loaded = false;         ///< registers and bytes are known
  bool compared = false;       ///< max_error is known
  double max_error = 0;        ///< largest |error| / permitted error, over all the problems that were checked
  std::int32_t registers = 0;
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0, local_bytes = 0;
  std::string unwatched;  ///< why its accesses were not watched on the host; empty: they were, or need not be
  bool lost = false;      ///< the device cannot be used by this process any more; it ends now
  double load_s = 0, check_s = 0, time_s = 0;  ///< time of each phase
  template <typename Self, typename Archive>
  static void fields(Self& self, Archive& archive) {
    archive(self.verdict, self.reason, self.samples_us, self.loads, self.clock_mhz, self.throttled,
            self.energy_uj, self.loaded, self.compared, self.max_error, self.registers,
            self.static_shared_bytes, self.dynamic_shared_bytes, self.local_bytes, self.unwatched, self.lost,
            self.load_s, self.check_s, self.time_s);
  }
};

template <typename Message>
Frame to_frame(const Message& message) {
  WireWriter writer;
  Message::fields(message, writer);
  return {Message::kind, std::move(writer.bytes)};
}

template <typename Message>
Message from_frame(const Frame& frame) {
  if (frame.kind != Message::kind) {
    throw Error("A message of kind " + std::to_string(frame.kind) + " came where kind " +
                std::to_string(Message::kind) + " was due; tuner and worker differ in version.");
  }
  Message message;
  WireReader reader(frame.payload);
  Message::fields(message, reader);
  return message;
}

}  // namespace tunesmith
