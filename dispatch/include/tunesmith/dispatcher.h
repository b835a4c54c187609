// SPDX-License-Identifier: Apache-2.0
// Chooses, loads and launches the best known kernel for a problem. An application links tunesmith::dispatch
// and nothing else; no CUDA or SQLite header is needed. Exceptions are std::runtime_error whose what() is a
// sentence; attempt() makes a Status of them.
#pragma once

#if __cplusplus <= 201703L
#error "Tunesmith's C++ headers need C++20: compile with -std=c++20, or include tunesmith/tunesmith.h."
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/match.h"
#include "tunesmith/version.h"

namespace tunesmith {

class Executable;
struct LaunchNumbers;
struct PlanState;
class Problem;

inline namespace TUNESMITH_ABI {

std::string_view name(Match match);  ///< "exact", "predicted", "other_device", "base"

/// The variant that a plan launches.
struct Variant {
  std::string template_name;  ///< "tiled"
  std::string config;         ///< "BLOCK_X=32 BLOCK_Y=8 …"; explanation() says if an axis was changed
  std::string source_hash;    ///< the variant's identity: SHA-256 of what the compiler sees
  std::string tuned_problem;  ///< the problem that it won; empty if this config was not measured
  std::string tuned_on;       ///< the name of the device on which it won, or empty
  double median_us = 0;       ///< time of one launch, for tuned_problem on tuned_on; else 0
  bool cold_caches = false;   ///< median_us was measured with cold caches
};

class Plan;

/// The outcome of a launch, or of attempt(). A CUDA kernel that fails later reports it where the stream is
/// next synchronized.
class [[nodiscard]] Status {
 public:
  enum Code : int {  ///< a positive code is the device runtime's (a cudaError_t)
    success = 0,
    wrong_argument_count = -1,
    null_argument = -2,
    misaligned_argument = -3,  ///< must be a multiple of its element's size, or as explanation() says
    overlapping_arguments = -4,
    missing_workspace = -5,  ///< no workspace is given, and the device has no memory pools to make one from
    foreign_argument = -6,   ///< not memory of the plan's device; only with DispatcherOptions::check_pointers
    wrong_input = -7,        ///< from attempt(): the request is not valid, such as a size that is not allowed
    failed = -8,             ///< from attempt(): any other exception
    wrong_number_count = -10,  ///< from a launch; -9 is TUNESMITH_NOT_READY of the C interface
    refused_numbers = -11,     ///< such as a histogram's lower limit above the upper one
  };
  Status() = default;
  bool ok() const noexcept { return code_ == success; }
  explicit operator bool() const noexcept { return ok(); }
  int code() const noexcept { return code_; }
  std::string message() const;  ///< a sentence

 private:
  friend class Plan;
  friend Status attempt(void (*function)(void* data, Status& status), void* data) noexcept;
  int code_ = success;
  int argument_ = -1;                        // the index of the wrong argument
  std::shared_ptr<const PlanState> plan_;    // set if the launch failed: it has the words
  std::shared_ptr<const std::string> said_;  // set by attempt(), or says why numbers are refused
};

/// Calls function(data, status). An exception is caught and returned as a Status.
Status attempt(void (*function)(void* data, Status& status), void* data) noexcept;

/// Calls `function`, which may throw, and does not throw: returns the Status that `function` returns, success
/// if it returns nothing, and an exception as a Status.
///   Status status = attempt([&] { return conv2d(dispatcher, image, mask, output, shape); });
///   Status status = attempt([&] { plan = dispatcher.plan("conv2d", problem); });
template <typename Function>
Status attempt(const Function& function) noexcept {
  return attempt(
      [](void* data, Status& status) {
        const Function& call = *static_cast<const Function*>(data);
        if constexpr (std::is_void_v<std::invoke_result_t<const Function&>>) {
          call();
        } else {
          status = call();
        }
      },
      const_cast<void*>(static_cast<const void*>(&function)));
}

/// A choice made once for one problem, ready to launch. A cheap handle: copies share the loaded kernels,
/// which live as long as any copy, and a plan always launches the same kernel for aligned pointers. While a
/// better kernel is compiled, a plan launches the best kernel that was ready; Dispatcher::plan() gives a new
/// one, at the price of a look-up, when outdated() says so. Typed functions look up each time.
class Plan {
 public:
  Plan() = default;  ///< empty: may only be tested or assigned to
  explicit operator bool() const noexcept { return state_ != nullptr; }

  Match match() const noexcept;
  /// The time of one launch, in microseconds: measured if match() is exact, else predicted from the times of
  /// other problems. 0: not known (another device's winner, or the base).
  double expected_us() const noexcept;
  /// The expected gain of tuning this problem, as a fraction of the best time: 0.1 is 10 % slower than
  /// the best. 0: the problem is tuned, or the plan launches the base, whose loss is not known.
  double expected_loss() const noexcept;
  const Variant& variant() const noexcept;
  /// The variant that is launched if a pointer is not a multiple of alignment_bytes(); variant() itself if it
  /// accepts every pointer. At first it may be the base: the first such launch asks for a better one, which
  /// is made in the background (Compile::background) and then serves this plan too.
  const Variant& unaligned_variant() const noexcept;
  /// Pointers must be multiples of this for variant() to be launched; arrays smaller than this do not count.
  std::int64_t alignment_bytes() const noexcept;
  /// The size of a `workspace` of your own for launch(): device memory aligned to 256 bytes; 0 for most
  /// variants. Set it to zero before this plan's first launch; later launches of this plan may reuse it
  /// without that, until a launch has failed: then set it to zero again.
  std::int64_t workspace_bytes() const noexcept;
  std::size_t argument_count() const noexcept;
  /// The bytes of launch()'s arguments[i]. 0: the array has no elements and may be null.
  std::int64_t argument_bytes(std::size_t i) const noexcept;
  const std::string& problem() const noexcept;  ///< complete, in the op's order
  const std::string& device() const noexcept;   ///< its name
  /// Why the launched kernel may be wrong: it is a base, used because no other variant can be, whose last
  /// measurement on this model of device failed. Empty otherwise, and if nothing is known; explanation() says
  /// it too.
  const std::string& warning() const noexcept;
  bool outdated() const noexcept;  ///< there is, or may be, a better plan for the problem now
  /// How the choice was made, in a few sentences: the variant that is used, by which times, the next two, and
  /// what tuning would gain. `with_refusals` adds each reason why other variants are not used, with two that
  /// have it. Computed at the call, in some milliseconds.
  std::vector<std::string> explanation(bool with_refusals = false) const;

  /// Enqueues the work on `stream`, a cudaStream_t; null is the legacy default stream, also in an application
  /// that is built with a default stream per thread (give cudaStreamPerThread there). On the host the work is
  /// done on return, and `stream` is ignored. `arguments` are the op's pointers in its order, to memory of
  /// the plan's device, which must be the current CUDA device; null for an array of no elements. Outputs may
  /// not overlap other arguments, unless the op works in place. On CUDA a launch takes no lock, allocates and
  /// compiles nothing, and may be captured into a CUDA graph; the graph keeps the kernel even if a better one
  /// is ready later, so call prepare() or wait_until_ready() before a capture. Several threads may call it at
  /// the same time, each with its own workspace; on the host such calls wait for each other.
  ///
  /// If the plan needs a workspace and none is given, the launch borrows one of the library's. One with
  /// counters is kept for the stream (up to 4 MiB in each of the first 64 streams), so that they are set to
  /// zero once; others come from a pool, in the stream's order (cudaMallocAsync). This costs up to some
  /// microseconds more on the host, and takes a lock that launches in other streams do not wait for. A graph
  /// has workspaces of its own, which live as long as it and its executables: two executables of one graph
  /// may not run at the same time, as they may not with arrays that both write.
  ///
  /// Kernels of plans may overlap with other kernels in the stream (CUDA's programmatic dependent launch,
  /// from compute capability 9.0 on). For copies, fills, events and ordinary launches nothing changes: work
  /// before the plan's kernels in the stream has ended before they touch memory, and work behind them begins
  /// when they have ended. Only kernels of your own that take part in programmatic dependent launch must keep
  /// two rules:
  /// - A kernel that is launched behind a plan with cudaLaunchAttributeProgrammaticStreamSerialization calls
  ///   cudaGridDependencySynchronize() before it reads or writes memory that the plan uses: plans may let it
  ///   start before they have written anything.
  /// - A kernel that is launched in that way before a plan, and itself behind work whose results the plan
  ///   uses, calls cudaGridDependencySynchronize() too, in every block that may be the last to end: the
  ///   plan's kernels wait until the kernel directly before them has ended, but not for work that this kernel
  ///   did not wait for.
  /// DispatcherOptions::overlap switches the overlap off.
  Status launch(std::span<void* const> arguments, void* stream = nullptr,
                void* workspace = nullptr) const noexcept;
  /// The same, with numbers that replace those of the plan's problem in this launch alone, in the op's order:
  /// a histogram's `lo` and `hi`, or conv2d's `value`. Without numbers those of the problem are used.
  Status launch(std::span<void* const> arguments, std::span<const double> numbers, void* stream = nullptr,
                void* workspace = nullptr) const noexcept;

 private:
  friend class Dispatcher;
  explicit Plan(std::shared_ptr<const PlanState> state) : state_(std::move(state)) {}
  void ask_for_unaligned() const noexcept;
  Status run(std::span<void* const> arguments, const LaunchNumbers* numbers, void* stream,
             void* workspace) const noexcept;
  std::shared_ptr<const PlanState> state_;
};

/// $TUNESMITH_DB, else tunesmith/tunesmith.db in the user's data folder (XDG); empty if there is none, or if
/// TUNESMITH_DB is "off".
std::string default_database();
/// tunesmith/ in the user's cache folder (XDG); empty if there is none.
std::string default_cache_folder();
/// "cuda" if there is a CUDA device that this library can use, else "host": for an application that can
/// allocate memory for either.
std::string first_device();
/// False if $TUNESMITH_OVERLAP is "off". A value other than "on" and "off" is named in a dispatcher's
/// notes().
bool default_overlap();
/// True if $TUNESMITH_CHECK_POINTERS is "on". A value other than "on" and "off" is named in a dispatcher's
/// notes().
bool default_check_pointers();

/// If and when a variant without a binary is compiled, such as a tuned config for another mask.
enum class Compile {
  background,  ///< plan() returns the best variant that is ready; a better one is compiled in the background
  now,         ///< plan() waits for the compiler, a tenth of a second to some
  never,
};

struct DispatcherOptions {
  /// "cuda" or "auto" (the first CUDA device), "cuda:N" as cudaSetDevice counts, or "host", whose arguments
  /// are ordinary memory and which is never chosen for you.
  std::string device = "cuda";
  /// Database of the user's own winners, read once, and written only with tune_on_first_use; empty: only
  /// those built into the library. If it is missing, damaged or newer, or somebody else may write it, notes()
  /// says so and it is not used. Its binaries are run, so use only files that you trust.
  std::string database = default_database();
  /// Files of kernels of your own with their descriptions, such as "softmax_rows.cu": plan() then knows their
  /// ops by name, for this process. They are compiled and run, so name only files that you trust. The winners
  /// and compiled kernels that `tunesmith export softmax_rows.cu` wrote beside a file are used like those of
  /// a database.
  std::vector<std::string> kernels = {};
  /// If true, the database's and exported binaries for the host, native code of this process, are run. Else a
  /// winner for the host is compiled first, as `compile` says.
  bool host_binaries = false;
  /// With `background` plan() still waits in one case: if not even the op's base is in the library, because
  /// the problem holds an expression of the user's own. While the better kernel is loaded, launches of this
  /// process may wait for the GPU's running work, as CUDA loads code; wait_until_ready() loads it beforehand.
  Compile compile = Compile::background;
  /// A compilation that takes longer is given up, and its variant not used (with NVRTC from CUDA 12.8 on).
  /// Whatever fails to compile is tried again in the background, or by a later plan: after some seconds or
  /// ten times as long as it took, then after twice that, and so on. A plan that was made without the variant
  /// becomes outdated() then; wait_until_ready() does not wait for that. A binary that could not be loaded
  /// for want of memory or file numbers is tried again at once.
  std::chrono::milliseconds compile_limit = std::chrono::seconds(60);
  /// The folder where compiled binaries are kept for the next process; empty: they are not kept. A binary of
  /// another version of the compiler is compiled again, if there is a compiler. If the folder cannot be
  /// written, notes() says so.
  std::string cache_folder = default_cache_folder();
  /// If true, kernels may overlap with those before them in the stream; see Plan::launch().
  bool overlap = default_overlap();
  /// For debugging: if true, each launch first checks that each pointer is memory of the plan's device
  /// (cudaPointerGetAttributes; some microseconds). Other memory gives Status::foreign_argument, and nothing
  /// is launched. Without the check a kernel that meets such a pointer may end the CUDA context, or the
  /// process.
  bool check_pointers = default_check_pointers();
  /// An approximate limit for the memory of plans and kernels together. Beyond it the oldest plans are
  /// evicted, one by one, and with them kernels that no other plan uses and that were never launched on a
  /// GPU: a stream or a graph may still use a kernel that was launched. A quarter is for plans, however much
  /// such kernels take. Nothing is compiled for an evicted plan. A plan takes 3 to 8 KiB, a kernel 20 to 200.
  std::size_t most_bytes = std::size_t{256} << 20;
  /// The number of variants to try when a problem that was never tuned is first planned: the most promising
  /// ones; the fastest is used from then on. 0 or 1: no trial. The variants run on separate memory and on a
  /// separate stream, never in a capture: they take at most a quarter of the free memory, else nothing is
  /// tried, and about a quarter of a second of the device for each problem, and compilations. With
  /// Compile::now plan() waits for the trial, else it is done in the background. Once the problem is tuned
  /// the result counts no more than any prediction.
  std::size_t tune_on_first_use = 0;
  /// If true, the outcome is written to `database` for the next process, marked as a trial, not as a tuner's
  /// verdict. A missing file is created. This is done in the background, and at the dispatcher's end; if the
  /// file cannot be written, notes() says so.
  bool keep_first_use = true;
};

/// The name of a problem's parameter, always a literal: a look-up compares its address first.
class FieldName {
 public:
  consteval FieldName(const char* literal) : text_(literal) {}  // NOLINT: stands where a literal does
  constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// One parameter of a problem. Each parameter is named once, in any order; a missing one has its initial
/// value.
struct Field {
  FieldName name;
  std::variant<std::int64_t, std::string_view> value;  ///< a word as the op spells it
};

/// A problem of an op, as text.
struct NamedProblem {
  std::string_view op, problem;
};

/// A problem that an application launched, with the numbers of its newest plan.
struct Usage {
  std::string op, problem;
  Match match = Match::base;
  /// The successful launches; one in a capture counts once, however often its graph runs.
  std::uint64_t launches = 0;
  double expected_us = 0;    ///< the plan's time of one launch; 0: not known
  double expected_loss = 0;  ///< as in the plan: the expected gain of tuning, as a part of the best time
  /// The time that tuning is expected to save in all these launches, in microseconds; 0 if the problem is
  /// tuned. If expected_us is 0, it is a guess from the bytes moved and the operations.
  double lost_us = 0;
};

/// Knows the winners for one device. Thread-safe. It compiles and loads in at most four threads of its own,
/// from the first plan() on that has work for them. They block all signals but those of their own faults, so
/// signals of the process go to the application's threads; and they run under SCHED_OTHER even if a real-time
/// thread made them. Their processors and niceness are those of the thread whose plan() made them: bind a
/// thread to one processor after that, or compilations share it. If no thread can be made, plan() returns the
/// best that is ready, prepare() works in the caller's thread, and making a thread is tried again later. The
/// end of the dispatcher, or of its last plan, unloads the kernels: on a GPU this waits for their launches,
/// as cudaFree does, so do not do it in a capture; kernels that a graph has captured stay. Destroy
/// dispatchers and plans before cudaDeviceReset(), which takes their kernels and memory away; a dispatcher
/// that is made later shares nothing with an earlier one.
///
/// A child of fork() may use the plans that it finds, look up and plan; nothing is compiled in the background
/// there, and wait_until_ready() and prepare() do not wait for it. fork() itself waits until no thread plans
/// or loads a kernel, mostly for some milliseconds, and not for compilers. CUDA does not work in the child of
/// a process that used it before. For anything else make a new dispatcher in the child.
class Dispatcher {
 public:
  /// Throws if the device does not exist.
  explicit Dispatcher(const DispatcherOptions& options = {});
  ~Dispatcher();
  Dispatcher(Dispatcher&&) noexcept;
  Dispatcher& operator=(Dispatcher&&) noexcept;

  const std::string& device() const noexcept;  ///< its name: "NVIDIA H200"
  bool on_host() const noexcept;               ///< arguments are then ordinary memory
  int cuda_ordinal() const noexcept;           ///< as cudaSetDevice counts; -1 on the host
  /// Sentences on the data that was loaded, and the data that was not. The returned notes stay as they are;
  /// later calls may return a few more: data that could not be written, or that no thread can be made.
  const std::vector<std::string>& notes() const noexcept;

  /// The plan for a problem such as "height=1000 width=2000 mask_height=3 mask_width=3 dtype=f32". Plans are
  /// kept: asking again is a look-up, in which threads do not wait for each other. Throws if there is no such
  /// op, if the problem is not valid, or if no kernel can be loaded, not even the base.
  Plan plan(std::string_view op, std::string_view problem);
  Plan plan(std::string_view op, const Problem& problem);
  /// The same from named fields, for typed functions such as conv2d(): asking again allocates nothing.
  Plan plan(std::string_view op, std::span<const Field> problem);

  /// Plans these problems, and waits until their best kernels are loaded, including those for unaligned
  /// pointers.
  void prepare(std::span<const NamedProblem> problems);
  /// Waits until nothing is compiled or loaded in the background any more; false if that takes longer than
  /// `limit`. A limit of a year or more is no limit.
  bool wait_until_ready(std::chrono::milliseconds limit = std::chrono::milliseconds::max());

  /// All problems that were launched since the dispatcher was made, those that lose most first. Launches are
  /// counted without a lock or a shared cache line. If the problems need more than a sixteenth of
  /// `most_bytes`, those with the fewest launches are evicted.
  std::vector<Usage> summary() const;
  /// Writes the problems of summary(), weighted by lost_us, as a file for `tunesmith tune --problems`, which
  /// skips those of weight 0, and for `tunesmith export --static --problems`. Throws if it cannot be written.
  void save_problems(const std::string& file) const;

  /// plan(), and its explanation(), as text for people.
  std::string explain(std::string_view op, std::string_view problem, bool with_refusals = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
