// SPDX-License-Identifier: Apache-2.0
// Tests the kernel that packs operands, on the host: drawn moves of elements of every size, from arrays that
// begin anywhere, with places before and behind what is in the array.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "generator/render.h"
#include "generator/work.h"
#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "templates/tensor/contract/groups.h"
#include "tests/host_source.h"

namespace tunesmith::contract_pack_test {
namespace {

using tensor_op::Move;

constexpr std::size_t digits = 4;  // of an operand, of the 16 for which the kernel has room
constexpr std::int64_t side = 64, threads = 256;

Source source_of(const std::string& type) {
  return host_source("using T = " + type + R"(;
constexpr int M_RANK = 2, N_RANK = 1, K_RANK = 1, BATCH_RANK = 0;
enum class Pack { none, both };
constexpr Pack PACK = Pack::both;
enum class Start { plain, overlapped };
constexpr Start START = Start::plain;
enum class Trigger { none, early };
constexpr Trigger TRIGGER = Trigger::none;
#include "common/integer.cuh"
#include "common/overlap.inl"
#include "common/shared.cuh"
#include "common/shared_layout.cuh"
#include "common/vector.cuh"
#include "tensor/contract/contract_layout.inl"
#include "tensor/contract/pack.inl"
)",
                     "tensor_contract_pack");
}

// An operand's moves, and what an array has to have for them.
struct Drawn {
  std::vector<Move> moves;
  std::int64_t start = 0, elements = 0, packed = 0;
};

Drawn drawn(std::mt19937& random, std::int64_t in_vector) {
  const auto number = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  Drawn its;
  its.moves.resize(digits);
  for (std::size_t d = 0; d < digits; ++d) {
    Move& move = its.moves[d];
    move.extent = d < 2 ? (number(0, 3) == 0 ? number(1, 9) : number(1, 150)) : number(1, 3);
    if (number(0, 2) == 0) {
      move.before = number(0, move.extent / 2);
      move.behind = number(0, (move.extent - 1) / 2);
    }
  }
  // The copy has the first digit's neighbours, in whole vectors or not.
  const bool whole = number(0, 3) > 0;
  its.packed = 1;
  for (Move& move : its.moves) {
    move.to = its.packed;
    its.packed *= move.extent;
    if (whole && &move == its.moves.data()) its.packed = round_up(its.packed, in_vector);
  }
  // The array has its digits in any order, backwards too, with gaps or without.
  std::array<std::size_t, digits> order = {0, 1, 2, 3};
  std::shuffle(order.begin(), order.end(), random);
  if (number(0, 2) > 0)
    std::swap(*std::find(order.begin(), order.end(), static_cast<std::size_t>(number(0, 1))), order[0]);
  std::int64_t stride = number(0, 5) == 0 ? 2 : 1;
  for (const std::size_t d : order) {
    Move& move = its.moves[d];
    const std::int64_t there = move.extent - move.before - move.behind;
    const bool backwards = number(0, 5) == 0;
    move.from = backwards ? -stride : stride;
    its.start += (backwards ? move.extent - move.behind - 1 : -move.before) * stride;
    stride *= there;
    if (number(0, 1) == 0) stride = round_up(stride, std::int64_t{1} << number(0, 5));
  }
  its.elements = stride;
  return its;
}

template <typename T>
class Operand {
 public:
  Operand(std::mt19937& random, std::size_t shift)
      : its_(drawn(random, std::max<std::int64_t>(1, 16 / static_cast<std::int64_t>(sizeof(T))))),
        array_(static_cast<std::size_t>(its_.elements) + 32),
        copy_(static_cast<std::size_t>(its_.packed) + 32, poison) {
    from_ = aligned(array_) + shift;
    to_ = aligned(copy_);
    for (std::int64_t e = 0; e < its_.elements; ++e) from_[e] = static_cast<T>(1 + e % 119);
  }
  T* from() { return from_; }
  T* to() { return to_; }
  std::int64_t start() const { return its_.start; }
  std::int64_t blocks() const {
    return ceil_divide(its_.moves[0].extent, side) * ceil_divide(its_.moves[1].extent, side) *
           its_.moves[2].extent * its_.moves[3].extent;
  }
  void add(std::vector<KernelArgument>& arguments) const {
    std::vector<Move> moves = its_.moves;
    moves.resize(16);
    std::vector<std::int32_t> places;
    for (const Move& move : moves) places.push_back(static_cast<std::int32_t>(move.extent));
    for (const Move& move : moves) places.push_back(static_cast<std::int32_t>(move.before));
    for (const Move& move : moves) places.push_back(static_cast<std::int32_t>(move.extent - move.behind));
    std::vector<std::int64_t> strides;
    for (const Move& move : moves) strides.push_back(move.from);
    for (const Move& move : moves) strides.push_back(move.to);
    arguments.emplace_back(std::move(places));
    arguments.emplace_back(std::move(strides));
  }
  void check() {
    std::vector<T> expected(static_cast<std::size_t>(its_.packed), poison);
    std::array<std::int64_t, digits> at = {};
    do {
      std::int64_t from = its_.start, to = 0;
      bool exists = true;
      for (std::size_t d = 0; d < digits; ++d) {
        const Move& move = its_.moves[d];
        from += at[d] * move.from;
        to += at[d] * move.to;
        exists = exists && at[d] >= move.before && at[d] < move.extent - move.behind;
      }
      expected[static_cast<std::size_t>(to)] = exists ? from_[from] : T();
    } while (next(at));
    const auto wrong = std::mismatch(expected.begin(), expected.end(), to_);
    ASSERT_TRUE(wrong.first == expected.end()) << "element " << wrong.first - expected.begin();
    for (const T* behind = to_ + its_.packed; behind != copy_.data() + copy_.size(); ++behind)
      ASSERT_EQ(*behind, poison);
  }
  std::string text() const {
    std::string text;
    for (const Move& move : its_.moves)
      text += std::to_string(move.extent) + " (" + std::to_string(move.before) + ", " +
              std::to_string(move.behind) + "): " + std::to_string(move.from) + " to " +
              std::to_string(move.to) + "; ";
    return text;
  }

 private:
  static constexpr T poison = 121;
  static T* aligned(std::vector<T>& all) {  // to 16 bytes
    return all.data() + (16 - reinterpret_cast<std::uintptr_t>(all.data()) % 16) % 16 / sizeof(T);
  }
  bool next(std::array<std::int64_t, digits>& at) const {
    for (std::size_t d = 0; d < digits; ++d) {
      if (++at[d] < its_.moves[d].extent) return true;
      at[d] = 0;
    }
    return false;
  }

  Drawn its_;
  std::vector<T> array_, copy_;
  T *from_ = nullptr, *to_ = nullptr;
};

template <typename T>
void check_drawn(const std::string& type) {
  const Source source = source_of(type);
  const Compilation kernel = make_host_toolchain()->compile(source);
  ASSERT_TRUE(kernel.ok) << kernel.log;
  std::mt19937 random(7);
  for (int n = 0; n < 30; ++n) {
    Operand<T> first(random, random() % 16), second(random, random() % 16);
    Launch launch{
        .kernel = "tensor_contract_pack",
        .grid = {first.blocks() + second.blocks()},
        .block = {threads},
        .dynamic_shared_bytes = side * (side + 4) * static_cast<std::int64_t>(sizeof(T)),
        .arguments = {ArgumentPointer{0}, ArgumentPointer{1}, ArgumentPointer{2}, ArgumentPointer{3},
                      first.start(), second.start(), static_cast<std::int32_t>(first.blocks())}};
    first.add(launch.arguments);
    second.add(launch.arguments);
    const std::unique_ptr<Executable> executable =
        load_host(kernel.bytes, source.suffix, Work{.steps = {launch}});
    const std::array<void*, 4> arguments = {first.from(), second.from(), first.to(), second.to()};
    ASSERT_EQ(executable->launch(arguments.data(), nullptr, nullptr), 0);
    for (Operand<T>* operand : {&first, &second}) {
      SCOPED_TRACE(type + ", " + operand->text());
      ASSERT_NO_FATAL_FAILURE(operand->check());
    }
  }
}

TEST(Packing, CopiesWhatIsThereAndZeros) {
  check_drawn<std::uint8_t>("unsigned char");
  check_drawn<std::uint16_t>("unsigned short");
  check_drawn<float>("float");
  check_drawn<double>("double");
}

}  // namespace
}  // namespace tunesmith::contract_pack_test
