#include "tuner/check_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <tuple>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/random.h"
#include "tuner/kernel_reference.h"

namespace tunesmith {

void in_chunks(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& work) {
  constexpr std::size_t chunk = 4096;  // small enough to share evenly, large enough to be worth a call
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto take = [&] {
    try {
      for (std::size_t begin; (begin = next.fetch_add(chunk)) < count;) {
        work(begin, std::min(begin + chunk, count));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(std::thread::hardware_concurrency(), (count + chunk - 1) / chunk);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(take);
    take();
  }
  if (failure) std::rethrow_exception(failure);
}

namespace {

struct Float16 {
  int fraction_bits;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Float16 half = {10, 5};
constexpr Float16 bfloat16 = {7, 8};

double round_to(const Float16& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int quantum = std::max(exponent - 1, 1 - format.bias()) - format.fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::abs(rounded) < std::ldexp(1.0, format.bias() + 1)
             ? rounded
             : std::copysign(std::numeric_limits<double>::infinity(), value);
}

std::uint16_t encode(const Float16& format, double value) {
  const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
  const unsigned exponent_mask = (1u << format.exponent_bits) - 1;
  if (!std::isfinite(value)) {
    const unsigned quiet = std::isnan(value) ? 1u << (format.fraction_bits - 1) : 0u;
    return static_cast<std::uint16_t>(sign | exponent_mask << format.fraction_bits | quiet);
  }
  const double magnitude = std::abs(round_to(format, value));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | exponent_mask << format.fraction_bits);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  // In units of the last place; its leading 1, where there is one, adds 1 to the exponent field.
  const auto units = static_cast<unsigned>(std::ldexp(magnitude, format.fraction_bits - exponent));
  const auto field = static_cast<unsigned>(exponent + format.bias() - 1);
  return static_cast<std::uint16_t>(sign | ((field << format.fraction_bits) + units));
}

double decode(const Float16& format, std::uint16_t bits) {
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int field = (bits & 0x7fff) >> format.fraction_bits;
  double magnitude = 0;
  if (field == (1 << format.exponent_bits) - 1) {
    magnitude =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    const int units = fraction + (field != 0 ? 1 << format.fraction_bits : 0);
    magnitude = std::ldexp(units, std::max(field, 1) - format.bias() - format.fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double clamp_to(double value, double least, double most) {
  return std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), least, most);
}

template <typename T>
std::string pack_as(std::span<const double> values, auto convert) {
  std::string bytes(values.size() * sizeof(T), '\0');
  in_chunks(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T element = convert(values[i]);
      std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
  });
  return bytes;
}

template <typename T>
std::vector<double> unpack_as(std::string_view bytes, auto convert) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(element);
  }
  return values;
}

constexpr const char* no_number =
    "A dtype of plain bits (b8 to b128) has no numeric value; an op that uses one must say as which dtype "
    "its "
    "arguments are checked (Argument::dtype).";

}  // namespace

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
    case DType::f64:
      return value;
    case DType::f16:
      return round_to(half, value);
    case DType::bf16:
      return round_to(bfloat16, value);
    case DType::u8:
      return clamp_to(value, 0, 255);
    case DType::u16:
      return clamp_to(value, 0, 65535);
    case DType::i16:
      return clamp_to(value, -32768, 32767);
    case DType::i8:
      return clamp_to(value, -128, 127);
    case DType::boolean:
      return value != 0 && !std::isnan(value) ? 1 : 0;
    case DType::i32:
      return clamp_to(value, -0x1p31, 0x1p31 - 1);
    case DType::u32:
      return clamp_to(value, 0, 0x1p32 - 1);
    case DType::u64:
      return clamp_to(value, 0, 0x1p64 - 2048);  // the largest double below 2^64
    case DType::i64:
      return clamp_to(value, -0x1p63, 0x1p63 - 1024);  // the largest double below 2^63
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:
      throw Error(no_number);
  }
  return value;
}

std::string pack(DType dtype, std::span<const double> values) {
  const auto integer = [dtype](double value) { return round_to(dtype, value); };
  switch (dtype) {
    case DType::f32:
      return pack_as<float>(values, [](double v) { return static_cast<float>(v); });
    case DType::f64:
      return pack_as<double>(values, [](double v) { return v; });
    case DType::f16:
      return pack_as<std::uint16_t>(values, [](double v) { return encode(half, v); });
    case DType::bf16:
      return pack_as<std::uint16_t>(values, [](double v) { return encode(bfloat16, v); });
    case DType::u8:
      return pack_as<std::uint8_t>(values, [&](double v) { return static_cast<std::uint8_t>(integer(v)); });
    case DType::u16:
      return pack_as<std::uint16_t>(values, [&](double v) { return static_cast<std::uint16_t>(integer(v)); });
    case DType::i16:
      return pack_as<std::int16_t>(values, [&](double v) { return static_cast<std::int16_t>(integer(v)); });
    case DType::i8:
      return pack_as<std::int8_t>(values, [&](double v) { return static_cast<std::int8_t>(integer(v)); });
    case DType::boolean:
      return pack_as<std::uint8_t>(values, [&](double v) { return static_cast<std::uint8_t>(integer(v)); });
    case DType::u32:
      return pack_as<std::uint32_t>(values, [&](double v) { return static_cast<std::uint32_t>(integer(v)); });
    case DType::u64:
      return pack_as<std::uint64_t>(values, [&](double v) { return static_cast<std::uint64_t>(integer(v)); });
    case DType::i32:
      return pack_as<std::int32_t>(values, [&](double v) { return static_cast<std::int32_t>(integer(v)); });
    case DType::i64:
      return pack_as<std::int64_t>(values, [&](double v) { return static_cast<std::int64_t>(integer(v)); });
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:
      throw Error(no_number);
  }
  return {};
}

std::vector<double> unpack(DType dtype, std::string_view bytes) {
  const auto plain = [](auto v) { return static_cast<double>(v); };
  switch (dtype) {
    case DType::f32:
      return unpack_as<float>(bytes, plain);
    case DType::f64:
      return unpack_as<double>(bytes, plain);
    case DType::f16:
      return unpack_as<std::uint16_t>(bytes, [](std::uint16_t v) { return decode(half, v); });
    case DType::bf16:
      return unpack_as<std::uint16_t>(bytes, [](std::uint16_t v) { return decode(bfloat16, v); });
    case DType::u8:
      return unpack_as<std::uint8_t>(bytes, plain);
    case DType::u16:
      return unpack_as<std::uint16_t>(bytes, plain);
    case DType::i16:
      return unpack_as<std::int16_t>(bytes, plain);
    case DType::i8:
      return unpack_as<std::int8_t>(bytes, plain);
    case DType::boolean:  // what is neither 0 nor 1 is seen
      return unpack_as<std::uint8_t>(bytes, plain);
    case DType::u32:
      return unpack_as<std::uint32_t>(bytes, plain);
    case DType::u64:
      return unpack_as<std::uint64_t>(bytes, plain);
    case DType::i32:
      return unpack_as<std::int32_t>(bytes, plain);
    case DType::i64:
      return unpack_as<std::int64_t>(bytes, plain);
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:
      throw Error(no_number);
  }
  return {};
}

namespace {

// The largest finite number, the smallest normal one.
struct Range {
  double largest, smallest;
};
Range range_of(DType dtype) {
  if (dtype == DType::f16) return {65504, 0x1p-14};
  if (dtype == DType::bf16) return {0x1.FEp127, 0x1p-126};
  if (dtype == DType::f32) return {std::numeric_limits<float>::max(), std::numeric_limits<float>::min()};
  if (dtype == DType::f64) return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min()};
  return {round_to(dtype, 1e300), 0};
}

// The contents for a problem: their bounds are numbers.
Contents of_problem(const Contents& contents, const Problem& problem) {
  Contents made = contents;
  if (contents.bounds) std::tie(made.least, made.most) = contents.bounds(problem);
  if (made.spread == Contents::distant) {
    made.spread = Contents::uniform;
    std::tie(made.least, made.most) = std::pair(-100.0, 100.0);
  }
  return made;
}

constexpr std::pair<double, double> distant_range = {1000, 1001};

// Prime, so that it divides no count that is not a multiple of it, and irregular.
constexpr std::uint64_t step_of_permutation = 1327217909;

// One of `count` elements; u in [-1, 1).
double sample(const Contents& contents, DType dtype, std::size_t i, std::size_t count, double u) {
  const Range range = range_of(dtype);
  const double part = (u + 1) / 2;
  if (dtype == DType::boolean && contents.least < contents.most) return part < 0.5 ? 0 : 1;
  const double shift = is_unsigned(dtype) && contents.least < 0 ? -contents.least : 0;
  const double least = contents.least + shift, most = contents.most + shift;
  switch (contents.spread) {
    case Contents::distant:  // of_problem()
    case Contents::uniform:
      return least + part * (most - least);
    case Contents::with_nan:
      if (!is_whole(dtype) && part * 1024 - std::floor(part * 1024) < 0.125)
        return std::numeric_limits<double>::quiet_NaN();
      return least + part * (most - least);
    case Contents::offsets:
      if (i + 1 >= count) return most;
      return least + std::floor((static_cast<double>(i) + (i == 0 ? 0 : part)) /
                                static_cast<double>(count - 1) * (most - least));
    case Contents::permutation:
      return static_cast<double>(i % count * (step_of_permutation % count) % count);
    case Contents::magnitudes:
      return std::copysign(least * std::pow(most / least, std::abs(u)), u);
    case Contents::ascending:
      return least + (most - least) * static_cast<double>(i) /
                         static_cast<double>(std::max<std::size_t>(count, 2) - 1);
    case Contents::few:
      return least + std::floor(part * 3) * (most - least) / 2;
    case Contents::huge:
      return std::copysign(range.largest * (1 + 15 * std::abs(u)) / 16, u);
    case Contents::denormal:
      return u * range.smallest;
  }
  return 0;
}

const Contents& contents_of(const Argument& argument, int set) {
  static const Contents usual;
  if (set == 0) return argument.usual ? *argument.usual : usual;
  if (argument.contents.empty()) return usual;
  return argument.contents[static_cast<std::size_t>(set - 1) % argument.contents.size()];
}

bool is_distant(const Argument& argument, const Problem& problem, int set) {
  const DType dtype = argument.dtype(problem);
  return argument.role != Role::output && (dtype == DType::f32 || dtype == DType::f64) &&
         contents_of(argument, set).spread == Contents::distant;
}

}  // namespace

double usual_errors(const Op& op, const Problem& problem, int set) {
  const bool any = std::any_of(op.arguments.begin(), op.arguments.end(),
                               [&](const Argument& one) { return is_distant(one, problem, set); });
  return any ? distant_error : 1;
}

int value_sets(const Op& op) {
  std::size_t most = 0;
  for (const Argument& argument : op.arguments) {
    if (argument.role != Role::output) most = std::max(most, argument.contents.size());
  }
  return static_cast<int>(most) + 1;
}

std::string words(const Op& op, int set) {
  std::string text;
  for (const Argument& argument : op.arguments) {
    if (argument.role == Role::output) continue;
    text += (text.empty() ? "" : ", ") + argument.name + " holds " + words(contents_of(argument, set));
  }
  return text;
}

std::vector<std::vector<double>> make_inputs(const Op& op, const Problem& problem, std::uint64_t seed,
                                             int set) {
  std::vector<std::vector<double>> inputs;
  Random seeds(seed);
  for (const Argument& argument : op.arguments) {
    const Random start(seeds.next());
    std::vector<double>& values = inputs.emplace_back();
    if (argument.role == Role::output) continue;
    values.resize(static_cast<std::size_t>(elements(argument, problem)));
    const DType dtype = argument.dtype(problem);
    const bool whole = is_whole(dtype);
    const double offset = is_unsigned(dtype) ? 100 : 0;
    Contents contents = of_problem(contents_of(argument, set), problem);
    if (is_distant(argument, problem, set)) std::tie(contents.least, contents.most) = distant_range;
    const bool is_usual = set == 0 && !argument.usual;
    in_chunks(values.size(), [&](std::size_t begin, std::size_t end) {
      Random random = start;
      random.skip(begin);
      for (std::size_t i = begin; i < end; ++i) {
        if (!is_usual || dtype == DType::boolean) {
          values[i] = round_to(dtype, sample(contents, dtype, i, values.size(), random.uniform()));
          continue;
        }
        values[i] =
            whole ? offset + static_cast<double>(random.below(201)) - 100 : round_to(dtype, random.uniform());
      }
    });
  }
  return inputs;
}

bool is_exact(const Op& op, DType output) {
  return !op.reference && (output == DType::i64 || output == DType::u64);
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";  // of either sign; what an output holds before the launch
  return printed("%.*g", digits, value);
}

std::string element_text(DType dtype, const char* element) {
  const auto size = static_cast<std::size_t>(bytes(dtype));
  if (dtype == DType::i64 || dtype == DType::b64) {
    std::int64_t value = 0;
    std::memcpy(&value, element, sizeof value);
    return std::to_string(value);
  }
  if (dtype == DType::u64) {
    std::uint64_t value = 0;
    std::memcpy(&value, element, sizeof value);
    return std::to_string(value);
  }
  return number_text(unpack(dtype, {element, size}).front(), dtype == DType::f64 ? 17 : 9);
}

std::int64_t permitted_bytes(DType output) { return output == DType::f64 ? sizeof(double) : sizeof(float); }

std::string pack_permitted(DType output, std::span<const double> errors) {
  if (output == DType::f64) return pack(DType::f64, errors);
  constexpr float largest = std::numeric_limits<float>::max();
  return pack_as<float>(errors, [](double error) {
    // Only what is infinite, an element that is not checked, stays so.
    if (std::isinf(error)) return std::numeric_limits<float>::infinity();
    const auto kept = static_cast<float>(std::min<double>(error, largest));
    return kept < error && kept < largest ? std::nextafter(kept, largest) : kept;
  });
}

double unpack_permitted(DType output, const char* from) {
  double error = 0;
  float kept = 0;
  if (output == DType::f64) {
    std::memcpy(&error, from, sizeof error);
    return error;
  }
  std::memcpy(&kept, from, sizeof kept);
  return kept;
}

Expected reference_of(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                      int output) {
  if (!op.reference) return kernel_reference_of(op, problem, inputs, output);
  const std::int64_t count = elements(op.arguments[static_cast<std::size_t>(output)], problem);
  Expected expected;
  expected.value.resize(static_cast<std::size_t>(count));
  expected.permitted_error.resize(static_cast<std::size_t>(count));
  in_chunks(static_cast<std::size_t>(count), [&](std::size_t begin, std::size_t end) {
    op.reference(problem, inputs, output, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end),
                 std::span(expected.value).subspan(begin, end - begin),
                 std::span(expected.permitted_error).subspan(begin, end - begin));
  });
  return expected;
}

}  // namespace tunesmith
