// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels for a problem: the first, and one for pointers that the first does not accept. A
// dispatcher, which may lack a kernel, and an export, which has all kernels, call the same functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "choose/ready_configs.h"
#include "choose/select.h"

namespace tunesmith {

struct LaunchKernel {
  enum class Reason {
    choice,           ///< a choice of the ranking
    instead_of_base,  ///< an untuned config, because the choice is the base's template and expected to be
                      ///< slow
    untuned,          ///< a template's default, because there is no usable choice
    base,             ///< the base, because nothing else can be used
    narrowed,         ///< the first kernel with one axis changed, so that it takes any pointer
    next_choice,      ///< a choice of the ranking that may be worse than a config without measurements
    stand_in,         ///< a config with a binary, near a choice that has none
  };
  Reason reason = Reason::base;
  const Template* tmpl = nullptr;
  Config config;
  std::optional<Choice> choice;  ///< the choice of the ranking, if it is one or stands in for one
  std::size_t place = 0;         ///< for a first kernel that is a choice: its place in the ranking
};

/// Returns the kernel to launch: the first available one of the choices, best first, then of the defaults
/// that templates name without measurements, then the base. A config of `ready` stands in for a choice that
/// is not available, where it is expected to be faster than the next one that is. `favourite` is the place of
/// a choice that precedes all others. Returns nothing if none is available.
std::optional<LaunchKernel> first_kernel(const Op& op, Choices& choices, const Problem& problem,
                                         const DeviceFacts& device, std::optional<std::size_t> favourite,
                                         const std::function<bool(const LaunchKernel&)>& can_be_had,
                                         const ReadyConfigs& ready = {});

/// The facts of the first kernel that the kernel for other pointers depends on.
struct FirstKernel {
  const Template* tmpl = nullptr;
  Values config;
  Match match = Match::base;
  double cautious = 0;  ///< as in Choice
};

/// The caller's side of a request for a kernel that takes every pointer.
struct UnalignedRequest {
  enum class Answer {
    no,    ///< it is not available: ask for the next one
    yes,   ///< it is available
    stop,  ///< it will be available later: ask for nothing else
  };
  std::function<Answer(const LaunchKernel&)> ask = nullptr;
  std::function<bool(const Choice&)> passes_over =
      nullptr;                ///< called before a choice is completed, and after; may be null
  bool only_choices = false;  ///< no config without measurements
};

/// Returns a kernel that takes every pointer: the first suitable choice that is not worse than a config
/// without measurements may be, else the first kernel with one axis changed so that its access is narrower,
/// else the next choice.
std::optional<LaunchKernel> unaligned_kernel(const Op& op, Choices& choices, const Problem& problem,
                                             const DeviceFacts& device, const FirstKernel& first,
                                             const UnalignedRequest& request);

struct LaunchSet {
  LaunchKernel first;
  std::optional<LaunchKernel> unaligned;  ///< empty: the first takes all pointers, or no kernel does
};

/// Returns the kernels for a problem if every kernel is available.
LaunchSet launch_set(const Op& op, const Chooser& chooser, const Problem& problem, const DeviceFacts& device);

}  // namespace tunesmith
