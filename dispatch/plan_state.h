// What a plan holds. Private to dispatch/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

struct PlanState {
  struct Argument {
    std::uintptr_t bytes = 0;
    std::uintptr_t address_bits = 0;  ///< that must be 0: the element's size - 1, or what all kernels ask for
    bool written = false;
    bool in_place = false;  ///< an output may be this very array
  };

  Match match = Match::base;
  double expected_us = 0;
  double expected_loss = 0;
  Variant variant;
  Variant unaligned_variant;
  std::int64_t alignment_bytes = 1;
  std::int64_t workspace_bytes = 0;
  std::int64_t unaligned_workspace = 0;  ///< the offset of unaligned's part, for what each keeps there
  std::string problem;
  std::string device;
  std::vector<std::string> explanation;
  std::vector<Argument> arguments;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<Executable> unaligned;  ///< null where `executable` takes every pointer that is let through
};

}  // namespace tunesmith
