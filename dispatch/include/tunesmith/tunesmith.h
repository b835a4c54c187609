// SPDX-License-Identifier: Apache-2.0
// The C interface: a dispatcher knows the fastest kernels for one device, a plan is its choice for one
// problem, ready to launch. No function throws. tunesmith/dispatcher.h has the details that are missing here.
#pragma once

// This file has C's headers and C's names.
// NOLINTBEGIN(modernize-deprecated-headers, readability-identifier-naming)
#include <stddef.h>
#include <stdint.h>

#include "tunesmith/version.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifndef TUNESMITH_HIDDEN
#pragma GCC visibility push(default)
#endif

/// A positive status is the device runtime's (a cudaError_t).
typedef int tunesmith_status;
enum {
  TUNESMITH_SUCCESS = 0,
  TUNESMITH_WRONG_ARGUMENT_COUNT = -1,
  TUNESMITH_NULL_ARGUMENT = -2,
  TUNESMITH_MISALIGNED_ARGUMENT = -3,
  TUNESMITH_OVERLAPPING_ARGUMENTS = -4,
  TUNESMITH_MISSING_WORKSPACE = -5,
  TUNESMITH_FOREIGN_ARGUMENT = -6,  ///< not memory of the plan's device; only with check_pointers=on
  TUNESMITH_WRONG_INPUT = -7,       ///< the request is not valid: an unknown op, a size that is not allowed
  TUNESMITH_FAILED = -8,            ///< anything else: no device, no memory
  TUNESMITH_NOT_READY = -9,         ///< tunesmith_wait_until_ready() reached its limit
  TUNESMITH_WRONG_NUMBER_COUNT = -10,
  TUNESMITH_REFUSED_NUMBERS = -11  ///< such as a histogram's lower limit above the upper one
};

/// A sentence on the calling thread's last call that returned a status other than success, valid until that
/// thread's next such call; "" if there was none.
const char* tunesmith_message(void);

/// The version of the loaded library: "0.1.0", as TUNESMITH_VERSION was at compile time.
const char* tunesmith_version(void);

/// "cuda" if there is a CUDA device that this library can use, else "host".
const char* tunesmith_first_device(void);

/// Functions may be called by several threads at the same time, except that no other thread may use a handle
/// that is being destroyed. A thread that is cancelled by pthread_cancel() goes on until its call returns.
typedef struct tunesmith_dispatcher tunesmith_dispatcher;
typedef struct tunesmith_plan tunesmith_plan;

/// `options` are those of DispatcherOptions as name=value, divided by blanks. Options that are left out, all
/// of them if it is null, have their initial values:
///   device=cuda|cuda:N|host  database=FILE  host_binaries=on|off  compile=background|now|never
///   compile_limit_ms=N  cache_folder=FOLDER  overlap=on|off  check_pointers=on|off
///   most_bytes=N  tune_on_first_use=N  keep_first_use=on|off  kernels=FILE.cu:FILE.cu
/// An empty word, or one with blanks, stands in quotes: database="". *dispatcher is set only on success.
tunesmith_status tunesmith_dispatcher_create(const char* options, tunesmith_dispatcher** dispatcher);
/// Null is allowed. Plans live on; when the dispatcher and its last plan are destroyed, the kernels are
/// unloaded, after their launches have ended.
void tunesmith_dispatcher_destroy(tunesmith_dispatcher* dispatcher);

const char* tunesmith_dispatcher_device(const tunesmith_dispatcher* dispatcher);  ///< its name: "NVIDIA H200"
int tunesmith_dispatcher_cuda_ordinal(const tunesmith_dispatcher* dispatcher);    ///< -1: the host
/// The notes, one a line; "": none. Later calls may return more; the returned text stays valid until the
/// dispatcher's end.
const char* tunesmith_dispatcher_notes(const tunesmith_dispatcher* dispatcher);

/// `problem` is a text such as "height=1000 width=2000 mask_height=3 mask_width=3 dtype=f32". Asking again is
/// a look-up. *plan is set only on success.
tunesmith_status tunesmith_plan_create(tunesmith_dispatcher* dispatcher, const char* op, const char* problem,
                                       tunesmith_plan** plan);
/// Null is allowed.
void tunesmith_plan_destroy(tunesmith_plan* plan);

/// The way in which the choice was made, from best to worst.
typedef enum {
  TUNESMITH_EXACT = 0,         ///< tuned for this problem on this model of device
  TUNESMITH_PREDICTED = 1,     ///< measured on this model of device on other problems
  TUNESMITH_OTHER_DEVICE = 2,  ///< tuned on another model of device
  /// Nothing known: a default config that is sensible without times, else the base.
  TUNESMITH_BASE = 3
} tunesmith_match;

tunesmith_match tunesmith_plan_match(const tunesmith_plan* plan);
double tunesmith_plan_expected_us(const tunesmith_plan* plan);       ///< time of one launch; 0: not known
double tunesmith_plan_expected_loss(const tunesmith_plan* plan);     ///< 0.1: 10 % slower than the tuned one
const char* tunesmith_plan_template(const tunesmith_plan* plan);     ///< "tiled"
const char* tunesmith_plan_config(const tunesmith_plan* plan);       ///< "BLOCK_X=32 BLOCK_Y=8 ..."
const char* tunesmith_plan_problem(const tunesmith_plan* plan);      ///< complete, in the op's order
int64_t tunesmith_plan_alignment_bytes(const tunesmith_plan* plan);  ///< for pointers, for this variant
int64_t tunesmith_plan_workspace_bytes(const tunesmith_plan* plan);  ///< size of a workspace of your own
size_t tunesmith_plan_argument_count(const tunesmith_plan* plan);
int64_t tunesmith_plan_argument_bytes(const tunesmith_plan* plan, size_t argument);  ///< 0: it may be null
int tunesmith_plan_outdated(
    const tunesmith_plan* plan);  ///< not 0: there is a better plan for the problem now

/// Enqueues the work on `stream`, a cudaStream_t; NULL is the legacy default stream, also in an application
/// that is built with a default stream per thread. On the host the work is done on return, and `stream` is
/// ignored. `arguments` are the op's pointers in its order, to memory of the plan's device, which must be the
/// current CUDA device. `workspace` may be null: the library then makes one if the plan needs it.
tunesmith_status tunesmith_plan_launch(const tunesmith_plan* plan, void* const* arguments, size_t count,
                                       void* stream, void* workspace);
/// The same, with numbers that replace those of the plan's problem in this launch alone, in the op's order: a
/// histogram's lo and hi, or conv2d's value. Without numbers those of the problem are used.
tunesmith_status tunesmith_plan_launch_with_numbers(const tunesmith_plan* plan, void* const* arguments,
                                                    size_t count, const double* numbers, size_t number_count,
                                                    void* stream, void* workspace);

typedef struct {
  const char* op;
  const char* problem;
} tunesmith_problem;

/// Plans these problems, and waits until the best kernels for them are loaded.
tunesmith_status tunesmith_prepare(tunesmith_dispatcher* dispatcher, const tunesmith_problem* problems,
                                   size_t count);
/// Waits until nothing is compiled or loaded in the background any more. With a negative limit it waits for
/// ever.
tunesmith_status tunesmith_wait_until_ready(tunesmith_dispatcher* dispatcher, int64_t limit_ms);

/// A problem that an application launched, with the numbers of its newest plan.
typedef struct {
  const char* op;
  const char* problem;  ///< complete, in the op's order
  tunesmith_match match;
  uint64_t launches;     ///< successful launches; one in a capture counts once, however often the graph runs
  double expected_us;    ///< time of one launch; 0: not known
  double expected_loss;  ///< expected gain of tuning; 0.1: 10 % slower than the best
  double lost_us;        ///< time that tuning is expected to save in all these launches; 0 if tuned
} tunesmith_usage;

/// All problems that were launched since the dispatcher was made, those that lose most first. *usages and its
/// texts are valid until the calling thread's next tunesmith_summary(). Both are set only on success.
tunesmith_status tunesmith_summary(const tunesmith_dispatcher* dispatcher, const tunesmith_usage** usages,
                                   size_t* count);
/// Writes the problems of tunesmith_summary(), weighted by lost_us, as a file for `tunesmith tune
/// --problems`, which skips those of weight 0, and for `tunesmith export --static --problems`.
tunesmith_status tunesmith_save_problems(const tunesmith_dispatcher* dispatcher, const char* file);

/// Explains, as text for people, what a plan for the problem launches and why. *text is valid until the
/// calling thread's next tunesmith_explain().
tunesmith_status tunesmith_explain(tunesmith_dispatcher* dispatcher, const char* op, const char* problem,
                                   const char** text);

#ifndef TUNESMITH_HIDDEN
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-deprecated-headers, readability-identifier-naming)
