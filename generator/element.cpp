// SPDX-License-Identifier: Apache-2.0
#include "generator/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "generator/error.h"

namespace tunesmith {
namespace {

struct Float16 {
  int fraction_bits;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Float16 half = {10, 5};
constexpr Float16 bfloat16 = {7, 8};

std::uint16_t bits_of(const Float16& format, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
  const int infinity = ((1 << format.exponent_bits) - 1) << format.fraction_bits;
  const auto magnitude = [&](int of) { return static_cast<std::uint16_t>(sign | of); };
  if (std::isnan(value)) return magnitude(infinity | 1 << (format.fraction_bits - 1));  // quiet
  const int field = static_cast<int>(bits >> 52 & 0x7ffu) - 1023 + format.bias();
  if (field > 2 * format.bias()) return magnitude(infinity);
  // From here on in units of the last place, which is the same for all denormal numbers.
  const int dropped = 52 - format.fraction_bits + std::max(1 - field, 0);
  if (dropped > 53) return sign;  // less than half a unit
  const std::uint64_t digits = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const std::uint64_t rest = digits & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (dropped - 1);
  int units = static_cast<int>(digits >> dropped);
  if (rest > tie || (rest == tie && units % 2 == 1)) ++units;
  // The leading 1 adds 1 to the exponent field; a carry of the rounding adds 1 too, up to infinity.
  return magnitude(((std::max(field, 1) - 1) << format.fraction_bits) + units);
}

double value_of(const Float16& format, std::uint16_t bits) {
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

// Calls `use` with a value of the elements' C++ type, a function from an element to a double, and its
// inverse.
template <typename Use>
void with_type_of(DType dtype, const Use& use) {
  const auto number = [&](auto zero) {
    using T = decltype(zero);
    use(
        zero, [dtype](double value) { return static_cast<T>(round_to(dtype, value)); },
        [](T element) { return static_cast<double>(element); });
  };
  const auto float16 = [&](const Float16& format) {
    use(
        std::uint16_t{}, [&](double value) { return bits_of(format, value); },
        [&](std::uint16_t element) { return value_of(format, element); });
  };
  switch (dtype) {
    case DType::f32:
      return number(float{});
    case DType::f64:
      return number(double{});
    case DType::f16:
      return float16(half);
    case DType::bf16:
      return float16(bfloat16);
    case DType::u8:
    case DType::boolean:  // read as a byte, so that a value other than 0 and 1 is seen
      return number(std::uint8_t{});
    case DType::u16:
      return number(std::uint16_t{});
    case DType::u32:
      return number(std::uint32_t{});
    case DType::u64:
      return number(std::uint64_t{});
    case DType::i8:
      return number(std::int8_t{});
    case DType::i16:
      return number(std::int16_t{});
    case DType::i32:
      return number(std::int32_t{});
    case DType::i64:
      return number(std::int64_t{});
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:
      break;
  }
  throw Error(
      "A dtype of plain bits (b8 to b128) has no numeric value; an op that uses one must say as which dtype "
      "its arguments are checked (Argument::dtype).");
}

}  // namespace

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(static_cast<float>(value));
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
    case DType::f64:
      return value;
    case DType::f16:
      return value_of(half, bits_of(half, value));
    case DType::bf16:
      return value_of(bfloat16, bits_of(bfloat16, value));
    case DType::b8:
    case DType::b16:
    case DType::b32:
    case DType::b64:
    case DType::b128:
      break;
  }
  with_type_of(dtype, [](auto, auto, auto) {});  // throws
  return value;
}

void encode(DType dtype, std::span<const double> values, char* to) {
  with_type_of(dtype, [&](auto zero, auto made_of, auto) {
    for (const double value : values) {
      const decltype(zero) element = made_of(value);
      std::memcpy(to, &element, sizeof element);
      to += sizeof element;
    }
  });
}

void decode(DType dtype, const char* from, std::span<double> values) {
  with_type_of(dtype, [&](auto element, auto, auto number) {
    for (double& value : values) {
      std::memcpy(&element, from, sizeof element);
      value = number(element);
      from += sizeof element;
    }
  });
}

double usual_value(DType dtype, Random& random) {
  if (dtype == DType::boolean) return random.uniform() < 0 ? 0 : 1;
  if (!is_whole(dtype)) return random.uniform();
  return static_cast<double>(random.below(201)) - (is_unsigned(dtype) ? 0 : 100);
}

}  // namespace tunesmith
