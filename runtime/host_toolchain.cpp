// SPDX-License-Identifier: Apache-2.0
// Compiles with the system's C++ compiler: a text rendered for the host becomes a shared object.
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "generator/error.h"
#include "runtime/compiler_log.h"
#include "runtime/processor_time.h"
#include "runtime/ptx_translation.h"
#include "runtime/temporary_folder.h"
#include "runtime/toolchain.h"
#include "runtime/watch.h"

extern char** environ;

namespace tunesmith {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr std::string_view scratch_prefix = "tunesmith-compile-";

// A new temporary folder, removed with the object. It stays locked while its process lives, so that others
// can tell it from the remains of a killed process.
class ScratchFolder {
 public:
  ScratchFolder() {
    const fs::path parent = temporary_folder();
    std::string pattern = (parent / ".tunesmith-new-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error("No folder for the compiler could be created in " + parent.string() +
                  "; set TMPDIR to a folder that can be written.");
    }
    path_ = parent / (std::string(scratch_prefix) + pattern.substr(pattern.size() - 6));
    lock_ = ::open(pattern.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::flock(lock_, LOCK_EX | LOCK_NB);
    std::error_code error;
    fs::rename(pattern, path_, error);  // only now remove_abandoned() can see it
    if (error) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (lock_ >= 0) ::close(lock_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

  // Removes the user's folders that no process holds locked.
  static void remove_abandoned() {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary_folder(), error)) {
      if (!entry.path().filename().string().starts_with(scratch_prefix)) continue;
      const int folder = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
      if (folder < 0) continue;
      struct stat found {};
      if (::fstat(folder, &found) == 0 && found.st_uid == ::geteuid() &&
          ::flock(folder, LOCK_EX | LOCK_NB) == 0)
        fs::remove_all(entry.path(), error);
      ::close(folder);
    }
  }

 private:
  fs::path path_;
  int lock_ = -1;
};

struct Run {
  int status = -1;     ///< the status from waitpid; -1 if the program could not be started
  std::string passed;  ///< the limit that ended it; empty: none
  bool timed_out = false, stopped = false;
  /// It has ended and its status is lost, because the application ignores SIGCHLD or waits for any child.
  bool unseen = false;
  bool may_be_right() const { return (status == 0 || unseen) && !timed_out && !stopped; }
};

// True if the object is complete: a linker writes the section headers last.
bool is_whole(const std::string& object) {
  Elf64_Ehdr header{};
  if (object.size() < sizeof header) return false;
  std::memcpy(&header, object.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize <= object.size();
}

// The most that the caller waits, and that a program may use of a processor.
struct Limits {
  Patience patience = {};
  std::chrono::duration<double> processor;
};

// Runs a program with its output in `log`.
Run run(const std::vector<std::string>& words, const fs::path& log, const Limits& limits) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);  // a group of its own, so that a time-out ends the passes too
  // SIGCHLD gets its default, because a compiler waits for its own passes, whatever the application does with
  // its children.
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGCHLD);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  sigset_t none;  // the threads of the library block signals, compilers should not
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, words.front().c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  Run result;
  if (failure != 0) return result;
  const Clock::time_point start = Clock::now();
  ProcessorLimit processor(child, limits.processor.count(), 0);
  auto pause = std::chrono::milliseconds(1);
  pid_t ended = 0;
  while ((ended = waitpid(child, &result.status, WNOHANG)) == 0) {
    if (!result.timed_out && !result.stopped) {
      if (limits.patience.is_over_since(start)) {
        result.passed = std::to_string(limits.patience.limit.count()) + " ms";
      } else if (processor.is_over()) {
        result.passed = processor.passed();
      }
      result.timed_out = !result.passed.empty();
      result.stopped = limits.patience.stop.stop_requested();
      if (result.timed_out || result.stopped) kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(8));
  }
  result.unseen = ended < 0;
  return result;
}

// Returns the path of the first of these compilers that is there, or nothing.
std::string find_one_of(const std::vector<std::string>& names) {
  const char* variable = ::secure_getenv("PATH");
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    std::istringstream folders(variable == nullptr ? "" : variable);
    for (std::string folder; std::getline(folders, folder, ':');) {
      std::string path = (fs::path(folder) / name).string();
      if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return {};
}

// Returns the path of the compiler, or nothing.
std::string find_compiler() {
  const char* given = ::secure_getenv("TUNESMITH_CXX");
  if (given != nullptr && *given != '\0') return find_one_of({given});
  return find_one_of({"c++", "g++", "clang++"});
}

// Flags for templates/common/host/watch.h. Symbols keep the order of the text, so that a guard lies before
// each shared array; a load stays in place even if its value is used only under a condition.
const std::vector<std::string> watched_flags = {"-DTUNESMITH_WATCHED", "-O1", "-fno-threadsafe-statics",
                                                "-fsanitize=thread,alignment,signed-integer-overflow"};
const std::vector<std::string> watched_by_gcc = {
    "-fno-toplevel-reorder",       "-fno-tree-sink", "--param",
    "tsan-distinguish-volatile=1", "--param",        "tsan-instrument-func-entry-exit=0"};
const std::vector<std::string> watched_by_clang = {
    "-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-func-entry-exit=0",
    "-mllvm", "-tsan-instrument-atomics=0"};  // otherwise also where it is told not to
// A variable of a thread holds 0xfe or NaN before it is set. GCC must not take one that is set on one path
// only for what it is there, as its value numbering (fre) does.
const std::vector<std::string> unset_by_gcc = {"-ftrivial-auto-var-init=pattern", "-fno-tree-fre"};
const std::vector<std::string> unset_by_clang = {"-ftrivial-auto-var-init=pattern"};
constexpr int least_gcc = 12, least_clang = 8;  // the first versions that have the option
const std::vector<std::string> wrapping_by_clang = {"-fsanitize=unsigned-integer-overflow"};
// Flags for a text that has this line of templates/common/host/volatile_looks.h.
const std::vector<std::string> looking_flags = {"-DTUNESMITH_LOOKS", "-fno-threadsafe-statics",
                                                "-fsanitize=thread"};
constexpr std::string_view looks_line = "#define TUNESMITH_VOLATILE_LOOKS 1";

// The major version in the first line of what `--version` prints: "g++ (Debian 12.2.0-14) 12.2.0", "clang
// version 14.0.6"; 0: it has none.
int major_version(const std::string& line) {
  int major = 0;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    std::istringstream number(word);
    int found = 0;
    if (number >> found && number.peek() == '.') major = found;
  }
  return major;
}

class HostToolchain : public Toolchain {
 public:
  HostToolchain(std::string compiler, std::chrono::milliseconds limit, bool watched = false,
                bool wrapping = false)
      : compiler_(std::move(compiler)), limit_(limit), watched_(watched) {
    ScratchFolder::remove_abandoned();
    const ScratchFolder scratch;
    const fs::path log = scratch.path() / "version";
    const Run version = run({compiler_, "--version"}, log, {.processor = limit_});
    std::istringstream lines(read_file(log));
    std::getline(lines, identity_);
    if (!version.may_be_right() || identity_.empty()) {
      throw Error("The C++ compiler " + compiler_ +
                  " reports no version; set TUNESMITH_CXX to a working compiler.");
    }
    const bool is_clang = identity_.find("clang") != std::string::npos;
    const auto& more = is_clang ? watched_by_clang : watched_by_gcc;
    looking_flags_ = looking_flags;
    looking_flags_.insert(looking_flags_.end(), more.begin(), more.end());
    if (watched_) {
      wraps_ = wrapping && is_clang;
      flags_.insert(flags_.end(), watched_flags.begin(), watched_flags.end());
      flags_.insert(flags_.end(), more.begin(), more.end());
      const auto& unset = is_clang ? unset_by_clang : unset_by_gcc;
      if (major_version(identity_) >= (is_clang ? least_clang : least_gcc))
        flags_.insert(flags_.end(), unset.begin(), unset.end());
      if (wraps_) flags_.insert(flags_.end(), wrapping_by_clang.begin(), wrapping_by_clang.end());
    }
    for (const std::string& flag : flags_) identity_ += " " + flag;
  }

  std::string identity() const override { return identity_; }
  bool wraps() const { return wraps_; }  // true: unsigned arithmetic that wraps is reported

  Compilation compile(const Source& source, const Patience& patience) const override {
    const Clock::time_point start = Clock::now();
    const ScratchFolder scratch;
    const fs::path text = scratch.path() / "variant.cpp";
    const fs::path object = scratch.path() / "variant.so";
    const fs::path log = scratch.path() / "log";
    Compilation compiled;
    if (std::ofstream file(text, std::ios::binary); !(file << with_ptx_translated(source.text)).flush()) {
      compiled.log = "The source could not be written to " + text.string() + "; is the disk full?";
      return compiled;
    }
    std::vector<std::string> words = {compiler_, "-x", "c++"};
    words.insert(words.end(), flags_.begin(), flags_.end());
    const bool is_looking = looks(source.text);
    if (is_looking) words.insert(words.end(), looking_flags_.begin(), looking_flags_.end());
    words.insert(words.end(), {"-w", "-fPIC", "-fvisibility=hidden"});
    const Limits rest{.patience = patience, .processor = limit_};
    Run result;
    if (watched_ || is_looking) {
      const fs::path part = scratch.path() / "variant.o";
      words.insert(words.end(), {"-c", "-o", part.string(), text.string()});
      result = run(words, log, rest);
      // Linked without the flags, so that no sanitizer library is linked.
      if (result.may_be_right() && fs::exists(part))
        result = linked({compiler_, "-shared", "-o", object.string(), part.string()}, log, rest);
    } else {
      words.insert(words.end(), {"-shared", "-o", object.string(), text.string()});
      result = linked(words, log, rest);
    }
    compiled.log = shortened_log(read_file(log));
    // The folder's name differs each time; without it the same text gives the same log.
    const std::string folder = scratch.path().string() + "/";
    for (std::size_t at; (at = compiled.log.find(folder)) != std::string::npos;)
      compiled.log.erase(at, folder.size());
    if (result.may_be_right()) compiled.bytes = read_file(object);
    compiled.ok = result.unseen ? is_whole(compiled.bytes) : result.may_be_right();
    if (!compiled.ok) compiled.bytes.clear();
    if (result.stopped) {
      compiled.log = "The compiler was stopped, because its result is no longer needed.";
    } else if (result.timed_out) {
      compiled.is_late = true;
      compiled.log = "The compiler took more than " + result.passed + " and was ended.";
    } else if (!compiled.ok && compiled.log.empty()) {
      compiled.log = "The compiler " + compiler_ + " failed without output.";
    }
    compiled.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return compiled;
  }

 private:
  // Runs a command that links. Kernels rarely use the C++ library, which takes the linker longer than all the
  // rest, so it is left out at first.
  static Run linked(std::vector<std::string> words, const fs::path& log, const Limits& limits) {
#if !defined(__SANITIZE_ADDRESS__)
    const std::size_t whole = words.size();
    words.insert(words.end(), {"-nodefaultlibs", "-Wl,-z,defs", "-lm", "-lc", "-lgcc"});
    const Run result = run(words, log, limits);
    // The names of the programs that fail are the same in each language.
    const std::string said = result.may_be_right() && !result.unseen ? "" : read_file(log);
    if (said.find("collect2:") == std::string::npos && said.find("linker command") == std::string::npos)
      return result;
    words.resize(whole);
#endif
    return run(words, log, limits);
  }

  bool looks(std::string_view text) const {
#if defined(__SANITIZE_ADDRESS__)  // not compatible with the other sanitizers
    static_cast<void>(text);
    return false;
#else
    return !watched_ && text.find(looks_line) != std::string_view::npos;
#endif
  }

  std::string compiler_;
  std::vector<std::string> looking_flags_;
  std::chrono::milliseconds limit_;
  bool watched_, wraps_ = false;
  std::string identity_;
  // Products and sums are rounded separately, so that a result does not depend on the processor's FMA.
  std::vector<std::string> flags_ = {
    "-std=c++20",
// Compiled faster for tests, which spend most of their time in the compiler.
#if defined(__SANITIZE_ADDRESS__) || defined(TUNESMITH_FAST_BUILD)
    "-Og",
#else
    "-O2",
#endif
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-s",  // these flags drop unused names and nearly empty pages, half of a small kernel's file
    "-Wl,-z,noseparate-code"
#if defined(__SANITIZE_ADDRESS__)
    ,
    "-fsanitize=address,undefined",
    "-fno-sanitize=vptr",
    "-fno-sanitize-recover=all"
#endif
  };
};

}  // namespace

std::unique_ptr<Toolchain> make_host_toolchain(std::chrono::milliseconds limit) {
  std::string compiler = find_compiler();
  if (compiler.empty()) {
    const char* given = ::secure_getenv("TUNESMITH_CXX");
    throw Error(given != nullptr && *given != '\0'
                    ? "TUNESMITH_CXX is " + std::string(given) +
                          ", which is not an executable program; set it to a C++ compiler."
                    : std::string("No C++ compiler (c++, g++, clang++) is on the PATH; install g++, or set "
                                  "TUNESMITH_CXX to a compiler."));
  }
  return std::make_unique<HostToolchain>(std::move(compiler), limit);
}

std::unique_ptr<Toolchain> make_watched_toolchain(bool* wraps) {
  if (wraps != nullptr) *wraps = false;
#if defined(__SANITIZE_ADDRESS__)  // not compatible with the other sanitizers
  return nullptr;
#else
  constexpr std::chrono::seconds limit(60);
  const char* given = ::secure_getenv("TUNESMITH_CXX");
  const bool is_free = wraps != nullptr && (given == nullptr || *given == '\0');
  const std::string clang = is_free ? find_one_of({"clang++"}) : "";
  for (const std::string& compiler : {find_compiler(), clang}) {
    if (compiler.empty()) continue;
    auto made = std::make_unique<HostToolchain>(compiler, limit, true, wraps != nullptr);
    if (wraps != nullptr) *wraps = made->wraps();
    if (clang.empty() || compiler == clang || *wraps) return made;
  }
  return nullptr;
#endif
}

}  // namespace tunesmith
