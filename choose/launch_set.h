// SPDX-License-Identifier: Apache-2.0
// Which kernels a problem is launched with: the first, and one for pointers that the first does not take. A
// dispatcher, which may lack a kernel, and an export, for which all can be had, ask the same functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "choose/select.h"

namespace tunesmith {

struct LaunchKernel {
  enum class Kind {
    choice,           ///< of the ranking
    instead_of_base,  ///< untuned, where the choice is the base's template and expected to be slow
    untuned,          ///< a template's default, where no choice can be had
    base,             ///< where nothing else can
    narrowed,         ///< the first kernel with one axis changed, so that it takes any pointer
    next_choice,      ///< of the ranking, and worse than a config that nobody measured may be
  };
  Kind kind = Kind::base;
  const Template* tmpl = nullptr;
  Config config;
  std::optional<Choice> choice;  ///< of the ranking
  std::size_t place = 0;         ///< of a first kernel that is a choice: in the ranking
};

/// The kernel that is launched: the first that can be had of the choices, best first, of the defaults that
/// templates name without measurements, and the base. `favourite`: the place of a choice that comes before
/// all others. Nothing: none can be had.
std::optional<LaunchKernel> first_kernel(const Op& op, Choices& choices, const Problem& problem,
                                         const DeviceFacts& device, std::optional<std::size_t> favourite,
                                         const std::function<bool(const LaunchKernel&)>& can_be_had);

/// The first kernel, as far as one for other pointers depends on it.
struct FirstKernel {
  const Template* tmpl = nullptr;
  Values config;
  Match match = Match::base;
  double cautious = 0;  ///< as in Choice
};

/// Who asks for a kernel that takes every pointer.
struct UnalignedRequest {
  enum class Answer {
    no,    ///< it cannot be had: the next is asked for
    yes,   ///< it is the one
    stop,  ///< there will be one, but not now: nothing else is asked for
  };
  std::function<Answer(const LaunchKernel&)> ask = nullptr;
  std::function<bool(const Choice&)> passes_over =
      nullptr;                ///< before a choice is completed, and after; may be null
  bool only_choices = false;  ///< no config that nobody measured
};

/// A kernel that takes every pointer: of the choices one that is not worse than a config that nobody measured
/// may be, else the first kernel with one axis changed so that its access is narrower, else the next choice.
std::optional<LaunchKernel> unaligned_kernel(const Op& op, Choices& choices, const Problem& problem,
                                             const DeviceFacts& device, const FirstKernel& first,
                                             const UnalignedRequest& request);

struct LaunchSet {
  LaunchKernel first;
  std::optional<LaunchKernel> unaligned;  ///< nothing: the first takes all pointers, or nothing takes them
};

/// Where every kernel can be had.
LaunchSet launch_set(const Op& op, const Chooser& chooser, const Problem& problem, const DeviceFacts& device);

}  // namespace tunesmith
