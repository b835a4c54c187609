// SPDX-License-Identifier: Apache-2.0
// Records calls of a function, so that a call with the same types, shapes and settings only repeats their
// launches.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "array.h"
#include "plan.h"

namespace tunesmith::python {

class Memo {
 public:
  /// `names`: the function's parameters; `arrays`: those that are known by type, shape and place, with any
  /// elements; `by_content`: those like filter's weights, whose arrays in ordinary memory are known by their
  /// elements too, and on a GPU like `arrays`. All others are settings: they are known by value, and a call
  /// with a setting on a GPU is not recorded. `more`: the function takes any number of further arrays, in
  /// order from that place on and by names that are not among its parameters; -1: it does not.
  Memo(std::vector<std::string> names, const std::vector<int>& arrays, const std::vector<int>& by_content,
       int more);

  /// Returns the call's result, or NotImplemented if it was not recorded. `default_device` is the device for
  /// arrays in ordinary memory.
  nb::object launch(const nb::tuple& args, const nb::dict& kwargs, const nb::callable& default_device);

  /// The key of the call; None: calls with such arguments are not recorded.
  nb::object key(const nb::tuple& args, const nb::dict& kwargs) const;

  /// Records a call, if it did nothing but launch. `key`: key() before the call, which still has to be that
  /// of its arguments, because another thread may have changed a list among them. `launches`: (plan, arrays,
  /// numbers) each; `allocated`: the new arrays; `constants`: arrays that follow from the values that the
  /// call is known by; `allocator`: a function (array, shape, dtype) that returns a function that makes such
  /// an array beside that one; `value`: the call's result, or a tuple of its results.
  void record(const nb::bytes& key, const nb::tuple& args, const nb::dict& kwargs, const nb::list& launches,
              const nb::list& allocated, const nb::list& constants, const nb::callable& allocator,
              const nb::callable& default_device, nb::handle check, nb::handle value, bool is_number);

  /// All memos forget their calls, so that plans are made anew.
  static void forget() { ++epoch; }

 private:
  struct Slot {
    enum From { nothing, argument, made, constant };
    From from = nothing;
    std::size_t index = 0;
  };
  struct Step {
    nb::object plan;
    std::vector<Slot> arrays;
    std::vector<double> numbers;
  };
  struct Call {
    int device = -1;
    std::vector<Step> steps;
    std::vector<nb::object> make;  // functions that make an array each
    std::vector<Array> constants;
    std::vector<Slot> results;
    bool is_tuple = false;  // the call returns a tuple of its results
    nb::object check;
    bool is_number = false;  // a NumPy number, not an array without dimensions
  };

  // The key by which a call is known, and its arrays. Reading them may run other threads.
  struct CallDescription {
    std::string key;
    std::vector<Array> arrays;
    std::vector<nb::object> objects;
  };
  enum class Use { setting, array, content };
  bool describe(const nb::tuple& args, const nb::dict& kwargs, CallDescription& seen) const;
  static bool describe(nb::handle value, Use use, CallDescription& seen);

  using Calls = std::unordered_map<std::string, std::shared_ptr<const Call>>;

  static inline std::atomic<std::uint64_t> epoch = 0;
  std::vector<std::string> names_;
  std::vector<Use> uses_;
  std::size_t positional_;  ///< number of arguments that may be positional, without further arrays
  Use other_;               ///< the use of all others
  nb::ft_mutex mutex_;      // of what follows; does nothing where the GIL is held
  std::uint64_t epoch_ = 0;
  Calls calls_;
};

}  // namespace tunesmith::python
