#include <array>
#include <string_view>

#include "dispatch/arguments.h"
#include "tunesmith/reduce.h"

namespace tunesmith {
inline namespace TUNESMITH_ABI {
namespace {

template <typename T, typename Output>
Status run(Dispatcher& dispatcher, const T* x, Output* y, const ReduceShape& shape, ReduceFunction function,
           ReduceOrder order, void* stream, void* workspace) {
  return reduce_plan<T>(dispatcher, shape, function, order).launch(launch_arguments(x, y), stream, workspace);
}

template <typename T>
constexpr std::string_view dtype = std::is_same_v<T, float>          ? "f32"
                                   : std::is_same_v<T, double>       ? "f64"
                                   : std::is_same_v<T, std::int32_t> ? "i32"
                                                                     : "i64";

// In the order of ReduceFunction and ReduceOrder.
constexpr std::array<std::string_view, 4> functions = {"sum", "min", "max", "mean"};
constexpr std::array<std::string_view, 2> orders = {"deterministic", "atomic"};

}  // namespace

// Strides that say what 0 says, or that nothing depends on, are 0: one array is one problem.
template <ReduceElement T>
Plan reduce_plan(Dispatcher& dispatcher, const ReduceShape& shape, ReduceFunction function,
                 ReduceOrder order) {
  const std::int64_t stride = shape.stride == shape.inner || shape.length == 1 ? 0 : shape.stride;
  // Contiguous steps of more elements than there can be are refused by plan() for their sizes.
  const bool contiguous = shape.outer == 1 || static_cast<double>(shape.outer_stride) ==
                                                  static_cast<double>(shape.length) *
                                                      static_cast<double>(stride == 0 ? shape.inner : stride);
  const Field problem[] = {{"outer", shape.outer},
                           {"length", shape.length},
                           {"inner", shape.inner},
                           {"outer_stride", contiguous ? 0 : shape.outer_stride},
                           {"stride", stride},
                           {"function", functions.at(static_cast<std::size_t>(function))},
                           {"order", orders.at(static_cast<std::size_t>(order))},
                           {"dtype", dtype<T>}};
  return dispatcher.plan("reduce", problem);
}

template <ReduceElement T>
Status reduce_sum(Dispatcher& dispatcher, const T* x, ReduceSum<T>* y, const ReduceShape& shape,
                  ReduceOrder order, void* stream, void* workspace) {
  return run(dispatcher, x, y, shape, ReduceFunction::sum, order, stream, workspace);
}
template <ReduceElement T>
Status reduce_mean(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                   void* stream, void* workspace) {
  return run(dispatcher, x, y, shape, ReduceFunction::mean, ReduceOrder::deterministic, stream, workspace);
}
template <ReduceElement T>
Status reduce_min(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream,
                  void* workspace) {
  return run(dispatcher, x, y, shape, ReduceFunction::min, ReduceOrder::deterministic, stream, workspace);
}
template <ReduceElement T>
Status reduce_max(Dispatcher& dispatcher, const T* x, T* y, const ReduceShape& shape, void* stream,
                  void* workspace) {
  return run(dispatcher, x, y, shape, ReduceFunction::max, ReduceOrder::deterministic, stream, workspace);
}

#define TUNESMITH_REDUCE(T)                                                                                \
  template Status reduce_sum(Dispatcher&, const T*, ReduceSum<T>*, const ReduceShape&, ReduceOrder, void*, \
                             void*);                                                                       \
  template Status reduce_mean(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, void*, void*);    \
  template Status reduce_min(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&, void*,   \
                             void*);                                                                       \
  template Status reduce_max(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&, void*,   \
                             void*);                                                                       \
  template Plan reduce_plan<T>(Dispatcher&, const ReduceShape&, ReduceFunction, ReduceOrder);
TUNESMITH_REDUCE(float)
TUNESMITH_REDUCE(double)
TUNESMITH_REDUCE(std::int32_t)
TUNESMITH_REDUCE(std::int64_t)
#undef TUNESMITH_REDUCE

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
