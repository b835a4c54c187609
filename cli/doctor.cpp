// SPDX-License-Identifier: Apache-2.0
// doctor: looks at everything outside of this program that tuning and applications need, and says what to do
// where something is missing. It changes nothing, and runs nothing but nvidia-smi.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/text_table.h"
#include "db/store.h"
#include "dispatch/tuning_data.h"
#include "generator/listed.h"
#include "generator/same_model.h"
#include "runtime/cache.h"
#include "runtime/device_id.h"
#include "runtime/executable.h"
#include "runtime/temporary_folder.h"
#include "runtime/toolchain.h"
#include "runtime/trust.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

enum class State {
  ok,
  note,    ///< something works less well than it could, or only where it is asked for
  broken,  ///< something that is there cannot be used
};
constexpr const char* words[] = {"ok", "note", "broken"};

struct Finding {
  State state = State::ok;
  std::string found;      ///< a sentence, or a name and version
  std::string next = {};  ///< what to do; empty: nothing
};

struct Gpus {
  std::vector<DeviceFacts> devices;
  std::string why_none;
};

bool has_driver() {
  std::error_code ignored;
  for (const char* file : {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"})
    if (fs::exists(file, ignored)) return true;
  return false;
}

Finding driver(const Gpus& gpus) {
  if (!gpus.devices.empty()) return {.found = "NVIDIA " + cuda_driver()};
  if (has_driver())
    return {State::broken, "There is an NVIDIA driver, but no GPU can be used. " + gpus.why_none,
            "Compare with what nvidia-smi says."};
  return {State::note, "There is no NVIDIA driver, so the host's emulator is the only device.",
          "On a machine with a GPU, install NVIDIA's driver; in a container, pass --gpus all."};
}

Finding permissions() {
  std::string refused;
  std::error_code ignored;
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("nvidia") || fs::is_directory(entry.path(), ignored) ||
        name.starts_with("nvidia-cap"))
      continue;
    ++count;
    if (::access(entry.path().c_str(), R_OK | W_OK) != 0)
      refused += (refused.empty() ? "" : ", ") + entry.path().string();
  }
  if (!refused.empty())
    return {State::broken, "This user may not read and write " + refused + ".",
            "Add the user to the group of these files (ls -l shows it), and log in again."};
  return {.found = count == 0 ? "There are no device files of a GPU."
                              : "The device files of the GPUs can be used."};
}

Finding nvrtc(const Gpus& gpus) {
  try {
    const std::unique_ptr<Toolchain> toolchain = make_nvrtc_toolchain();
    for (const DeviceFacts& device : gpus.devices) {
      const Source source{.text = "extern \"C\" __global__ void probe() {}",
                          .hash = "",
                          .suffix = "",
                          .kernels = {},
                          .target = device.target};
      const Compilation compiled = toolchain->compile(source);
      if (!compiled.ok)
        return {State::broken,
                toolchain->identity() + " compiles nothing for " + device.name + " (" + device.target +
                    "): " + compiled.log,
                "Install the newest CUDA toolkit that the driver takes."};
    }
    return {.found = toolchain->identity() + ", " + nvrtc_file()};
  } catch (const Error& error) {
    return {State::note,
            "Kernels cannot be compiled for GPUs: only built-in ones run there, and nothing can be tuned. " +
                std::string(error.what()),
            gpus.devices.empty() ? "" : "With pip: pip install 'nvidia-cuda-nvrtc>=12,<14'."};
  }
}

Finding compiler() {
  try {
    return {.found = make_host_toolchain()->identity()};
  } catch (const Error& error) {
    return {State::note, "Nothing can be tuned or compiled for the host. " + std::string(error.what())};
  }
}

Finding database() {
  const fs::path file = default_database();
  if (file.empty())
    return {State::note, "No database is used.",
            "Tuning needs one: set TUNESMITH_DB to a file, and not to off."};
  std::error_code error;
  if (!fs::exists(file, error)) {
    fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
    while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    if (::access(folder.c_str(), W_OK) != 0)
      return {State::broken,
              "The database " + file.string() + " cannot be made: " + folder.string() +
                  " cannot be written (" + std::strerror(errno) + ").",
              "Set TUNESMITH_DB to a file in a folder of yours."};
    return {.found = file.string() + ": none yet; the first run of tune makes it."};
  }
  try {
    const StoreStatus status = Store::open(file, Store::Mode::read_only).status();
    std::int64_t verdicts = 0;
    for (const auto& [name, count] : status.verdicts) verdicts += count;
    if (status.check != "ok")
      return {State::broken, file.string() + " is damaged: " + status.check + ".",
              "\"tunesmith db dump\" saves what can be read."};
    return {.found = file.string() + ": schema " + std::to_string(status.schema_version) + ", " +
                     counted(static_cast<std::size_t>(verdicts), "verdict")};
  } catch (const Error& failure) {
    return {State::broken, failure.what()};
  }
}

Finding trust() {
  const fs::path file = default_database();
  std::error_code error;
  if (file.empty() || !fs::exists(file, error))
    return {.found = "There is no database that others could change."};
  if (const auto why = why_untrusted(file))
    return {State::broken, "Applications will not use the database, as others could change it. " + *why,
            "Or set TUNESMITH_DB to a file in a folder that only you can write."};
  return {.found = "Only this user and root can change the database."};
}

Finding cache() {
  const std::string folder = default_cache_folder();
  if (folder.empty())
    return {State::note, "There is no cache of compiled kernels, so each process compiles its own.",
            "Set HOME or XDG_CACHE_HOME."};
  if (const auto why = BinaryCache(folder).why_unused()) return {State::note, *why};
  return {.found = folder};
}

Finding temporary() {
  try {
    const fs::path folder = temporary_folder();
    if (::access(folder.c_str(), W_OK | X_OK) == 0) return {.found = folder.string()};
    return {State::broken,
            "The folder for temporary files " + folder.string() + " cannot be written (" +
                std::strerror(errno) + ").",
            "Set TMPDIR to a folder that can be written."};
  } catch (const Error& error) {
    return {State::broken, error.what()};
  }
}

// Tells if a built-in kernel loads on the device.
Finding kernels(const Gpus& gpus) {
  std::string loaded;
  for (std::size_t k = 0; k <= gpus.devices.size(); ++k) {
    const std::string device =
        k == 0 ? "host" : DeviceId{DeviceId::Kind::cuda, static_cast<int>(k) - 1}.text();
    try {
      Dispatcher dispatcher(
          {.device = device, .database = "", .compile = Compile::never, .cache_folder = ""});
      static_cast<void>(dispatcher.plan("transpose", "height=32 width=32"));
      loaded += (loaded.empty() ? "" : ", ") + device;
    } catch (const std::exception& error) {
      return {State::broken, "No built-in kernel can be used on " + device + ". " + error.what(),
              k == 0 ? "Install the package again."
                     : "Build with TUNESMITH_TARGETS=native on this machine, or with all."};
    }
  }
  return {.found = "Built-in kernels load on " + loaded + "."};
}

Finding tables(const Gpus& gpus) {
  if (gpus.devices.empty()) return {.found = "No GPU needs them."};
  std::string text, without;
  for (const DeviceFacts& device : gpus.devices) {
    if (text.find(device.name) != std::string::npos || without.find(device.name) != std::string::npos)
      continue;
    const TuningData data = read_tuning_data({.database = default_database(), .device = device});
    std::size_t winners = 0, found = 0;
    for (const Candidate& one : data.winners)
      winners += same_model(one.device, device) && one.median_us > 0 ? 1 : 0;
    for (const CandidateSet::Table& one : data.tables) found += same_model(one.device, device) ? 1 : 0;
    if (winners + found == 0) {
      without += (without.empty() ? "" : ", ") + device.name;
    } else {
      text += (text.empty() ? "" : "; ") + device.name + ": " + counted(winners, "winner") + ", " +
              counted(found, "timing table");
    }
  }
  if (without.empty()) return {.found = text};
  return {State::note,
          (text.empty() ? "" : text + "; ") + "nothing was measured on " + without +
              ", so kernels are chosen by times of other GPUs.",
          "Tune what matters: \"tunesmith tune OP --problem ...\", or all of an op: \"tunesmith table OP\"."};
}

// The first line of a program's output for each GPU; empty: there is no such program.
std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::array<char, 512> line{};
  while (pipe && std::fgets(line.data(), static_cast<int>(line.size()), pipe.get()) != nullptr) {
    lines.emplace_back(line.data());
    if (lines.back().ends_with('\n')) lines.back().pop_back();
  }
  return lines;
}

Finding clocks(const Gpus& gpus) {
  const std::vector<std::string> lines = lines_of(
      "nvidia-smi --query-gpu=index,clocks.current.sm,clocks.max.sm,persistence_mode --format=csv,noheader "
      "2>/dev/null");
  if (lines.empty()) {
    if (gpus.devices.empty()) return {.found = "There is no GPU."};
    return {State::note, "nvidia-smi does not tell the clocks.",
            "Times of runs may differ with them; tune when nothing else uses the GPU."};
  }
  std::string text;
  bool off = false;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "; ") + line;
    off = off || line.ends_with("Disabled");
  }
  text = "GPU, clock now, highest, persistence: " + text + ".";
  if (off)
    return {State::note, text,
            "With persistence mode the GPU starts faster: sudo nvidia-smi -pm 1. For steadier times lock its "
            "clock: sudo nvidia-smi -lgc."};
  return {.found = text};
}

void print(bool as_json, int& exit_code) {
  Gpus gpus;
  gpus.devices = cuda_devices(gpus.why_none);
  const std::pair<const char*, std::function<Finding()>> checks[] = {
      {"driver", [&] { return driver(gpus); }},   {"permissions", [] { return permissions(); }},
      {"NVRTC", [&] { return nvrtc(gpus); }},     {"compiler", [] { return compiler(); }},
      {"kernels", [&] { return kernels(gpus); }}, {"tables", [&] { return tables(gpus); }},
      {"database", [] { return database(); }},    {"trust", [] { return trust(); }},
      {"cache", [] { return cache(); }},          {"temporary files", [] { return temporary(); }},
      {"clocks", [&] { return clocks(gpus); }},
  };
  TextTable table({"check", "state", "found", "next"});
  std::size_t broken = 0;
  std::string text;
  for (const auto& [name, check] : checks) {
    Finding one;
    try {
      one = check();
    } catch (const std::exception& error) {
      one = {State::broken, error.what()};
    }
    const std::string state = words[static_cast<std::size_t>(one.state)];
    table.add({std::string(name), state, one.found, one.next});
    std::string label = name;
    label.resize(16, ' ');
    text +=
        (state + "      ").substr(0, 8) + label + one.found + (one.next.empty() ? "" : " " + one.next) + "\n";
    broken += one.state == State::broken ? 1 : 0;
  }
  if (as_json) {
    exact_output() << table.json();
  } else {
    std::cout << "tunesmith " TUNESMITH_VERSION << "\n"
              << text << '\n'
              << (broken == 0 ? "Nothing is broken."
                              : counted(broken, "check") + (broken == 1 ? " is" : " are") +
                                    " broken: see above for what to do.")
              << '\n';
  }
  if (broken > 0) exit_code = 1;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Look at the driver, the compilers, the database and the cache, and say what to do");
  doctor->add_flag("--json", *json, "Write an array of objects: check, state, found, next");
  doctor->callback([json, &exit_code] { print(*json, exit_code); });
}

}  // namespace tunesmith
