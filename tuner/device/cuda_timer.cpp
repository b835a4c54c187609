// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda_timer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "tuner/device/cuda_check.h"
#include "tuner/search/policy.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

/// A chain is measured behind this many launches (a long chain behind fewer), because the first launches have
/// no predecessor to overlap with.
constexpr int longest_beginning = 10;

/// Between two uses of a buffer, memory of this many times the size of the second-level cache is read.
constexpr std::int64_t evicted_caches = 2;
/// Arrays of this many times that size find almost none of their own data in the cache again.
constexpr std::int64_t hardly_cached = 4;
/// Below this size a spacer that reads makes the cache no colder than a spacer that does nothing.
constexpr std::int64_t least_evicted_bytes = 64 << 10;

/// The resolution of events (CUDA's documentation of cudaEventElapsedTime).
constexpr double event_resolution_us = 0.5;

/// A launch that takes longer warms itself up and varies little, so few samples do.
constexpr double slow_us = 1000;
constexpr int slow_samples = 3;

/// A launch that takes longer is a sample by itself: events add only a 30,000th. Several samples would take a
/// search's whole budget.
constexpr double lasting_us = 100'000;

/// On an H200 that nobody else used, a launch of 2 us was once seen to take 3.9 ms.
constexpr double longest_disturbance_us = 50'000;

/// Samples are taken at most this often, until nothing disturbs them.
constexpr int most_attempts = 3;

/// On an H200 the counter moves every 100 ms, and reading it takes up to 18 ms, in which the GPU must not
/// idle.
constexpr auto energy_warm_up = std::chrono::milliseconds(200);
constexpr auto energy_window = std::chrono::milliseconds(500);
constexpr auto longest_energy_window = std::chrono::seconds(4);
constexpr double energy_turn_us = 12'000;  ///< length of replays between two looks at the counter
constexpr double energy_graph_us = 1000;
constexpr int most_energy_launches = 1000;
constexpr std::size_t energy_turns_ahead = 2;
constexpr std::size_t enough_energy_turns = 40;  ///< then a turn is 2.5 % of the window

std::string bus_id(int ordinal) {
  std::array<char, 32> id{};
  check(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), ordinal), "read a device's bus id");
  return id.data();
}

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

CudaTimer::CudaTimer(const DeviceFacts& facts, int ordinal, const Kernels& kernels)
    : facts_(facts), kernels_(kernels), nvml_(bus_id(ordinal)) {
  check(cudaStreamCreate(&stream_), "create a stream");
}

// After a sticky error each of these calls fails, and everything is released when the process ends.
CudaTimer::~CudaTimer() {
  for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  static_cast<void>(cudaFree(evicted_.memory));
  static_cast<void>(cudaFree(copies_.memory));
}

void CudaTimer::settled() {
  if (const auto state = nvml_.state()) settled_mhz_ = std::max(settled_mhz_, state->clock_mhz);
}

TimeSamples CudaTimer::time(Executable& executable, const Buffers& buffers, const Timing& timing) {
  const double limit =
      timing.give_up_above_us > 0 ? timing.give_up_above_us : std::numeric_limits<double>::infinity();
  const Pointers given = pointers_of(buffers);
  const bool cold = timing.conditions.caches == Caches::cold;
  const auto one_launch = [&] {
    return rough_us(executable, given, cold ? evicted_caches * facts_.l2_bytes : 0);
  };
  double rough = one_launch();
  const double hopeless = 2 * limit + 20;
  // Other work may have been in the way, but hardly for so long.
  if (rough > hopeless && rough < std::max(10 * hopeless, longest_disturbance_us))
    rough = std::min(rough, one_launch());
  if (rough > hopeless) return {.samples_us = {rough}};
  if (rough > lasting_us) return lasting(rough);
  const bool slow = rough > slow_us;
  const int count = slow ? std::min(slow_samples, timing.samples) : timing.samples;
  int repeats = timing.repeats > 0 ? timing.repeats : repeats_for(rough - 3, timing.sample_target_us);

  Turns turns{.copies = {given}};
  if (cold) turns = cold_turns(buffers, repeats);
  const int copies = static_cast<int>(turns.copies.size());
  // Whole turns, so that each replay starts with the copy that was used longest ago.
  repeats = repeats / copies * copies;
  const Step chained = [&](int) { launch(executable, given); };
  const Step apart = [&](int turn) {
    space(turns.evicted_bytes, turn);
    launch(executable, turns.copies[static_cast<std::size_t>(turn % copies)]);
  };
  const bool chain = timing.conditions.launches == Launches::chained && !cold;
  const int begins = std::min(longest_beginning, repeats);
  const Graph more = chain ? capture(begins + repeats, chained) : capture(repeats, apart);
  const Graph beginning = chain ? capture(begins, chained) : nullptr;
  const Difference graphs{more, chain ? beginning : spacers(turns.evicted_bytes, repeats), repeats};

  if (!slow) {  // the first replay does not find instructions and constants in their caches
    replay(graphs.more);
    replay(graphs.less);
  }
  TimeSamples timed;
  const int at_once = std::isfinite(limit) ? 1 : count;
  timed.samples_us = undisturbed(graphs, at_once, timed);
  if (count > at_once && timed.samples_us.front() <= limit) {
    const std::vector<double> others = undisturbed(graphs, count - at_once, timed);
    timed.samples_us.insert(timed.samples_us.end(), others.begin(), others.end());
  }
  return timed;
}

TimeSamples CudaTimer::lasting(double us) {
  TimeSamples timed{.samples_us = {us}};
  if (const auto state = nvml_.state()) {
    timed.clock_mhz = state->clock_mhz;
    timed.throttled = disturbance(*state, settled_mhz_).words;
  }
  return timed;
}

// Makes at most as many copies as there are launches: if the copies do not fill the cache, the spacers read
// the rest.
CudaTimer::Turns CudaTimer::cold_turns(const Buffers& buffers, int repeats) {
  std::int64_t bytes = aligned(buffers.workspace.bytes);
  for (const Buffer& buffer : buffers.arguments) bytes += aligned(buffer.bytes);
  Turns turns{.copies = {pointers_of(buffers)}};
  if (bytes >= hardly_cached * facts_.l2_bytes) return turns;

  const std::int64_t wanted = evicted_caches * facts_.l2_bytes;
  const std::int64_t copies =
      std::min<std::int64_t>(repeats, 1 + (wanted + bytes - 1) / std::max<std::int64_t>(bytes, 1));
  char* free = at_least(copies_, (copies - 1) * bytes);
  const auto copy = [&](const Buffer& buffer) -> void* {
    if (buffer.bytes == 0) return buffer.memory;
    void* const place = free;
    free += aligned(buffer.bytes);
    check(cudaMemcpyAsync(place, buffer.memory, static_cast<std::size_t>(buffer.bytes),
                          cudaMemcpyDeviceToDevice, stream_),
          "copy a buffer");
    return place;
  };
  while (static_cast<std::int64_t>(turns.copies.size()) < copies) {
    Pointers& pointers = turns.copies.emplace_back();
    for (const Buffer& buffer : buffers.arguments) pointers.arguments.push_back(copy(buffer));
    pointers.workspace = copy(buffers.workspace);
  }
  turns.evicted_bytes = std::max<std::int64_t>(0, wanted / copies - bytes) / 4096 * 4096;
  if (turns.evicted_bytes < least_evicted_bytes) turns.evicted_bytes = 0;
  return turns;
}

CudaTimer::Pointers CudaTimer::pointers_of(const Buffers& buffers) {
  Pointers pointers;
  for (const Buffer& buffer : buffers.arguments) pointers.arguments.push_back(buffer.memory);
  pointers.workspace = buffers.workspace.memory;
  return pointers;
}

char* CudaTimer::at_least(Arena& arena, std::int64_t bytes) {
  if (arena.bytes < bytes) {
    check(cudaFree(std::exchange(arena.memory, nullptr)), "release memory");
    arena.bytes = 0;
    check(cudaMalloc(&arena.memory, static_cast<std::size_t>(bytes)),
          "allocate " + std::to_string(bytes) + " bytes on " + facts_.name + " to time with cold caches");
    check(cudaMemset(arena.memory, 0, static_cast<std::size_t>(bytes)), "write memory");
    arena.bytes = bytes;
  }
  return static_cast<char*>(arena.memory);
}

void CudaTimer::launch(Executable& executable, const Pointers& pointers) {
  const int code = executable.launch(pointers.arguments.data(), pointers.workspace, stream_);
  if (code != 0) throw Error("The launch failed: " + executable.describe(code) + ".");
}

void CudaTimer::space(std::int64_t evicted_bytes, int turn) {
  const char* memory = nullptr;
  if (evicted_bytes > 0) {
    const std::int64_t all = evicted_caches * facts_.l2_bytes;
    memory = at_least(evicted_, all) + turn % (all / evicted_bytes) * evicted_bytes;
  }
  space(kernels_, facts_.multiprocessors, memory, evicted_bytes, stream_);
}

void CudaTimer::space(const Kernels& kernels, int multiprocessors, const void* memory, std::int64_t bytes,
                      cudaStream_t stream) {
  if (bytes == 0) {
    check(cudaLaunchKernel(static_cast<const void*>(kernels.spacer), dim3(1), dim3(32), nullptr, 0, stream),
          "launch a kernel of the tuner");
    return;
  }
  std::array<void*, 2> values = {&memory, &bytes};
  constexpr std::int64_t block = 256;
  const std::int64_t blocks = std::min<std::int64_t>(std::int64_t{8} * multiprocessors, bytes / 16 / block);
  check(cudaLaunchKernel(static_cast<const void*>(kernels.evict), dim3(static_cast<unsigned>(blocks)),
                         dim3(block), values.data(), 0, stream),
        "launch a kernel of the tuner");
}

// One launch between events includes about 3 us of the events themselves: good enough to choose the number of
// repeats and to give up hopeless variants.
double CudaTimer::rough_us(Executable& executable, const Pointers& pointers, std::int64_t evicted_bytes) {
  space(evicted_bytes, 0);
  mark(0);
  launch(executable, pointers);
  mark(1);
  wait(1);
  return elapsed_us(0, 1);
}

CudaTimer::Graph CudaTimer::capture(int repeats, const Step& step) {
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin a graph");
  cudaGraph_t captured = nullptr;
  try {
    for (int turn = 0; turn < repeats; ++turn) step(turn);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream_, &captured));
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream_, &captured), "end a graph");
  cudaGraphExec_t instantiated = nullptr;
  const cudaError_t code = cudaGraphInstantiate(&instantiated, captured, 0);
  static_cast<void>(cudaGraphDestroy(captured));
  check(code, "instantiate a graph");
  Graph graph(instantiated);
  check(cudaGraphUpload(instantiated, stream_), "upload a graph");
  return graph;
}

const CudaTimer::Graph& CudaTimer::spacers(std::int64_t evicted_bytes, int repeats) {
  const std::pair key(evicted_bytes, repeats);
  const auto found = spacers_.find(key);
  if (found != spacers_.end()) return found->second;
  return spacers_.emplace(key, capture(repeats, [&](int turn) { space(evicted_bytes, turn); })).first->second;
}

void CudaTimer::replay(const Graph& graph) { check(cudaGraphLaunch(graph.get(), stream_), "launch a graph"); }

std::vector<double> CudaTimer::undisturbed(const Difference& graphs, int samples, TimeSamples& timed) {
  for (int attempt = 1;; ++attempt) {
    std::optional<Nvml::State> state;
    std::vector<double> taken = sample(graphs, samples, state);
    if (!state) return taken;
    const Disturbance found = disturbance(*state, settled_mhz_);
    if (found.passes && attempt < most_attempts) continue;
    if (timed.clock_mhz == 0 || state->clock_mhz < timed.clock_mhz) timed.clock_mhz = state->clock_mhz;
    if (timed.throttled.empty()) timed.throttled = found.words;
    return taken;
  }
}

// All samples are queued before the first is waited for, so that the GPU is never idle in between; its state
// is read meanwhile.
std::vector<double> CudaTimer::sample(const Difference& graphs, int samples,
                                      std::optional<Nvml::State>& state) {
  std::size_t event = 0;
  mark(event++);
  for (int i = 0; i < samples; ++i) {
    for (const Graph* graph : {&graphs.more, &graphs.less}) {
      replay(*graph);
      mark(event++);
    }
  }
  state = nvml_.state();
  wait(event - 1);
  std::vector<double> result;
  for (std::size_t i = 0; i + 2 < event; i += 2) {
    const double difference = elapsed_us(i, i + 1) - elapsed_us(i + 1, i + 2);
    // Noise may make it negative.
    result.push_back(std::max(difference, event_resolution_us) / graphs.launches);
  }
  return result;
}

std::vector<std::int32_t> CudaTimer::processes_on(int ordinal) { return Nvml(bus_id(ordinal)).processes(); }

// The counter moves in steps, so the window is from one of its steps to another, each seen within one turn.
std::optional<double> CudaTimer::energy_uj(Executable& executable, const Buffers& buffers) {
  if (!nvml_.energy_mj()) return std::nullopt;
  const Pointers pointers = pointers_of(buffers);
  const double launch_us = std::max(rough_us(executable, pointers, 0) - 3, 0.5);
  const int launches = repeats_for(launch_us, energy_graph_us, most_energy_launches);
  const int replays = repeats_for(launch_us * launches, energy_turn_us);
  const Graph graph = capture(launches, [&](int) { launch(executable, pointers); });
  std::size_t turns = 0;
  const auto turn = [&] {
    for (int i = 0; i < replays; ++i) replay(graph);
    mark(turns % (energy_turns_ahead + 1));
    if (++turns > energy_turns_ahead) wait(turns % (energy_turns_ahead + 1));
  };
  struct Reading {
    Clock::time_point at;
    double millijoules;
    std::size_t turns;
  };
  const auto step = [&]() -> std::optional<Reading> {
    const Clock::time_point begin = Clock::now();
    const std::optional<double> before = nvml_.energy_mj();
    while (before && Clock::now() - begin < longest_energy_window) {
      turn();
      const auto now = nvml_.energy_mj();
      if (now && *now != *before) return Reading{Clock::now(), *now, turns};
    }
    return std::nullopt;
  };
  for (const Clock::time_point begin = Clock::now(); Clock::now() - begin < energy_warm_up;) turn();
  const auto begin = step();
  std::optional<Reading> end;
  const auto enough = [&] {
    const auto elapsed = end->at - begin->at;
    return elapsed >= longest_energy_window ||
           (elapsed >= energy_window && end->turns - begin->turns >= enough_energy_turns);
  };
  do {
    end = step();
  } while (begin && end && !enough());
  check(cudaStreamSynchronize(stream_), "finish the work on " + facts_.name);
  if (!begin || !end) return std::nullopt;
  return 1000 * (end->millijoules - begin->millijoules) /
         (static_cast<double>(end->turns - begin->turns) * replays * launches);
}

void CudaTimer::mark(std::size_t event) {
  while (events_.size() <= event) {
    cudaEvent_t created = nullptr;
    check(cudaEventCreate(&created), "create an event");
    events_.push_back(created);
  }
  check(cudaEventRecord(events_[event], stream_), "record an event");
}

void CudaTimer::wait(std::size_t event) const {
  check(cudaEventSynchronize(events_[event]), "finish the work on " + facts_.name);
}

double CudaTimer::elapsed_us(std::size_t from, std::size_t to) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, events_[from], events_[to]), "read the time between events");
  return 1000.0 * static_cast<double>(milliseconds);
}

}  // namespace tunesmith
