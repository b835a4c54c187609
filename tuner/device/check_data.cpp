// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/check_data.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <tuple>

#include "generator/error.h"
#include "generator/number_text.h"
#include "generator/random.h"
#include "generator/threads.h"
#include "kernel_file/user_kernel.h"
#include "tuner/device/fields.h"
#include "tuner/device/kernel_reference.h"

namespace tunesmith {

void in_chunks(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& work,
               std::size_t unit) {
  // Small enough to share evenly, large enough to be worth a call.
  const std::size_t chunk = (4096 + unit - 1) / unit * unit;
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    try {
      for (std::size_t begin; (begin = next.fetch_add(chunk)) < count;) {
        work(begin, std::min(begin + chunk, count));
      }
    } catch (...) {
      next = count;
      throw;
    }
  };
  run_in_threads(std::min<std::size_t>(std::thread::hardware_concurrency(), (count + chunk - 1) / chunk),
                 take);
}

std::size_t reference_unit(const Op& op, const Problem& problem) {
  return op.reference_unit ? static_cast<std::size_t>(op.reference_unit(problem)) : 1;
}

std::string pack(DType dtype, std::span<const double> values) {
  const auto size = static_cast<std::size_t>(bytes(dtype));
  std::string packed(values.size() * size, '\0');
  in_chunks(values.size(), [&](std::size_t begin, std::size_t end) {
    encode(dtype, values.subspan(begin, end - begin), packed.data() + begin * size);
  });
  return packed;
}

std::vector<double> unpack(DType dtype, std::string_view bytes) {
  std::vector<double> values(bytes.size() / static_cast<std::size_t>(tunesmith::bytes(dtype)));
  decode(dtype, bytes.data(), values);
  return values;
}

namespace {

// The largest finite number and the smallest normal number of a dtype.
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

// Integers of which sums of some hundred do not fit into the next narrower type. `code`: 0; below 0 each
// number alone does not; 1: sums of a few do not fit into 32 or 64 bits; 2: as 1, and unsigned ones lie about
// the largest signed one.
std::pair<double, double> distant_range(DType dtype, double code, std::size_t count) {
  const bool below = code < 0, is_wide = code >= 1;
  // The numbers about which the sign bit of an integer of the same size changes.
  if (code > 1 && dtype == DType::u16) return {32'718, 32'818};
  if (code > 1 && dtype == DType::u32) return {2'147'483'598, 2'147'483'698};
  if (code > 1 && dtype == DType::u64) return {0x1p63 - 0x1p20, 0x1p63 + 0x1p20};
  // Two products of 16 bits have sums beyond 32 bits, and so have the numbers of a warp; but the sum of all
  // products of 32 bits has no more than 63 bits.
  if (is_wide && dtype == DType::i16) return {32'667, 32'767};
  if (is_wide && dtype == DType::u16) return {65'435, 65'535};
  if (is_wide && (dtype == DType::i32 || dtype == DType::u32)) {
    const double least = std::min(7e7, std::floor(std::sqrt(4e18 / static_cast<double>(count + 1))));
    return {least, least + 100};
  }
  switch (dtype) {
    case DType::f32:
    case DType::f64:
      return below ? std::pair(-1001.0, -1000.0) : std::pair(1000.0, 1001.0);
    case DType::i8:
      return below ? std::pair(-127.0, -100.0) : std::pair(100.0, 127.0);
    case DType::u8:
      return {200, 255};
    case DType::i16:
      return below ? std::pair(-350.0, -250.0) : std::pair(250.0, 350.0);
    case DType::u16:
      return {250, 350};
    case DType::i32:
      return below ? std::pair(-40'100.0, -40'000.0) : std::pair(250.0, 350.0);
    case DType::u32:
      return below ? std::pair(70'000.0, 70'100.0) : std::pair(250.0, 350.0);
    case DType::i64:
      return below ? std::pair(-3'000'000'100.0, -3'000'000'000.0) : std::pair(20e6, 20e6 + 100);
    case DType::u64:
      return below ? std::pair(5e9, 5e9 + 100) : std::pair(20e6, 20e6 + 100);
    default:
      return {-100, 100};
  }
}

// The contents for a problem, with numbers as bounds.
Contents of_problem(const Contents& contents, const Problem& problem, DType dtype, std::size_t count) {
  Contents made = contents;
  if (contents.bounds) std::tie(made.least, made.most) = contents.bounds(problem);
  if (made.spread == Contents::distant) {
    made.spread = Contents::uniform;
    const double code = contents.most < 0 ? contents.most : std::max(0.0, contents.least);
    std::tie(made.least, made.most) = distant_range(dtype, code, count);
  }
  return made;
}

// A prime, so that it has no common divisor with a count that is not its multiple; irregular in its bits.
constexpr std::uint64_t step_of_permutation = 1327217909;

// The value of element `i` of `count`; u is in [-1, 1).
double sample(const Contents& contents, DType dtype, std::size_t i, std::size_t count, double u) {
  const Range range = range_of(dtype);
  const double part = (u + 1) / 2;
  if (dtype == DType::boolean && contents.least < contents.most) return part < 0.5 ? 0 : 1;
  const double shift = is_unsigned(dtype) && contents.least < 0 ? -contents.least : 0;
  const double least = contents.least + shift, most = contents.most + shift;
  switch (contents.spread) {
    case Contents::distant:  // of_problem() has replaced it
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

const Contents& contents_of(const UserRecord& record, std::size_t member, int set) {
  static const Contents usual;
  if (set == 0) return record.usual[member] ? *record.usual[member] : usual;
  const std::vector<Contents>& all = record.contents[member];
  return all[static_cast<std::size_t>(set - 1) % all.size()];
}

bool is_distant(const Op& op, const Argument& argument, const Problem& problem, int set) {
  if (argument.role == Role::output) return false;
  const auto is_real = [](DType dtype) { return dtype == DType::f32 || dtype == DType::f64; };
  const UserRecord* const record = record_of(op, argument);
  if (record == nullptr)
    return is_real(argument.dtype(problem)) && contents_of(argument, set).spread == Contents::distant;
  for (std::size_t i = 0; i < record->contents.size(); ++i)
    if (is_real(record->layout.members[i].dtype) && contents_of(*record, i, set).spread == Contents::distant)
      return true;
  return false;
}

// Makes the numbers of a field, or of an argument's elements.
std::vector<double> made_values(const Contents& given, bool is_usual, const Problem& problem, DType dtype,
                                std::size_t count, const Random& start) {
  std::vector<double> values(count);
  const Contents contents = of_problem(given, problem, dtype, count);
  in_chunks(count, [&](std::size_t begin, std::size_t end) {
    Random random = start;
    random.skip(begin);
    for (std::size_t i = begin; i < end; ++i) {
      values[i] = round_to(
          dtype, is_usual ? usual_value(dtype, random) : sample(contents, dtype, i, count, random.uniform()));
    }
  });
  return values;
}

// The bytes of structs whose members hold numbers of their own types. Padding holds anything, as it does in a
// program: equal structs may differ in it.
std::vector<double> made_structs(const Op& op, const Argument& argument, const UserRecord& record,
                                 const Problem& problem, int set, const Random& start) {
  std::string array(static_cast<std::size_t>(elements(argument, problem)), '\0');
  Random seeds = start;
  Random padding(seeds.next());
  for (char& byte : array) byte = static_cast<char>(padding.below(256));
  const std::vector<ArrayField> fields = fields_of(op, argument, problem);
  for (std::size_t i = 0; i < fields.size(); ++i)
    pack(fields[i],
         made_values(contents_of(record, i, set), set == 0 && !record.usual[i], problem, fields[i].dtype(),
                     static_cast<std::size_t>(fields[i].numbers), Random(seeds.next())),
         array.data());
  return unpack(DType::u8, array);
}

}  // namespace

double usual_errors(const Op& op, const Problem& problem, int set) {
  const bool any = std::any_of(op.arguments.begin(), op.arguments.end(),
                               [&](const Argument& one) { return is_distant(op, one, problem, set); });
  return any ? distant_error : 1;
}

int value_sets(const Op& op) {
  std::size_t most = 0;
  for (const Argument& argument : op.arguments) {
    if (argument.role != Role::output) most = std::max(most, argument.contents.size());
  }
  return static_cast<int>(most) + 1;
}

std::string describe_inputs(const Op& op, int set) {
  std::string text;
  for (const Argument& argument : op.arguments) {
    if (argument.role == Role::output) continue;
    text += (text.empty() ? "" : ", ") + argument.name + " holds " + describe(contents_of(argument, set));
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
    const UserRecord* const record = record_of(op, argument);
    values = record != nullptr ? made_structs(op, argument, *record, problem, set, start)
                               : made_values(contents_of(argument, set), set == 0 && !argument.usual, problem,
                                             argument.dtype(problem),
                                             static_cast<std::size_t>(elements(argument, problem)), start);
  }
  return inputs;
}

bool is_exact(const Op& op, DType output) {
  return !op.reference && (output == DType::i64 || output == DType::u64);
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "NaN";  // of either sign; outputs hold NaN before a launch
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
  std::string packed(errors.size() * sizeof(float), '\0');
  in_chunks(errors.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto kept = static_cast<float>(std::min<double>(errors[i], largest));
      const bool below = kept < errors[i] && kept < largest;
      // Only an infinite error, of an element that is not checked, stays infinite.
      const float above = std::isinf(errors[i]) ? std::numeric_limits<float>::infinity()
                          : below               ? std::nextafter(kept, largest)
                                                : kept;
      std::memcpy(packed.data() + i * sizeof(float), &above, sizeof(float));
    }
  });
  return packed;
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

ExpectedOutput reference_of(const Op& op, const Problem& problem, std::span<const std::vector<double>> inputs,
                            int output) {
  if (!op.reference) return kernel_reference_of(op, problem, inputs, output).front();
  const std::int64_t count = elements(op.arguments[static_cast<std::size_t>(output)], problem);
  ExpectedOutput expected;
  expected.value.resize(static_cast<std::size_t>(count));
  expected.permitted_error.resize(static_cast<std::size_t>(count));
  const auto compute = [&](std::size_t begin, std::size_t end) {
    op.reference(problem, inputs, output, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end),
                 std::span(expected.value).subspan(begin, end - begin),
                 std::span(expected.permitted_error).subspan(begin, end - begin));
  };
  in_chunks(static_cast<std::size_t>(count), compute, reference_unit(op, problem));
  return expected;
}

std::vector<ExpectedOutput> references_of(const Op& op, const Problem& problem,
                                          std::span<const std::vector<double>> inputs, int output) {
  if (!op.reference) return kernel_reference_of(op, problem, inputs, output);
  return {reference_of(op, problem, inputs, output)};
}

}  // namespace tunesmith
