// SPDX-License-Identifier: Apache-2.0
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
constexpr std::array<std::string_view, 18> functions = {
    "sum", "min", "max",           "mean", "argmin", "argmax", "var",     "std",     "prod",
    "any", "all", "count_nonzero", "ptp",  "norm1",  "norm2",  "norminf", "min_max", "mean_var"};
constexpr std::array<std::string_view, 2> orders = {"deterministic", "atomic"};

}  // namespace

template <ReduceElement T>
Plan reduce_plan(Dispatcher& dispatcher, const ReduceShape& shape, ReduceFunction function, ReduceOrder order,
                 const ReduceOptions& options) {
  const Field problem[] = {{"outer", shape.outer},
                           {"length", shape.length},
                           {"inner", shape.inner},
                           {"outer_stride", shape.outer_stride},
                           {"stride", shape.stride},
                           {"function", functions.at(static_cast<std::size_t>(function))},
                           {"order", orders.at(static_cast<std::size_t>(order))},
                           {"dtype", dtype<T>},
                           {"ddof", options.ddof},
                           {"sum_dtype", options.sums_in_double ? "f64" : "same"}};
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

template <ReduceElement T>
Status reduce(Dispatcher& dispatcher, ReduceFunction function, const T* x, void* y, const ReduceShape& shape,
              const ReduceOptions& options, void* stream, void* workspace) {
  return reduce_plan<T>(dispatcher, shape, function, ReduceOrder::deterministic, options)
      .launch(launch_arguments(x, y), stream, workspace);
}
template <ReduceElement T>
Status reduce_argmin(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream, void* workspace) {
  return reduce(dispatcher, ReduceFunction::argmin, x, y, shape, {}, stream, workspace);
}
template <ReduceElement T>
Status reduce_argmax(Dispatcher& dispatcher, const T* x, std::int64_t* y, const ReduceShape& shape,
                     void* stream, void* workspace) {
  return reduce(dispatcher, ReduceFunction::argmax, x, y, shape, {}, stream, workspace);
}
template <ReduceElement T>
Status reduce_var(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof, void* stream, void* workspace) {
  return reduce(dispatcher, ReduceFunction::var, x, y, shape, {.ddof = ddof}, stream, workspace);
}
template <ReduceElement T>
Status reduce_std(Dispatcher& dispatcher, const T* x, ReduceMean<T>* y, const ReduceShape& shape,
                  std::int64_t ddof, void* stream, void* workspace) {
  return reduce(dispatcher, ReduceFunction::std, x, y, shape, {.ddof = ddof}, stream, workspace);
}

#define TUNESMITH_REDUCE(T)                                                                                  \
  template Status reduce_sum(Dispatcher&, const T*, ReduceSum<T>*, const ReduceShape&, ReduceOrder, void*,   \
                             void*);                                                                         \
  template Status reduce_mean(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, void*, void*);      \
  template Status reduce_min(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&, void*,     \
                             void*);                                                                         \
  template Status reduce_max(Dispatcher&, const T*, std::type_identity_t<T>*, const ReduceShape&, void*,     \
                             void*);                                                                         \
  template Status reduce_argmin(Dispatcher&, const T*, std::int64_t*, const ReduceShape&, void*, void*);     \
  template Status reduce_argmax(Dispatcher&, const T*, std::int64_t*, const ReduceShape&, void*, void*);     \
  template Status reduce_var(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, std::int64_t, void*, \
                             void*);                                                                         \
  template Status reduce_std(Dispatcher&, const T*, ReduceMean<T>*, const ReduceShape&, std::int64_t, void*, \
                             void*);                                                                         \
  template Status reduce(Dispatcher&, ReduceFunction, const T*, void*, const ReduceShape&,                   \
                         const ReduceOptions&, void*, void*);                                                \
  template Plan reduce_plan<T>(Dispatcher&, const ReduceShape&, ReduceFunction, ReduceOrder,                 \
                               const ReduceOptions&);
TUNESMITH_REDUCE(float)
TUNESMITH_REDUCE(double)
TUNESMITH_REDUCE(std::int32_t)
TUNESMITH_REDUCE(std::int64_t)
#undef TUNESMITH_REDUCE

}  // namespace TUNESMITH_ABI
}  // namespace tunesmith
