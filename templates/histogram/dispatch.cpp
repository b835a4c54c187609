#include <array>
#include <charconv>
#include <string>
#include <type_traits>

#include "dispatch/arguments.h"
#include "generator/values.h"
#include "tunesmith/histogram.h"

namespace tunesmith {
namespace {

// The shortest text that reads back as the same number.
std::string text_of(double limit) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), limit);
  return {text.data(), end};
}

template <typename T>
const char* dtype = std::is_same_v<T, float>          ? "f32"
                    : std::is_same_v<T, std::int32_t> ? "i32"
                                                      : "u8";

}  // namespace

template <typename T>
Plan histogram_plan(Dispatcher& dispatcher, const HistogramShape& shape, double lo, double hi) {
  return dispatcher.plan("histogram", Values{{"function", "histogram"},
                                             {"length", shape.length},
                                             {"bins", shape.bins},
                                             {"stride", shape.stride},
                                             {"lo", text_of(lo)},
                                             {"hi", text_of(hi)},
                                             {"dtype", dtype<T>}});
}
template Plan histogram_plan<float>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<std::int32_t>(Dispatcher&, const HistogramShape&, double, double);
template Plan histogram_plan<std::uint8_t>(Dispatcher&, const HistogramShape&, double, double);

template <typename T>
Plan bincount_plan(Dispatcher& dispatcher, const HistogramShape& shape) {
  return dispatcher.plan("histogram", Values{{"function", "bincount"},
                                             {"length", shape.length},
                                             {"bins", shape.bins},
                                             {"stride", shape.stride},
                                             {"dtype", dtype<T>}});
}
template Plan bincount_plan<std::int32_t>(Dispatcher&, const HistogramShape&);
template Plan bincount_plan<std::uint8_t>(Dispatcher&, const HistogramShape&);

Status histogram(Dispatcher& dispatcher, const float* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return histogram_plan<float>(dispatcher, shape, lo, hi).launch(launch_arguments(values, counts), stream);
}
Status histogram(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return histogram_plan<std::int32_t>(dispatcher, shape, lo, hi)
      .launch(launch_arguments(values, counts), stream);
}
Status histogram(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                 const HistogramShape& shape, double lo, double hi, void* stream) {
  return histogram_plan<std::uint8_t>(dispatcher, shape, lo, hi)
      .launch(launch_arguments(values, counts), stream);
}

Status bincount(Dispatcher& dispatcher, const std::int32_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream) {
  return bincount_plan<std::int32_t>(dispatcher, shape).launch(launch_arguments(values, counts), stream);
}
Status bincount(Dispatcher& dispatcher, const std::uint8_t* values, std::int64_t* counts,
                const HistogramShape& shape, void* stream) {
  return bincount_plan<std::uint8_t>(dispatcher, shape).launch(launch_arguments(values, counts), stream);
}

}  // namespace tunesmith
