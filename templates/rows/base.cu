// rows, the plain kernel: a block, or a team of its threads, per row, which walks it once for each reduction
// and once for the results.
// The expression is a program that is known at launch, so one kernel serves every problem of its dtype.

#include "rows/row.cuh"

// A word of the program: an operation in its lowest byte (the preamble's apply() has them; 0 is an input, 1 a
// number), and in the next three bytes the places of its operands among the words. An input's second byte is
// its number; from 6 on it is a reduction's, and the next bytes are its function and the place of its
// argument. A number's bits are the word behind it.
#define WORDS(name)                                                                                  \
  long long name##0, long long name##1, long long name##2, long long name##3, long long name##4,     \
      long long name##5, long long name##6, long long name##7, long long name##8, long long name##9, \
      long long name##10, long long name##11
#define WORD_VALUES(name) \
  name##0, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8, name##9, name##10, name##11
constexpr int most_words = 96;
constexpr int most_inputs = 6;
constexpr int most_reductions = 16;
constexpr int least_team = 4;

enum class Function { sum, mean, prod, max, min };

__device__ __forceinline__ Compute none_of(Function function) {
  switch (function) {
    case Function::prod:
      return 1;
    case Function::max:
      return -rows::infinity<Compute>();
    case Function::min:
      return rows::infinity<Compute>();
    default:
      return 0;
  }
}
__device__ __forceinline__ Compute combined(Function function, Compute x, Compute y) {
  switch (function) {
    case Function::prod:
      return x * y;
    case Function::max:
      return rows::max(x, y);
    case Function::min:
      return rows::min(x, y);
    default:
      return x + y;
  }
}

// Where a row's elements are; `moves` has a bit for each array that has an element for each column.
struct Place {
  const T* from[most_inputs];
  int moves;
};

// Computes the words up to `last`, included; without a column, -1, nothing is read that has one for each.
__device__ __forceinline__ void evaluate(const long long (&program)[most_words], int last, const Place& place,
                                         long long column, const Compute* reduced,
                                         Compute (&values)[most_words]) {
  for (int w = 0; w <= last; ++w) {
    const long long word = program[w];
    const int operation = static_cast<int>(word & 255);
    const int i = static_cast<int>(word >> 8 & 255), j = static_cast<int>(word >> 16 & 255),
              k = static_cast<int>(word >> 24 & 255);
    if (operation == 0) {
      if (i >= most_inputs) {
        values[w] = reduced[i - most_inputs];
      } else if ((place.moves >> i & 1) == 0) {
        values[w] = to_float(*place.from[i]);
      } else {
        values[w] = column < 0 ? Compute(0) : Compute(to_float(place.from[i][column]));
      }
    } else if (operation == 1) {
      values[w + 1] = static_cast<Compute>(__longlong_as_double(program[w + 1]));
      ++w;
    } else {
      values[w] = apply(operation, values[i], values[j], values[k]);
    }
  }
}

// `team`: threads per row, a power of two from least_team to BLOCK; `results`: in each of four bytes the
// place of a result's word, 255 for none; `wide`: which have a value for each column.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ENTRY(rows_base)(ROWS_PARAMETERS, int team, int moves, int words, long long results, int wide, WORDS(a),
                     WORDS(b), WORDS(c), WORDS(d), WORDS(e), WORDS(f), WORDS(g), WORDS(h)) {
  __shared__ long long program[most_words];
  __shared__ Compute shared[BLOCK];
  __shared__ Compute reduced_of[BLOCK / least_team][most_reductions];
  ROWS_ARRAYS;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % team;
  const long long number_in_block = thread / team, rows_at_once = BLOCK / team;
  if (thread == 0) {
    const long long given[most_words] = {WORD_VALUES(a), WORD_VALUES(b), WORD_VALUES(c), WORD_VALUES(d),
                                         WORD_VALUES(e), WORD_VALUES(f), WORD_VALUES(g), WORD_VALUES(h)};
#pragma unroll
    for (int w = 0; w < most_words; ++w) program[w] = given[w];
  }
  __syncthreads();
  Compute* const reduced = reduced_of[number_in_block];
  Compute values[most_words];
  // A row's first reduction writes its result behind barriers that no thread passes in the row before.
  for (long long first = blockIdx.x * rows_at_once; first < rows; first += gridDim.x * rows_at_once) {
    const bool is_there = first + number_in_block < rows;
    const long long row = is_there ? first + number_in_block : rows - 1;
    Place place;
    place.moves = moves;
    for (int k = 0; k < most_inputs; ++k) place.from[k] = inputs[k] + row * strides[k];
    for (int w = 0; w < words; ++w) {
      const int operation = static_cast<int>(program[w] & 255),
                number = static_cast<int>(program[w] >> 8 & 255);
      if (operation == 1) ++w;
      if (operation != 0 || number < most_inputs) continue;
      const Function function = static_cast<Function>(program[w] >> 16 & 255);
      const int argument = static_cast<int>(program[w] >> 24 & 255);
      // 32 terms are added before they are added to what is before them: fewer roundings are behind a sum.
      Compute far = none_of(function), near = far;
      int count = 0;
      for (long long column = lane; column < columns; column += team) {
        evaluate(program, argument, place, column, reduced, values);
        near = combined(function, near, values[argument]);
        if (++count % 32 == 0) {
          far = combined(function, far, near);
          near = none_of(function);
        }
      }
      shared[thread] = combined(function, far, near);
      __syncthreads();
      for (int half = team / 2; half > 0; half /= 2) {
        if (lane < half) shared[thread] = combined(function, shared[thread], shared[thread + half]);
        __syncthreads();
      }
      if (lane == 0)
        reduced[number - most_inputs] =
            function == Function::mean ? shared[thread] / static_cast<Compute>(columns) : shared[thread];
      __syncthreads();
    }
    if (!is_there) continue;
    for (long long column = lane; column < columns && wide != 0; column += team) {
      evaluate(program, words - 1, place, column, reduced, values);
      for (int k = 0; k < 4; ++k)
        if ((wide >> k & 1) != 0)
          outputs[k][row * columns + column] =
              from_float<T>(values[static_cast<int>(results >> 8 * k & 255)]);
    }
    if (lane == 0) {
      evaluate(program, words - 1, place, -1, reduced, values);
      for (int k = 0; k < 4; ++k) {
        const int at = static_cast<int>(results >> 8 * k & 255);
        if ((wide >> k & 1) == 0 && at != 255) outputs[k][row] = from_float<T>(values[at]);
      }
    }
  }
}
