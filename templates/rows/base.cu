// SPDX-License-Identifier: Apache-2.0
// rows/base, the plain kernel: a team of threads per row, up to a block, walks the row once for each pass of
// reductions and once for the results. The expression is a program that is known at launch, so one kernel
// serves every problem of its dtype. A thread takes several elements through each of the program's
// instructions, which share the cost of reading it.

#include "common/shared.cuh"
#include "common/vector.cuh"
#include "rows/row.cuh"

// An instruction has, from its lowest bit on: 8 bits of operation (the preamble's apply() has them; 0 is a
// reduction, 1 a result), three operands of 10 bits each, 8 bits of destination, and a bit for each of the
// sweeps that need it; a row's own value has the bit of the sweep before which it is computed. An operand has
// three bits for its kind, and 7 for its number in that kind. Operands behind the first one may be the value
// before only if the first one is. The destination is a place of the row's values or a slot of the elements'
// values, or none_there if only the next instruction needs the value; or it is the number of a reduction or a
// result.
enum class Operand { before, input, row_input, place, slot, number, none };
constexpr int none_there = 255;
constexpr int first_operand = 8, operand_bits = 10, first_destination = 38, first_sweep = 46;
constexpr int most_words = 108;
struct Program {
  long long words[most_words];
};
constexpr int most_inputs = 6;
constexpr int most_outputs = 4;
constexpr int elements = sizeof(Compute) == 8 ? 4 : 8;  // of a thread at once
constexpr int most_near = 16;                           // steps whose terms are added before all else

enum class Function { sum, mean, prod, max, min };

template <Function FUNCTION>
__device__ __forceinline__ Compute none_of() {
  return FUNCTION == Function::prod  ? Compute(1)
         : FUNCTION == Function::max ? -rows::infinity<Compute>()
         : FUNCTION == Function::min ? rows::infinity<Compute>()
                                     : Compute(0);
}
template <Function FUNCTION>
__device__ __forceinline__ Compute combined(Compute x, Compute y) {
  return FUNCTION == Function::prod  ? x * y
         : FUNCTION == Function::max ? rows::max(x, y)
         : FUNCTION == Function::min ? rows::min(x, y)
                                     : x + y;
}
__device__ __forceinline__ Compute none_of(Function function) {
  switch (function) {
    case Function::prod:
      return none_of<Function::prod>();
    case Function::max:
      return none_of<Function::max>();
    case Function::min:
      return none_of<Function::min>();
    default:
      return none_of<Function::sum>();
  }
}
__device__ __forceinline__ Compute combined(Function function, Compute x, Compute y) {
  switch (function) {
    case Function::prod:
      return combined<Function::prod>(x, y);
    case Function::max:
      return combined<Function::max>(x, y);
    case Function::min:
      return combined<Function::min>(x, y);
    default:
      return combined<Function::sum>(x, y);
  }
}
template <Function FUNCTION, int N>
__device__ __forceinline__ Compute combined_all(Compute (&term)[N]) {
#pragma unroll
  for (int by = 1; by < N; by *= 2) {
#pragma unroll
    for (int e = 0; e + by < N; e += 2 * by) term[e] = combined<FUNCTION>(term[e], term[e + by]);
  }
  return term[0];
}

// The data that all threads of a block share.
struct Block {
  long long program[most_words];
  const T* input[most_inputs];
  T* output[most_outputs];
  long long stride[most_inputs];
};

// A thread's own values: first the places of the row's values, which begin with two for each reduction, then
// the slots of the elements' values.
struct Values {
  Compute* first;
  int threads, places;
  __device__ __forceinline__ Compute& place(int n) const { return first[n * threads]; }
  __device__ __forceinline__ Compute& slot(int n, int e) const {
    return first[(places + n * elements + e) * threads];
  }
};

// N elements of a row: vectors of neighbours, which are `step` apart. For a row's own values N is 1.
template <int N>
struct Elements {
  static constexpr int vector = N == 1 ? 1 : 16 / sizeof(T) < N ? 16 / sizeof(T) : N;
  using Part = Vector<T, vector>;
  static constexpr int parts = N / vector;

  long long row, column, output;  // of the first: where it is in a row and among a result's elements
  int step;
  int left;     // of the row from the first on
  bool writes;  // this thread writes the row's results
  bool all;     // no thread of the block has elements behind its row's end

  __device__ __forceinline__ bool inside(int e) const { return e / vector * step + e % vector < left; }
  static __device__ __forceinline__ bool is_aligned(const void* at) {
    return vector == 1 || reinterpret_cast<unsigned long long>(at) % sizeof(Part) == 0;
  }

  // Loads the elements; those behind the row's end are 0.
  __device__ __forceinline__ void load(const T* from, Compute (&value)[N]) const {
    const bool aligned = is_aligned(from);
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      Part part = {};
      if (aligned && p * step + vector <= left) {
        part = load_vector<vector>(from + p * step);
      } else {
#pragma unroll
        for (int k = 0; k < vector; ++k)
          if (p * step + k < left) part.element[k] = from[p * step + k];
      }
#pragma unroll
      for (int k = 0; k < vector; ++k) value[p * vector + k] = to_float(part.element[k]);
    }
  }

  __device__ __forceinline__ void store(T* to, const Compute (&value)[N]) const {
    const bool aligned = is_aligned(to);
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      Part part;
#pragma unroll
      for (int k = 0; k < vector; ++k) part.element[k] = from_float<T>(value[p * vector + k]);
      if constexpr (vector > 1) {
        if (aligned && p * step + vector <= left) {
          store_vector_streaming<vector>(to + p * step, part);
          continue;
        }
      }
#pragma unroll
      for (int k = 0; k < vector; ++k)
        if (p * step + k < left) to[p * step + k] = part.element[k];
    }
  }
};

template <int N>
__device__ __forceinline__ void fetch(const Block& block, const Values& values, const Elements<N>& at,
                                      int operand, const Compute (&before)[N], Compute (&value)[N]) {
  const int n = operand >> 3;
  Compute same = 0;
  switch (static_cast<Operand>(operand & 7)) {
    case Operand::before:
#pragma unroll
      for (int e = 0; e < N; ++e) value[e] = before[e];
      return;
    case Operand::input:
      at.load(block.input[n] + at.row * block.stride[n] + at.column, value);
      return;
    case Operand::slot:
#pragma unroll
      for (int e = 0; e < N; ++e) value[e] = values.slot(n, e);
      return;
    case Operand::row_input:
      same = to_float(block.input[n][at.row * block.stride[n]]);
      break;
    case Operand::place:
      same = values.place(n);
      break;
    default:
      same = elementwise::Layout<Compute>::number(
          static_cast<typename elementwise::Layout<Compute>::Bits>(block.program[n]));
  }
#pragma unroll
  for (int e = 0; e < N; ++e) value[e] = same;
}

// Adds N terms to a reduction's total; `folds`: the total has the terms of most_near steps.
template <Function FUNCTION, int N>
__device__ __forceinline__ void reduce(const Values& values, int place, Compute (&term)[N], bool folds) {
  Compute near = combined<FUNCTION>(values.place(place), combined_all<FUNCTION>(term));
  if (folds) {
    values.place(place + 1) = combined<FUNCTION>(values.place(place + 1), near);
    near = none_of<FUNCTION>();
  }
  values.place(place) = near;
}

// Takes N elements through the instructions from `from` to `to` that the sweep needs.
template <int N>
__device__ __forceinline__ void run(const Block& block, const Values& values, const Elements<N>& at, int from,
                                    int to, int sweep, long long functions, bool folds) {
  Compute result[N] = {};
  for (int w = from; w < to; ++w) {
    const long long word = block.program[w];
    if ((word >> (first_sweep + sweep) & 1) == 0) continue;
    const int operation = static_cast<int>(word & 255),
              destination = static_cast<int>(word >> first_destination & 255);
    const auto operand = [word](int n) {
      return static_cast<int>(word >> (first_operand + n * operand_bits) & ((1 << operand_bits) - 1));
    };
    const auto is = [](int an_operand, Operand kind) { return (an_operand & 7) == static_cast<int>(kind); };
    if (!is(operand(0), Operand::before)) fetch(block, values, at, operand(0), result, result);
    if (operation == 0) {
      const Function function = static_cast<Function>(functions >> 4 * destination & 15);
      Compute term[N];
#pragma unroll
      for (int e = 0; e < N; ++e) term[e] = result[e];
      if (!at.all) {
        const Compute none = none_of(function);
#pragma unroll
        for (int e = 0; e < N; ++e)
          if (!at.inside(e)) term[e] = none;
      }
      switch (function) {
        case Function::prod:
          reduce<Function::prod>(values, 2 * destination, term, folds);
          break;
        case Function::max:
          reduce<Function::max>(values, 2 * destination, term, folds);
          break;
        case Function::min:
          reduce<Function::min>(values, 2 * destination, term, folds);
          break;
        default:
          reduce<Function::sum>(values, 2 * destination, term, folds);
      }
      continue;
    }
    if (operation == 1) {
      if (at.writes) at.store(block.output[destination] + at.output, result);
      continue;
    }
    Compute y[N] = {};
    if (!is(operand(1), Operand::none)) fetch(block, values, at, operand(1), result, y);
    if (N == 1 || !apply_frequent(operation, result, y)) {
      Compute z[N] = {};
      if (!is(operand(2), Operand::none)) fetch(block, values, at, operand(2), result, z);
#pragma unroll
      for (int e = 0; e < N; ++e) result[e] = apply(operation, result[e], y[e], z[e]);
    }
    if (destination == none_there) continue;
    if (N == 1) {
      values.place(destination) = result[0];
    } else {
#pragma unroll
      for (int e = 0; e < N; ++e) values.slot(destination, e) = result[e];
    }
  }
}

// `team`: threads per row, a power of two up to 32 or whole warps. The program's words are numbers up to
// `row_words`, instructions of a row's own values up to `element_words`, and then those of elements.
// `functions` and `sweeps_of` have 4 bits for each reduction, in order: its function, and the sweep that ends
// with it. Behind the last sweep for reductions there is one for results, which walks the row if a result has
// a value for each of its elements.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rows_base)(ROWS_PARAMETERS, int team, int row_words, int element_words, int words, int reductions,
                     long long functions, long long sweeps_of, int sweeps, int walks, int places,
                     const __grid_constant__ Program program) {
  DYNAMIC_SHARED(Compute, values_of_all);
  __shared__ Block block;
  __shared__ Compute totals[2][BLOCK / 32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int w = thread; w < words; w += threads) block.program[w] = program.words[w];
  if (thread == 0) {
    ROWS_ARRAYS;
#pragma unroll
    for (int k = 0; k < most_inputs; ++k) {
      block.input[k] = inputs[k];
      block.stride[k] = strides[k];
    }
#pragma unroll
    for (int k = 0; k < most_outputs; ++k) block.output[k] = outputs[k];
  }
  __syncthreads();
  using Some = Elements<elements>;
  const int number_in_block = thread / team, lane = thread % team, rows_at_once = threads / team;
  const int warps = team / 32;
  int span = 1;  // lanes that have the totals of a team's warps
  while (span < warps) span *= 2;
  const Values values = {values_of_all + thread, threads, places};
  const int step = team * Some::vector;
  int turn = 0;  // of the two places for warps' totals; no warp is two turns behind another
  for (long long first = static_cast<long long>(blockIdx.x) * rows_at_once; first < rows;
       first += static_cast<long long>(gridDim.x) * rows_at_once) {
    const long long wanted = first + number_in_block, row = wanted < rows ? wanted : rows - 1;
    for (int r = 0; r < reductions; ++r)
      values.place(2 * r) = values.place(2 * r + 1) = none_of(static_cast<Function>(functions >> 4 * r & 15));
    int r = 0;
    for (int sweep = 0; sweep <= sweeps; ++sweep) {
      const Elements<1> whole = {row, 0, row, 0, 1, lane == 0 && wanted < rows, true};
      run<1>(block, values, whole, row_words, element_words, sweep, functions, false);
      int count = 0;
      for (long long start = 0; start < columns && sweep < walks; start += Some::parts * step) {
        const long long column = start + lane * Some::vector, left = columns - column;
        const Some some = {row,
                           column,
                           row * columns + column,
                           step,
                           left < 1 << 30 ? static_cast<int>(left) : 1 << 30,
                           wanted < rows,
                           start + Some::parts * step <= columns};
        run<elements>(block, values, some, element_words, words, sweep, functions, ++count % most_near == 0);
      }
      for (; r < reductions && (sweeps_of >> 4 * r & 15) == sweep; ++r) {
        const Function function = static_cast<Function>(functions >> 4 * r & 15);
        Compute total = combined(function, values.place(2 * r + 1), values.place(2 * r));
        for (int by = 1; by < team && by < 32; by *= 2)
          total = combined(function, total, __shfl_xor_sync(0xffffffffu, total, by));
        if (warps > 1) {
          if (thread % 32 == 0) totals[turn][thread / 32] = total;
          __syncthreads();
          const int its = thread % span;
          total = its < warps ? totals[turn][number_in_block * warps + its] : none_of(function);
          for (int by = 1; by < span; by *= 2)
            total = combined(function, total, __shfl_xor_sync(0xffffffffu, total, by));
          turn = 1 - turn;
        }
        values.place(2 * r) = function == Function::mean ? total / static_cast<Compute>(columns) : total;
      }
    }
  }
}
