// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/histogram.h: they make problems and launch plans of the dispatcher.
#include <bit>
#include <cstdint>
#include <string_view>

#include "dispatch/arguments.h"
#include "generator/number_text.h"
#include "tunesmith/histogram.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

// The shortest text that reads back as the same number. The last text is kept, because making one takes
// longer than a look-up.
class Text {
 public:
  std::string_view of(double limit) {
    const auto bits = std::bit_cast<std::uint64_t>(limit);
    if (text_.get().empty() || bits != bits_) {
      bits_ = bits;
      text_ = ShortestText(limit);
    }
    return text_.get();
  }

 private:
  std::uint64_t bits_ = 0;
  ShortestText text_;  // empty: nothing yet
};

constinit thread_local Text low, high;

}  // namespace

Plan histogram_plan(Dispatcher& dispatcher, ElementName type, const HistogramShape& shape, double lo,
                    double hi) {
  const Field problem[] = {{"function", "histogram"}, {"length", shape.length}, {"bins", shape.bins},
                           {"stride", shape.stride},  {"lo", low.of(lo)},       {"hi", high.of(hi)},
                           {"dtype", type.text}};
  return dispatcher.plan("histogram", problem);
}

Plan bincount_plan(Dispatcher& dispatcher, ElementName type, const HistogramShape& shape) {
  const Field problem[] = {{"function", "bincount"},
                           {"length", shape.length},
                           {"bins", shape.bins},
                           {"stride", shape.stride},
                           {"dtype", type.text}};
  return dispatcher.plan("histogram", problem);
}

// The plan has the op's initial limits and serves all limits.
Status histogram(Dispatcher& dispatcher, ElementName type, const void* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  const Field problem[] = {{"function", "histogram"},
                           {"length", shape.length},
                           {"bins", shape.bins},
                           {"stride", shape.stride},
                           {"dtype", type.text}};
  const double limits[] = {lo, hi};
  return dispatcher.plan("histogram", problem).launch(launch_arguments(values, counts), limits, stream);
}

Status bincount(Dispatcher& dispatcher, ElementName type, const void* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream) {
  return bincount_plan(dispatcher, type, shape).launch(launch_arguments(values, counts), stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
