// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded when first used. Its few prototypes are declared here, so that a build without the toolkit
// can use it too and a program starts without NVRTC.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

#include "generator/compiler_flags.h"
#include "generator/error.h"
#include "generator/target.h"
#include "runtime/compiler_log.h"
#include "runtime/toolchain.h"

namespace tunesmith {
namespace {

constexpr int success = 0;

struct Nvrtc {
  using Program = void*;
  int (*version)(int* major, int* minor) = nullptr;
  int (*count_targets)(int* count) = nullptr;
  int (*get_targets)(int* targets) = nullptr;
  int (*create)(Program* program, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(Program* program) = nullptr;
  int (*compile)(Program program, int options, const char* const* option) = nullptr;
  int (*log_bytes)(Program program, std::size_t* bytes) = nullptr;
  int (*get_log)(Program program, char* log) = nullptr;
  int (*cubin_bytes)(Program program, std::size_t* bytes) = nullptr;
  int (*get_cubin)(Program program, char* cubin) = nullptr;
  int (*ptx_bytes)(Program program, std::size_t* bytes) = nullptr;
  int (*get_ptx)(Program program, char* ptx) = nullptr;
  const char* (*describe)(int code) = nullptr;
  int (*ask)(Program program, int (*callback)(void*, void*), void* payload) = nullptr;  ///< null before 12.8
};

// Counts running compilations. NVRTC's own exit handlers must not run during one, which a dispatcher's thread
// may have started when a process ends.
class Compilations {
 public:
  /// Never destroyed, because a thread may ask while the process ends.
  static Compilations& all() {
    static auto* const one = new Compilations;
    return *one;
  }
  static void end_at_exit() {
    all().process_ = ::getpid();
    static_cast<void>(std::atexit([] { all().end(); }));
  }
  /// Runs `compile`, unless the process is ending.
  template <typename Compile>
  bool run(const Compile& compile) {
    {
      const std::scoped_lock lock(mutex_);
      if (ending_) return false;
      ++running_;
    }
    try {
      compile();
    } catch (...) {
      done();
      throw;
    }
    done();
    // Register again: the first compilation registers handlers too, and those must run after ours.
    std::call_once(first_, end_at_exit);
    return true;
  }
  void end() {
    if (::getpid() != process_) return;  // a forked process has none of the threads
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return running_ == 0; });
  }
  bool ending() const { return ending_; }

 private:
  void done() {
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  pid_t process_ = 0;
  std::once_flag first_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  std::atomic<bool> ending_ = false;
};

// Decides if a compilation is given up. NVRTC's threads ask; after the first yes all answers are yes.
class Impatience {
 public:
  explicit Impatience(const Patience& patience) : patience_(patience) {}
  bool over() {
    if (patience_.is_over_since(start_)) timed_out_ = true;
    if (timed_out_ || patience_.stop.stop_requested() || Compilations::all().ending()) over_ = true;
    return over_;
  }
  std::string why() const {
    return timed_out_ ? "The compiler took more than " + std::to_string(patience_.limit.count()) +
                            " ms and was ended."
                      : "The compiler was stopped, because its result is no longer needed.";
  }

 private:
  const Patience& patience_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::atomic<bool> over_ = false, timed_out_ = false;
};

int is_over(void* impatience, void*) { return static_cast<Impatience*>(impatience)->over() ? 1 : 0; }

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* library, Nvrtc& api) {
  return resolve(library, "nvrtcVersion", api.version) &&
         resolve(library, "nvrtcGetNumSupportedArchs", api.count_targets) &&
         resolve(library, "nvrtcGetSupportedArchs", api.get_targets) &&
         resolve(library, "nvrtcCreateProgram", api.create) &&
         resolve(library, "nvrtcDestroyProgram", api.destroy) &&
         resolve(library, "nvrtcCompileProgram", api.compile) &&
         resolve(library, "nvrtcGetProgramLogSize", api.log_bytes) &&
         resolve(library, "nvrtcGetProgramLog", api.get_log) &&
         resolve(library, "nvrtcGetCUBINSize", api.cubin_bytes) &&
         resolve(library, "nvrtcGetCUBIN", api.get_cubin) &&
         resolve(library, "nvrtcGetPTXSize", api.ptx_bytes) && resolve(library, "nvrtcGetPTX", api.get_ptx) &&
         resolve(library, "nvrtcGetErrorString", api.describe);
}

// Returns folders of toolkits: the user's, the loader's own path (empty), the usual place.
std::vector<std::string> toolkits() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    if (const char* folder = ::secure_getenv(variable); folder != nullptr && *folder != '\0')
      folders.emplace_back(folder);
  }
  folders.emplace_back();
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

// Returns NVRTC's files in NVIDIA's Python packages, if this library or program lies in a folder of Python
// packages too.
std::vector<std::string> files_of_wheels() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&files_of_wheels), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code error;
  std::filesystem::path own = info.dli_fname;
  if (own.is_relative()) own = std::filesystem::read_symlink("/proc/self/exe", error);  // the program itself
  std::vector<std::string> files;
  for (const auto& package :
       std::filesystem::directory_iterator(own.parent_path().parent_path() / "nvidia", error))
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"})
      if (const auto file = package.path() / "lib" / name; std::filesystem::exists(file, error))
        files.push_back(file.string());
  // The newest one first: nvidia/cu13 of CUDA 13, nvidia/cuda_nvrtc of CUDA 12.
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.back(), b) > std::pair(b.back(), a);
  });
  return files;
}

// Returns the places where NVRTC may lie, in the order in which they are tried: the user's toolkit, the
// Python packages beside this one, the loader's own path, the usual place.
std::vector<std::string> places() {
  std::vector<std::string> files;
  for (const std::string& folder : toolkits()) {
    if (folder.empty())
      for (std::string& file : files_of_wheels()) files.push_back(std::move(file));
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      files.push_back(folder.empty() ? name : folder + "/lib64/" + name);
  }
  return files;
}

// Loads the library. It is never unloaded, because it keeps threads and exit handlers of its own.
Nvrtc load() {
  std::string last;
  for (const std::string& path : places()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      last = dlerror();
      continue;
    }
    Nvrtc api;
    if (resolve_all(library, api)) {
      resolve(library, "nvrtcSetFlowCallback", api.ask);
      Compilations::end_at_exit();
      return api;
    }
    last = path + " lacks functions of CUDA 12";
    dlclose(library);
  }
  throw Error("NVRTC, the run-time compiler for CUDA, was not found (" + last +
              "). Install the CUDA toolkit 12 or 13, or its package cuda-nvrtc (pip: nvidia-cuda-nvrtc), and "
              "set CUDA_PATH to its "
              "folder or LD_LIBRARY_PATH to the one of libnvrtc.so.");
}

// Returns the options for headers such as cuda_fp16.h and, from CUDA 13 on, for the CCCL headers that these
// include.
std::vector<std::string> include_options() {
  for (const std::string& folder : toolkits()) {
    if (folder.empty()) continue;
    std::error_code ignored;
    if (std::filesystem::exists(folder + "/include/cuda_fp16.h", ignored))
      return {"--include-path=" + folder + "/include", "--include-path=" + folder + "/include/cccl"};
  }
  return {};
}

class NvrtcToolchain : public Toolchain {
 public:
  NvrtcToolchain() : api_(load()), includes_(include_options()) {
    int major = 0;
    int minor = 0;
    int count = 0;
    bool works =
        api_.version(&major, &minor) == success && api_.count_targets(&count) == success && count > 0;
    if (works) {
      architectures_.resize(static_cast<std::size_t>(count));
      works = api_.get_targets(architectures_.data()) == success;
    }
    if (!works) throw Error("NVRTC was found but its functions fail; install the CUDA toolkit again.");
    identity_ = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  }

  std::string identity() const override { return identity_; }

  Compilation compile(const Source& source, const Patience& patience) const override {
    const auto start = std::chrono::steady_clock::now();
    Compilation result;
    Impatience impatience(patience);
    result.log = why_not(source.target);
    result.is_unknown_target = !result.log.empty();
    if (result.log.empty()) {
      int code = success;
      const bool ran =
          Compilations::all().run([&] { code = compile_fast_or_fully(source, result, impatience); });
      if (!ran || (code != success && impatience.over())) {
        result.log = impatience.why();
      } else if (code != success) {
        result.log = shortened_log(result.log);
        result.log += std::string(result.log.empty() ? "" : "\n") + identity_ + ": " + api_.describe(code);
      }
      result.ok = ran && code == success;
    }
    result.milliseconds =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

 private:
  std::string why_not(const std::string& target) const {
    const int wanted = Target::parse(target).value_or(Target{}).compute_capability;  // 0: not a GPU's target
    if (wanted != 0 &&
        std::find(architectures_.begin(), architectures_.end(), wanted) != architectures_.end())
      return "";
    std::string known;
    for (const int number : architectures_)
      known += (known.empty() ? "sm_" : ", sm_") + std::to_string(number);
    return identity_ + " does not support the target " + target + "; it compiles for " + known +
           (wanted > architectures_.back() ? ". Install a newer CUDA toolkit." : ".");
  }

  // Without the declarations of textures and of the device runtime a small kernel compiles 5 % faster. A text
  // that may need them, or a compiler that cannot leave them out (before 12.4), compiles with them.
  int compile_fast_or_fully(const Source& source, Compilation& result, Impatience& impatience) const {
    for (const bool minimal : {true, false}) {
      Nvrtc::Program program = nullptr;
      int code = api_.create(&program, source.text.c_str(), "variant.cu", 0, nullptr, nullptr);
      if (code != success) return code;
      if (api_.ask != nullptr) static_cast<void>(api_.ask(program, is_over, &impatience));
      code = compile(program, source, minimal, result);
      api_.destroy(&program);
      if (code == success || !minimal || impatience.over()) return code;
    }
    return success;
  }

  int compile(Nvrtc::Program program, const Source& source, bool minimal, Compilation& result) const {
    const std::string& target = source.target;
    const CompilerFlags asked = compiler_flags_of(source.text);
    const std::string option = "--gpu-architecture=" + target,
                      standard = "--std=c++" + std::to_string(asked.standard),
                      registers = "--maxrregcount=" + std::to_string(asked.registers);
    // -v puts registers and spills of each kernel into the log.
    std::vector<const char*> options = {option.c_str(), standard.c_str(), "-default-device",
                                        "--ptxas-options=-v"};
    if (asked.fast_math) options.push_back("--use_fast_math");
    if (asked.registers > 0) options.push_back(registers.c_str());
    for (const std::string& include : includes_) options.push_back(include.c_str());
    if (minimal) options.push_back("--minimal");
    int code = api_.compile(program, static_cast<int>(options.size()), options.data());
    result.log.clear();
    std::size_t bytes = 0;
    if (api_.log_bytes(program, &bytes) == success && bytes > 1) {  // the terminating zero is counted
      result.log.resize(bytes);
      if (api_.get_log(program, result.log.data()) != success) result.log.clear();
      while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n'))
        result.log.pop_back();
    }
    const bool ptx = Target::parse(target).value_or(Target{}).is_virtual();
    if (code == success) code = (ptx ? api_.ptx_bytes : api_.cubin_bytes)(program, &bytes);
    if (code == success) {
      result.bytes.resize(bytes);
      code = (ptx ? api_.get_ptx : api_.get_cubin)(program, result.bytes.data());
    }
    if (code != success) result.bytes.clear();
    return code;
  }

  Nvrtc api_;
  std::vector<std::string> includes_;
  std::string identity_;
  std::vector<int> architectures_;  ///< ascending
};

}  // namespace

void end_nvrtc() { Compilations::all().end(); }

std::string nvrtc_file() {
  const Nvrtc api = load();
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(api.version), &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

std::unique_ptr<Toolchain> make_nvrtc_toolchain() { return std::make_unique<NvrtcToolchain>(); }

}  // namespace tunesmith
