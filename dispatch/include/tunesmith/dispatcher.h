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

/// What a plan launches.
struct Variant {
  std::string template_name;  ///< "tiled"
  std::string config;         ///< "BLOCK_X=32 BLOCK_Y=8 …"; explanation() says if an axis was changed
  std::string source_hash;    ///< the variant's identity: SHA-256 of what the compiler sees
  std::string tuned_problem;  ///< the problem that it won; empty if this config was not measured
  std::string tuned_on;       ///< the name of the device on which it won; empty likewise
  double median_us = 0;       ///< of one launch, for tuned_problem on tuned_on; else 0
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
    misaligned_argument = -3,  ///< must be a multiple of its element's size, or of what explanation() says
    overlapping_arguments = -4,
    missing_workspace = -5,  ///< none is given, and the device has no pools of memory to make one from
    foreign_argument = -6,   ///< not memory of the plan's device; only with DispatcherOptions::check_pointers
    wrong_input = -7,  ///< of attempt(): what was asked for cannot be, such as a size that is not allowed
    failed = -8,       ///< of attempt(): anything else that was thrown
    wrong_number_count = -10,  ///< of a launch; -9 is TUNESMITH_NOT_READY of the C interface
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
  int argument_ = -1;                        // that is wrong
  std::shared_ptr<const PlanState> plan_;    // set where the launch failed: it has the words
  std::shared_ptr<const std::string> said_;  // by what attempt() caught; why numbers are refused
};

/// Calls function(data, status). An exception becomes the Status that it returns.
Status attempt(void (*function)(void* data, Status& status), void* data) noexcept;

/// The form that does not throw, of all that may: `function` is called, and what it returns, a Status or
/// nothing, is returned; so is an exception, as a Status.
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
/// which live as long as any copy, and always launch the same one for aligned pointers. While a better kernel
/// is compiled, a plan launches the best that was ready; Dispatcher::plan() gives a new one, at the price of
/// a look-up, when outdated() says so. Typed functions look up each time.
class Plan {
 public:
  Plan() = default;  ///< empty: may only be tested or assigned to
  explicit operator bool() const noexcept { return state_ != nullptr; }

  Match match() const noexcept;
  /// The time of one launch, in microseconds: measured where match() is exact, else predicted from the times
  /// of other problems; 0: not known (another device's, or the base).
  double expected_us() const noexcept;
  /// What tuning this problem is expected to gain, as a fraction of the best time: 0.1 is 10 % slower than
  /// the best. 0: it is tuned, or it is the base, of which nothing is known.
  double expected_loss() const noexcept;
  const Variant& variant() const noexcept;
  /// What is launched if a pointer is not a multiple of alignment_bytes(); variant() itself if it accepts
  /// every pointer. At first it may be the base: the first such launch asks for a better one, which is made
  /// in the background (Compile::background) and then serves this plan too.
  const Variant& unaligned_variant() const noexcept;
  /// For variant() to be launched, pointers must be multiples of this; arrays smaller than this do not count.
  std::int64_t alignment_bytes() const noexcept;
  /// The size of a `workspace` of your own for launch(): device memory aligned to 256 bytes; 0 for most
  /// variants. Set it to zero before this plan's first launch; later launches of this plan may use it again
  /// as it is, until one has failed: then set it to zero again.
  std::int64_t workspace_bytes() const noexcept;
  std::size_t argument_count() const noexcept;
  /// Of launch()'s arguments[i]; 0: it has no elements and may be null.
  std::int64_t argument_bytes(std::size_t i) const noexcept;
  const std::string& problem() const noexcept;  ///< complete, in the op's order
  const std::string& device() const noexcept;   ///< its name
  /// Why what it launches may be wrong: a base, used because nothing else can be, whose last measurement on
  /// this model of device failed. Empty otherwise, and where nothing is known; explanation() says it too.
  const std::string& warning() const noexcept;
  bool outdated() const noexcept;  ///< there is, or may be, a better plan for the problem now
  /// How the choice was made, in a few sentences: what is used, by which times, the next two, what tuning
  /// would gain; `with_refusals` also each reason why others are not used, with two of those that have it.
  /// Made when it is asked for, in some milliseconds.
  std::vector<std::string> explanation(bool with_refusals = false) const;

  /// Enqueues the work on `stream`, a cudaStream_t; null is the legacy default stream, also in an application
  /// that is built with a default stream per thread (give cudaStreamPerThread there). On the host it is done
  /// on return, and `stream` is ignored. `arguments` are the op's pointers in its order, to memory of the
  /// plan's device, which must be the current CUDA device; null for an array of no elements. Outputs may not
  /// overlap other arguments, unless the op works in place. On CUDA it takes no lock, allocates and compiles
  /// nothing, and may be captured into a CUDA graph; the graph keeps the kernel, also when a better one is
  /// ready later, so prepare() or wait_until_ready() before a capture. Several threads may call it at the
  /// same time, each with its own workspace; on the host such calls wait for each other.
  ///
  /// Without a workspace, where the plan needs one, each launch takes one from a pool of the library's, in
  /// the stream's order (cudaMallocAsync; in a captured graph too), sets its counters to zero and gives it
  /// back: some microseconds more on the host, and a filling before the kernel.
  ///
  /// Kernels of plans may overlap with other kernels in the stream (CUDA's programmatic dependent launch,
  /// from compute capability 9.0 on). For copies, fillings, events and ordinary launches nothing changes:
  /// what is before the plan's kernels in the stream has ended before they touch memory, and what is behind
  /// them begins when they have ended. Only kernels of your own that take part in programmatic dependent
  /// launch must keep two rules:
  /// - One that is launched behind a plan with cudaLaunchAttributeProgrammaticStreamSerialization calls
  ///   cudaGridDependencySynchronize() before it reads or writes memory that the plan uses: plans may let it
  ///   start before they have written anything.
  /// - One that is launched so before a plan, and itself behind work whose results the plan uses, calls
  ///   cudaGridDependencySynchronize() too, in every block that may be the last to end: the plan's kernels
  ///   wait until the kernel directly before them has ended, and not for what that one did not wait for.
  /// DispatcherOptions::overlap switches it off.
  Status launch(std::span<void* const> arguments, void* stream = nullptr,
                void* workspace = nullptr) const noexcept;
  /// The same with numbers that stand in this launch alone for those of the plan's problem, in the op's
  /// order: a histogram's `lo` and `hi`, or conv2d's `value`. None: those of the problem.
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

/// $TUNESMITH_DB, else tunesmith/tunesmith.db in the user's data folder (XDG); empty where there is none, or
/// if TUNESMITH_DB is "off".
std::string default_database();
/// tunesmith/ in the user's cache folder (XDG); empty where there is none.
std::string default_cache_folder();
/// "cuda" if there is a CUDA device that this library can use, else "host": for an application that has
/// memory for both.
std::string first_device();
/// Whether $TUNESMITH_OVERLAP is not "off". What is neither "on" nor "off" is one of a dispatcher's notes().
bool default_overlap();
/// Whether $TUNESMITH_CHECK_POINTERS is "on"; likewise.
bool default_check_pointers();

/// Whether and when what has no binary is compiled, such as a tuned config for another mask.
enum class Compile {
  background,  ///< plan() returns the best that is ready; a better one is compiled in the background
  now,         ///< plan() waits for the compiler, a tenth of a second to some
  never,
};

struct DispatcherOptions {
  /// "cuda" or "auto" (the first CUDA device), "cuda:N" as cudaSetDevice counts, or "host", whose arguments
  /// are ordinary memory and which is never chosen for you.
  std::string device = "cuda";
  /// Database of the user's own winners, read once, and written only with tune_on_first_use; empty: only
  /// those built into the library. If it is missing, damaged or newer, or somebody else may write it, notes()
  /// says so and it is not used. Its binaries are run: use only files that you trust.
  std::string database = default_database();
  /// Files of kernels of your own with their descriptions, such as "softmax_rows.cu": plan() then knows their
  /// ops by name, for this process. They are compiled and run, so name only files that you trust. What
  /// `tunesmith export softmax_rows.cu` wrote beside one, winners and compiled kernels, is used as a
  /// database's.
  std::vector<std::string> kernels = {};
  /// Whether the database's and exported binaries for the host, native code of this process, are run. Without
  /// it a winner for the host is compiled first, as `compile` says.
  bool host_binaries = false;
  /// Also with `background` plan() waits in one case: where not even the op's base is in the library, because
  /// the problem holds an expression of the user's own. While the better kernel is loaded, launches of this
  /// process may wait for what the GPU runs, as CUDA loads code; wait_until_ready() has that done before.
  Compile compile = Compile::background;
  /// A compilation that takes longer is given up, and its variant not used (with NVRTC from CUDA 12.8 on).
  /// Whatever fails to compile is tried again in the background, or by a later plan: after some seconds or
  /// ten times as long as it took, then after twice that, and so on. A plan that was made without it becomes
  /// outdated() then; wait_until_ready() does not wait for that. What lacks memory or file numbers to be
  /// loaded is tried again at once.
  std::chrono::milliseconds compile_limit = std::chrono::seconds(60);
  /// Where compiled binaries are kept for the next process; empty: they are not kept. What another version of
  /// the compiler made is compiled again, where there is one. A folder that cannot be written is a note.
  std::string cache_folder = default_cache_folder();
  /// Whether kernels may overlap with those before them in the stream; see Plan::launch().
  bool overlap = default_overlap();
  /// For debugging: whether each launch first asks for each pointer whether it is memory of the plan's device
  /// (cudaPointerGetAttributes; some microseconds). What is not gives Status::foreign_argument, and nothing
  /// is launched. Without it a kernel that meets such a pointer may end the CUDA context, or the process.
  bool check_pointers = default_check_pointers();
  /// The memory of plans and kernels together, about. Beyond it the oldest plans are evicted, one by one,
  /// and with them kernels that no other plan uses and that were never launched on a GPU: a stream or a
  /// graph may still use one that was. A quarter is for plans, however much such kernels take. Nothing is
  /// compiled for an evicted plan. A plan takes 3 to 8 KiB,
  /// a kernel 20 to 200.
  std::size_t most_bytes = std::size_t{256} << 20;
  /// The number of variants to try when a problem that was never tuned is first planned: the most promising
  /// ones; the fastest is used from then on. 0 or 1: none. They run on separate memory and on a separate
  /// stream, never in a capture: at most a quarter of the free memory, else nothing is tried; they take
  /// about a quarter of a second of the device for each problem, and compilations. With Compile::now plan()
  /// waits for it, else it is done in the background. Once the problem is tuned the result counts no
  /// more than any prediction.
  std::size_t tune_on_first_use = 0;
  /// Whether the outcome is written to `database` for the next process, marked as what it is: no verdict of a
  /// tuner. A missing file is made. It is done in the background, and at the dispatcher's end; if the file
  /// cannot be written, notes() says so.
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

/// One parameter of a problem. Each is named once, in any order; one that is left out has its initial value.
struct Field {
  FieldName name;
  std::variant<std::int64_t, std::string_view> value;  ///< a word as the op spells it
};

/// A problem of an op, as text.
struct NamedProblem {
  std::string_view op, problem;
};

/// What an application used: a problem that it launched, as its newest plan is.
struct Usage {
  std::string op, problem;
  Match match = Match::base;
  std::uint64_t launches = 0;  ///< that did not fail; one in a capture is one, however often the graph runs
  double expected_us = 0;      ///< as of the plan: of one launch; 0: not known
  double expected_loss = 0;    ///< likewise: what tuning is expected to gain, as a part of the best time
  /// What tuning is expected to save in all these launches, in microseconds; 0 where the problem is tuned. A
  /// guess from the bytes moved and the operations where expected_us is 0.
  double lost_us = 0;
};

/// Knows the winners for one device. Thread-safe. It compiles and loads in a few threads of its own, at most
/// four, from the first plan() on that has something for them. They block all signals but those of their own
/// faults, so signals of the process go to the application's threads; and they run by SCHED_OTHER also where
/// a real-time thread made them. Their processors and niceness are those of the thread whose plan() made
/// them: bind a thread to one processor after that, or compilations share it. Where no thread can be made,
/// plan() gives what is ready, prepare() works in the caller's thread, and it is tried again later. Its end,
/// or that of the last plan, unloads the kernels: on a GPU it waits for their launches, as cudaFree does, so
/// it does not belong into a capture; kernels that a graph has captured stay. Destroy dispatchers and plans
/// before cudaDeviceReset(), which takes their kernels and memory away; a dispatcher that is made later is a
/// new one in all.
///
/// A child of fork() may use the plans that it finds, look up and plan; nothing is compiled in the background
/// there, and wait_until_ready() and prepare() do not wait for it. fork() itself waits until no thread plans
/// or loads a kernel, for some milliseconds mostly, and not for compilers. CUDA does not work in the child of
/// a process that used it before. For all else make a dispatcher in the child.
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
  /// Sentences on what was loaded, and what was not. What it gives stays as it is; later there may be a few
  /// more: what could not be written, that no thread can be made.
  const std::vector<std::string>& notes() const noexcept;

  /// The plan for a problem such as "height=1000 width=2000 mask_height=3 mask_width=3 dtype=f32". Plans are
  /// kept: asking again is a look-up, which threads do without disturbing each other. Throws if there is no
  /// such op, if the problem is not valid, or if no kernel can be loaded, not even the base.
  Plan plan(std::string_view op, std::string_view problem);
  Plan plan(std::string_view op, const Problem& problem);
  /// The same from named fields, for typed functions such as conv2d(): asking again allocates nothing.
  Plan plan(std::string_view op, std::span<const Field> problem);

  /// Plans these problems, and waits until the best kernels for them are loaded, also those for unaligned
  /// pointers.
  void prepare(std::span<const NamedProblem> problems);
  /// Waits until nothing is compiled or loaded in the background any more; false: not within `limit`. A limit
  /// of a year or more is none.
  bool wait_until_ready(std::chrono::milliseconds limit = std::chrono::milliseconds::max());

  /// All problems that were launched since the dispatcher was made, the one that loses most first. Launches
  /// are counted without a lock or a shared cache line. Of more problems than a sixteenth of `most_bytes`
  /// has room for, those that are launched least are evicted.
  std::vector<Usage> summary() const;
  /// Writes them, weighted by lost_us, as a file for `tunesmith tune --problems`, which leaves out those with
  /// the weight 0, and for `tunesmith export --static --problems`. Throws if it cannot be written.
  void save_problems(const std::string& file) const;

  /// plan(), and its explanation(), as text for people.
  std::string explain(std::string_view op, std::string_view problem, bool with_refusals = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
