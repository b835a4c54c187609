// SPDX-License-Identifier: Apache-2.0
// The typed functions of tunesmith/histogram.h: they make problems and launch plans of the dispatcher.
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

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

template <typename T>
const char* dtype = std::is_same_v<T, float>          ? "f32"
                    : std::is_same_v<T, double>       ? "f64"
                    : std::is_same_v<T, std::int32_t> ? "i32"
                    : std::is_same_v<T, std::int64_t> ? "i64"
                                                      : "u8";

}  // namespace

template <typename T>
Plan histogram_plan(Dispatcher& dispatcher, const HistogramShape& shape, double lo, double hi) {
  const Field problem[] = {{"function", "histogram"}, {"length", shape.length}, {"bins", shape.bins},
                           {"stride", shape.stride},  {"lo", low.of(lo)},       {"hi", high.of(hi)},
                           {"dtype", dtype<T>}};
  return dispatcher.plan("histogram", problem);
}
template Plan histogram_plan<float>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<double>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<std::int32_t>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<std::int64_t>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<std::uint8_t>(Dispatcher&, const HistogramShape&, double, double);

template <typename T>
Plan bincount_plan(Dispatcher& dispatcher, const HistogramShape& shape) {
  const Field problem[] = {{"function", "bincount"},
                           {"length", shape.length},
                           {"bins", shape.bins},
                           {"stride", shape.stride},
                           {"dtype", dtype<T>}};
  return dispatcher.plan("histogram", problem);
}
template Plan bincount_plan<std::int32_t>(Dispatcher&, const HistogramShape&);
template Plan bincount_plan<std::uint8_t>(Dispatcher&, const HistogramShape&);

namespace {

// The plan has the op's initial limits and serves all limits.
template <typename T>
Status launch(Dispatcher& dispatcher, const T* values, std::int64_t* counts, const HistogramShape& shape,
              double lo, double hi, void* stream) {
  const Field problem[] = {{"function", "histogram"},
                           {"length", shape.length},
                           {"bins", shape.bins},
                           {"stride", shape.stride},
                           {"dtype", dtype<T>}};
  const double limits[] = {lo, hi};
  return dispatcher.plan("histogram", problem).launch(launch_arguments(values, counts), limits, stream);
}

}  // namespace

Status histogram(Dispatcher& dispatcher, const float* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return launch(dispatcher, values, counts, shape, lo, hi, stream);
}
Status histogram(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return launch(dispatcher, values, counts, shape, lo, hi, stream);
}
Status histogram(Dispatcher& dispatcher, const double* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return launch(dispatcher, values, counts, shape, lo, hi, stream);
}
Status histogram(Dispatcher& dispatcher, const std::int64_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return launch(dispatcher, values, counts, shape, lo, hi, stream);
}
Status histogram(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return launch(dispatcher, values, counts, shape, lo, hi, stream);
}

Status bincount(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream) {
  return bincount_plan<std::int32_t>(dispatcher, shape).launch(launch_arguments(values, counts), stream);
}
Status bincount(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream) {
  return bincount_plan<std::uint8_t>(dispatcher, shape).launch(launch_arguments(values, counts), stream);
}

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
