// A function's calls that were seen before: the same types, shapes and settings again need no more than their
// launches.
#pragma once

#include <nanobind/nanobind.h>

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
  /// `names`: the function's parameters; `by_content`: those whose arrays in ordinary memory count by what
  /// they hold, such as a filter's weights.
  Memo(std::vector<std::string> names, const std::vector<int>& by_content);

  /// The call's result, or NotImplemented: it was not recorded. `default_device` says where arrays in
  /// ordinary memory are worked on.
  nb::object launch(const nb::tuple& args, const nb::dict& kwargs, const nb::callable& default_device);

  /// Keeps what a call did, if its launches are all that it did. `launches`: (plan, arrays, numbers) each;
  /// `allocated`: the new arrays; `constants`: arrays that follow from what the call is known by;
  /// `allocator`: a function (shape, dtype) that gives a function that makes such an array; `value`: what the
  /// call returned.
  void record(const nb::tuple& args, const nb::dict& kwargs, const nb::list& launches,
              const nb::list& allocated, const nb::list& constants, const nb::callable& allocator,
              nb::handle value);

  /// All memos forget what they hold: plans are made anew.
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
    Slot result;
    bool is_number = false;  // NumPy's, not an array without dimensions
  };

  // What a call is known by, and its arrays. Reading them may run other threads.
  struct Seen {
    std::string key;
    std::vector<Array> arrays;
    std::vector<nb::object> objects;
  };
  bool describe(const nb::tuple& args, const nb::dict& kwargs, Seen& seen) const;
  static bool describe(nb::handle value, bool by_content, Seen& seen);

  static inline std::uint64_t epoch = 0;
  std::uint64_t epoch_ = 0;
  std::vector<std::string> names_;
  std::vector<bool> by_content_;
  std::unordered_map<std::string, std::shared_ptr<Call>> calls_;
};

}  // namespace tunesmith::python
