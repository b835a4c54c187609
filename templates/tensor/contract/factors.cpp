// SPDX-License-Identifier: Apache-2.0
#include "templates/tensor/contract/factors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "templates/shared_layout.h"
#include "templates/tensor/notation/layout.h"
#include "templates/tensor/notation/nest.h"
#include "templates/tensor/notation/problem.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

using language::Node;
using language::Operation;

#include "templates/tensor/contract/contract_layout.inl"

constexpr std::size_t most_moves = 16;  // as in contract_factors.cu

bool is_truth(Operation operation) {
  return operation >= Operation::less && operation <= Operation::logical_or;
}

// True if the number is one of the dtype, which is f16 or bf16.
bool is_number_of(double number, DType dtype) {
  const int bits = dtype == DType::f16 ? 11 : 8, least = dtype == DType::f16 ? -24 : -133;
  if (number == 0 || !std::isfinite(number)) return true;
  if (dtype == DType::f16 && std::abs(number) > 65504) return false;
  const double steps = std::ldexp(number, -std::max(std::ilogb(number) - bits + 1, least));
  return std::abs(number) <= 0x1.fep127 && steps == std::trunc(steps);
}

// True if each value of the function of numbers of the dtype, which is f16 or bf16, is one too.
bool keeps(const language::Expression& function, DType dtype) {
  std::vector<char> known;
  for (const Node& node : function.nodes) {
    const auto its = [&](std::size_t n) { return known[static_cast<std::size_t>(node.operands[n])] != 0; };
    const auto truth = [&](std::size_t n) {
      return is_truth(function.nodes[static_cast<std::size_t>(node.operands[n])].operation);
    };
    bool is_kept = is_truth(node.operation);
    switch (node.operation) {
      case Operation::input:
        is_kept = true;
        break;
      case Operation::number:
        is_kept = is_number_of(node.number, dtype);
        break;
      case Operation::negate:
      case Operation::abs:
      case Operation::floor:
      case Operation::ceil:
      case Operation::trunc:
      case Operation::rint:
        is_kept = its(0);
        break;
      case Operation::min:
      case Operation::max:
        is_kept = its(0) && its(1);
        break;
      case Operation::choose:
        is_kept = its(1) && its(2);
        break;
      case Operation::multiply:
        is_kept = its(0) && its(1) && (truth(0) || truth(1));
        break;
      default:
        break;
    }
    known.push_back(is_kept ? 1 : 0);
  }
  return known.back() != 0;
}

struct Range {
  std::int64_t least = std::numeric_limits<std::int32_t>::min(),
               most = std::numeric_limits<std::int32_t>::max();

  bool is_within(const Range& other) const { return least >= other.least && most <= other.most; }
};
constexpr Range range_of_i8 = {-128, 127}, range_of_u8 = {0, 255};

// The range of the function's values, which are computed in i32, of bytes.
Range range_of(const language::Expression& function, DType dtype) {
  std::vector<Range> known;
  for (const Node& node : function.nodes) {
    const auto its = [&](std::size_t n) { return known[static_cast<std::size_t>(node.operands[n])]; };
    Range range;
    switch (node.operation) {
      case Operation::input:
        range = dtype == DType::i8 ? range_of_i8 : range_of_u8;
        break;
      case Operation::number:
        if (node.whole) range = {*node.whole, *node.whole};
        break;
      case Operation::negate:
        range = {-its(0).most, -its(0).least};
        break;
      case Operation::abs:
        range = {std::max<std::int64_t>({0, its(0).least, -its(0).most}),
                 std::max(its(0).most, -its(0).least)};
        break;
      case Operation::add:
        range = {its(0).least + its(1).least, its(0).most + its(1).most};
        break;
      case Operation::subtract:
        range = {its(0).least - its(1).most, its(0).most - its(1).least};
        break;
      case Operation::multiply: {
        const auto [least, most] = std::minmax({its(0).least * its(1).least, its(0).least * its(1).most,
                                                its(0).most * its(1).least, its(0).most * its(1).most});
        range = {least, most};
        break;
      }
      case Operation::min:
        range = {std::min(its(0).least, its(1).least), std::min(its(0).most, its(1).most)};
        break;
      case Operation::max:
        range = {std::max(its(0).least, its(1).least), std::max(its(0).most, its(1).most)};
        break;
      case Operation::choose:
        range = {std::min(its(1).least, its(2).least), std::max(its(1).most, its(2).most)};
        break;
      default:
        if (is_truth(node.operation)) range = {0, 1};
        break;
    }
    known.push_back(range.is_within({}) ? range : Range());  // else it may wrap
  }
  return known.back();
}

DType dtype_that_holds(const std::array<Body, 2>& bodies, DType dtype) {
  const language::Expression &first = bodies[0].function, &second = bodies[1].function;
  if (dtype == DType::f16 || dtype == DType::bf16)
    return keeps(first, dtype) && keeps(second, dtype) ? dtype : DType::f32;
  if (bytes(dtype) != 1) return dtype;
  const Range ranges[] = {range_of(first, dtype), range_of(second, dtype)};
  for (const auto& [its, range] : {std::pair(DType::i8, range_of_i8), std::pair(DType::u8, range_of_u8)})
    if (ranges[0].is_within(range) && ranges[1].is_within(range)) return its;
  return DType::i32;
}

// The ways to share out a product's factors that rounding allows: as it is written at its root; of integers,
// and of few numbers of 16 bits with products far from the ends of f32, any. The first of those whose factors
// move along the fewest indices is the best.
std::optional<Factors> made_factors(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const DType dtype = dtype_of(problem), compute = compute_dtype(problem);
  const language::Expression& function = e.function;
  const Body all = {function,
                    {e.accesses.begin(), e.accesses.begin() + static_cast<std::ptrdiff_t>(function.inputs)}};
  const Node& root = function.nodes.back();
  if (e.reduction != Reduction::sum || e.free == e.indices.size() || root.operation != Operation::multiply)
    return std::nullopt;
  const auto parts = [&](int node) { return terms_of(function, node).front().factors; };
  const std::vector<int> factors = parts(all.root());
  constexpr std::size_t most_factors = 6, most_of_halves = 5;
  const bool is_any =
      terms_of(function, all.root()).front().negative || factors.size() > most_factors
          ? false
          : is_whole(compute) || (dtype == DType::f16 && factors.size() <= most_of_halves &&
                                  std::all_of(factors.begin(), factors.end(), [&](int factor) {
                                    Composer composer;
                                    return keeps(composer.finish(composer.part(all, factor)).function, dtype);
                                  }));
  std::optional<Factors> best;
  int fewest = 0;
  const Indices free = (Indices{1} << e.free) - 1;
  const auto consider = [&](std::array<Body, 2> bodies) {
    const Indices first = bodies[0].named(), second = bodies[1].named();
    const int indices = std::popcount(first) + std::popcount(second);
    if ((first & ~second & free) == 0 || (second & ~first & free) == 0 || (best && indices >= fewest)) return;
    fewest = indices;
    best = Factors{std::move(bodies)};
  };
  const auto part = [&](int node) {
    Composer composer;
    return composer.finish(composer.part(all, node));
  };
  consider({part(root.operands[0]), part(root.operands[1])});
  for (unsigned mask = 1; is_any && mask + 1 < 1U << factors.size(); mask += 2) {
    std::array<std::vector<int>, 2> shared;
    for (std::size_t f = 0; f < factors.size(); ++f)
      shared[(mask >> f & 1) != 0 ? 0 : 1].push_back(factors[f]);
    std::array<Body, 2> bodies;
    for (std::size_t side = 0; side < 2; ++side) {
      Composer composer;
      bodies.at(side) = composer.finish(composer.product(all, shared.at(side)));
    }
    consider(std::move(bodies));
  }
  if (!best || (best->bodies[0].is_access() && best->bodies[1].is_access())) return std::nullopt;
  best->dtype = dtype_that_holds(best->bodies, dtype);
  return best;
}

// The indices of a set in an order: those of a single place last, the others by their strides in a view.
std::vector<std::size_t> ordered(Indices set, const View& view, const std::vector<std::int64_t>& extents) {
  std::vector<std::size_t> order = sorted_by(extents.size(), [&](std::size_t i) {
    const std::int64_t stride = std::abs(view.strides[i]);
    return std::pair(extents[i] == 1, stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride);
  });
  std::erase_if(order, [=](std::size_t i) { return (set & bit(i)) == 0; });
  return order;
}

View view_in(const Problem& problem, const Access& access) {
  return view_of(access, array_layout(problem, access.array), extents_of(problem.string("extents")).value(),
                 false);
}

// Of a factor's accesses the one that moves along most indices.
const Access& lead_of(const Body& body) {
  return *std::max_element(body.accesses.begin(), body.accesses.end(), [](const Access& a, const Access& b) {
    return std::popcount(named(a)) < std::popcount(named(b));
  });
}

// How factors are copied. Rows are neighbours where they are whole vectors. Else terms are, if both factors
// are copied and end with few zeros; of 8-bit and 16-bit elements also if terms are whole vectors, and both
// are copied for it.
struct CopyPlan {
  std::array<bool, 2> copies = {false, false}, along_k = {false, false};
  std::vector<std::size_t> terms = {};     // the nearest first
  std::vector<std::int64_t> extents = {};  // of all indices, with zeros at the end of the first of the terms
};

// True if the access's neighbours are those of the index, in whole vectors.
bool is_aligned(const View& view, const std::vector<std::int64_t>& extents, std::size_t nearest,
                std::int64_t vector) {
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (i != nearest && view.strides[i] % vector != 0) return false;
  return extents[nearest] % vector == 0 && view.strides[nearest] == 1 && view.start % vector == 0;
}

CopyPlan plan_of(const Problem& problem, const Factors& factors) {
  const Expression& e = expression_of(problem);
  const auto& [first, second] = factors.bodies;
  const bool converts = factors.dtype != dtype_of(problem);
  CopyPlan plan = {.copies = {converts || !first.is_access(), converts || !second.is_access()},
                   .extents = extents_of(problem.string("extents")).value()};
  const Indices free = (Indices{1} << e.free) - 1, both = first.named() & second.named();
  plan.terms = ordered(~free, view_in(problem, lead_of(second.is_access() ? second : first)), plan.extents);
  const std::int64_t element = bytes(factors.dtype), vector = 16 / element;
  const View output = view_in(problem, e.output);
  bool are_rows_whole = element > 1,
       are_terms_whole = element <= 2 && plan.extents[plan.terms.front()] % vector == 0;
  for (const std::size_t f : {0U, 1U}) {
    const Body& body = factors.bodies.at(f);
    if (plan.copies.at(f)) {
      const std::size_t row = ordered(body.named() & free & ~both, output, plan.extents).front();
      are_rows_whole = are_rows_whole && plan.extents[row] % vector == 0;
    } else if (element == 1) {  // warpgroups take bytes with terms side by side
      are_terms_whole = are_terms_whole && is_aligned(view_in(problem, body.accesses.front()), plan.extents,
                                                      plan.terms.front(), vector);
    }
  }
  const auto is_long = [&](std::size_t index) {
    return (both & bit(index)) != 0 && 4 * round_up(plan.extents[index], vector) <= 5 * plan.extents[index];
  };
  const auto longest =
      std::max_element(plan.terms.begin(), plan.terms.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(is_long(a), plan.extents[a]) < std::pair(is_long(b), plan.extents[b]);
      });
  if (are_terms_whole) {
    plan.along_k = plan.copies;
  } else if (!are_rows_whole && is_long(*longest) && (element <= 2 || (plan.copies[0] && plan.copies[1]))) {
    plan.copies = plan.along_k = {true, true};
    std::rotate(plan.terms.begin(), longest, longest + 1);
    std::int64_t& extent = plan.extents[plan.terms.front()];
    extent = round_up(extent, vector);
  }
  return plan;
}

FactorCopy copy_of(const Problem& problem, const Factors& factors, const CopyPlan& plan, std::size_t f) {
  FactorCopy copy;
  if (!plan.copies.at(f)) return copy;
  const Expression& e = expression_of(problem);
  const Indices its = factors.bodies.at(f).named(), other = factors.bodies.at(1 - f).named();
  const Indices free = (Indices{1} << e.free) - 1;
  const View output = view_in(problem, e.output);
  const std::vector<std::int64_t> there = extents_of(problem.string("extents")).value();
  std::vector<std::size_t> terms = plan.terms;
  std::erase_if(terms, [=](std::size_t i) { return (its & bit(i)) == 0; });
  const std::vector<std::size_t> rows = ordered(its & free & ~other, output, there);
  const std::int64_t vector = 16 / bytes(factors.dtype);
  std::int64_t pitch = 1;
  for (const std::vector<std::size_t>& group :
       {plan.along_k.at(f) ? terms : rows, plan.along_k.at(f) ? rows : terms,
        ordered(its & free & other, output, there)}) {
    for (const std::size_t index : group) {
      const std::int64_t extent = plan.extents[index];
      copy.dimensions.push_back({index, extent, pitch});
      copy.zeros += extent - there[index];
      pitch = extent > most_elements / pitch ? most_elements : pitch * std::max<std::int64_t>(extent, 1);
    }
    pitch = round_up(pitch, vector);
  }
  copy.elements = pitch;
  return copy;
}

std::string name_of_copy(std::size_t f) { return "y" + std::to_string(f); }

FactorProduct made_product(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const Factors& factors = factors_of(problem).value();
  const CopyPlan plan = plan_of(problem, factors);
  FactorProduct product;
  const auto listed = [&](const auto& indices) {
    std::string names;
    for (const std::size_t index : indices) names += (names.empty() ? "[" : ",") + e.indices[index].name;
    return names.empty() ? names : names + "]";
  };
  std::array<std::string, 2> written;
  for (const std::size_t f : {0U, 1U}) {
    FactorCopy& copy = product.copies.at(f);
    copy = copy_of(problem, factors, plan, f);
    std::vector<std::size_t> indices;
    for (const FactorCopy::Dimension& dimension : copy.dimensions)
      indices.insert(indices.begin(), dimension.index);
    written.at(f) = copy.elements > 0 ? name_of_copy(f) + listed(indices)
                                      : text(e, factors.bodies.at(f).accesses.front());
  }
  std::vector<std::size_t> out;
  for (const Affine& dimension : e.output.dimensions) out.push_back(dimension.index().value());
  const std::string& finish = problem.string("finish");
  const Expression its =
      parse(e.output_name + listed(out) + " += " + written[0] + " * " + written[1], finish).expression;

  std::vector<std::int64_t> extents;
  for (const Index& index : its.indices) extents.push_back(plan.extents[e.place_of(index.name)]);
  const std::string_view dtype = name(factors.dtype), out_dtype = name(tensor_op::out_dtype(problem));
  Problem& inner = product.problem;
  inner = {{"expression", canonical_text(its)},
           {"dtype", std::string(dtype)},
           {"extents", joined(extents)},
           {"may", problem.string("may")},
           {"accuracy", problem.string("accuracy")},
           {"finish", canonical_finish(its)},
           {"out_dtype", std::string(out_dtype == dtype ? same_dtype : out_dtype)}};
  std::string zeros;
  for (std::size_t k = 0; k < most_arrays; ++k) {
    std::string layout = "dense";
    if (k < its.arrays.size()) {
      const std::string& array = its.arrays[k];
      const auto copy = static_cast<std::size_t>(array == name_of_copy(1));
      if (array == name_of_copy(copy)) {
        product.arguments.at(k) = -1 - static_cast<int>(copy);
        ArrayLayout its_layout;
        for (const FactorCopy::Dimension& dimension : product.copies.at(copy).dimensions) {
          its_layout.extents.insert(its_layout.extents.begin(), dimension.extent);
          its_layout.strides.insert(its_layout.strides.begin(), dimension.pitch);
        }
        layout = text_of(its_layout);
      } else {
        const auto place = std::find(e.arrays.begin(), e.arrays.end(), array) - e.arrays.begin();
        product.arguments.at(k) = static_cast<int>(place);
        const ArrayLayout its_layout = array_layout(problem, static_cast<int>(place));
        if (!its_layout.extents.empty()) layout = text_of(its_layout);
        if (e.is_zero_outside(static_cast<int>(place)))
          zeros += (zeros.empty() ? "" : ",") + std::string(array_names[k]);
      }
    }
    inner.set(array_names[k], layout);
  }
  inner.set("out", problem.string("out"));
  inner.set("zero_outside", zeros.empty() ? std::string(no_arrays) : zeros);
  return product;
}

// A dimension of a copy as the kernel counts it: its places, and how far it moves the copy and each access.
struct Move {
  std::int64_t extent = 1, to = 0;
  std::vector<std::int64_t> from = {};
};

// First the nearest in the copy; then the nearest in the lead access, or the longest if that is the first.
std::vector<Move> moves_of(const FactorCopy& copy, const std::vector<View>& views, std::size_t lead) {
  std::vector<Move> moves;
  for (const FactorCopy::Dimension& dimension : copy.dimensions) {
    if (dimension.extent == 1) continue;
    Move move = {dimension.extent, dimension.pitch};
    for (const View& view : views) move.from.push_back(view.strides[dimension.index]);
    if (moves.size() > 1) {  // with the one before, if all step over both as over one
      Move& before = moves.back();
      bool is_one = move.to == before.to * before.extent;
      for (std::size_t a = 0; a < views.size(); ++a)
        is_one = is_one && move.from[a] == before.from[a] * before.extent;
      if (is_one) {
        before.extent *= move.extent;
        continue;
      }
    }
    moves.push_back(std::move(move));
  }
  if (moves.size() > 1) {
    const auto distance = [=](const Move& move) {
      return move.from[lead] == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(move.from[lead]);
    };
    const auto nearest = std::min_element(
        moves.begin(), moves.end(), [&](const Move& a, const Move& b) { return distance(a) < distance(b); });
    const auto longest = std::max_element(moves.begin() + 1, moves.end(),
                                          [](const Move& a, const Move& b) { return a.extent < b.extent; });
    std::iter_swap(moves.begin() + 1, nearest == moves.begin() ? longest : nearest);
  }
  return moves;
}

}  // namespace

const std::optional<Factors>& factors_of(const Problem& problem) { return problem.derived(made_factors); }

const FactorProduct& product_of_factors(const Problem& problem) { return problem.derived(made_product); }

Work work_of_factors(const Problem& problem, Work product, bool overlaps) {
  const Factors& factors = factors_of(problem).value();
  const FactorProduct& its = product_of_factors(problem);
  const std::int64_t element = bytes(factors.dtype);
  Work work = std::move(product);
  std::array<WorkspacePointer, 2> copies;
  std::array<std::int64_t, 2> blocks = {};
  std::vector<KernelArgument> pointers, places;
  std::vector<std::int64_t> to, moved;
  for (const std::size_t f : {0U, 1U}) {
    const FactorCopy& copy = its.copies.at(f);
    const Body& body = factors.bodies.at(f);
    std::vector<View> views;
    for (const Access& access : body.accesses) {
      views.push_back(view_in(problem, access));
      pointers.emplace_back(ArgumentPointer{access.array});
    }
    std::vector<Move> moves =
        moves_of(copy, views, static_cast<std::size_t>(&lead_of(body) - body.accesses.data()));
    if (copy.elements > 0) {
      copies.at(f).offset_bytes = round_up(work.workspace_bytes, 256);
      work.workspace_bytes = copies.at(f).offset_bytes + copy.elements * element;
      blocks.at(f) = 1;
      for (std::size_t d = 0; d < moves.size(); ++d)
        blocks.at(f) *= d < 2 ? ceil_divide(moves[d].extent, contract_pack_side) : moves[d].extent;
    }
    moves.resize(most_moves, {.from = std::vector<std::int64_t>(views.size())});
    std::vector<std::int32_t> numbers;
    numbers.reserve(moves.size() + 2);
    for (const Move& move : moves) numbers.push_back(int32(move.extent));
    numbers.push_back(int32(moves.front().extent - copy.zeros));
    const auto lead = static_cast<std::size_t>(&lead_of(body) - body.accesses.data());
    numbers.push_back(moves[1].from[lead] == 1 ? 1 : 0);
    places.emplace_back(std::move(numbers));
    for (const Move& move : moves) to.push_back(move.to);
    for (std::size_t a = 0; a < views.size(); ++a) {
      moved.push_back(views[a].start);
      for (const Move& move : moves) moved.push_back(move.from[a]);
    }
  }
  std::vector<KernelArgument> arguments = {copies[0], copies[1], int32(blocks[0])};
  arguments.insert(arguments.end(), pointers.begin(), pointers.end());
  arguments.insert(arguments.end(), places.begin(), places.end());
  arguments.emplace_back(std::move(to));
  arguments.emplace_back(std::move(moved));

  const auto place_of = [&](int array) -> ArrayPointer {
    if (array == output_argument) return ArgumentPointer{array};
    const int place = its.arguments.at(static_cast<std::size_t>(array));
    if (place >= 0) return ArgumentPointer{place};
    return copies.at(static_cast<std::size_t>(-1 - place));
  };
  for (Step& step : work.steps) {
    for (KernelArgument& argument : std::get<Launch>(step).arguments) {
      if (auto* const pointer = std::get_if<ArgumentPointer>(&argument)) {
        std::visit([&](const auto& at) { argument = at; }, place_of(pointer->argument));
      } else if (auto* const boxes = std::get_if<BoxedArray>(&argument)) {
        if (const auto* const array = std::get_if<ArgumentPointer>(&boxes->array))
          boxes->array = place_of(array->argument);
      }
    }
  }
  work.steps.insert(work.steps.begin(),
                    Launch{.kernel = "tensor_contract_factors",
                           .grid = {blocks[0] + blocks[1]},
                           .block = {contract_pack_threads},
                           .dynamic_shared_bytes = contract_pack_side * contract_pack_line(element) * element,
                           .arguments = std::move(arguments),
                           .overlaps_previous = overlaps});
  return work;
}

}  // namespace tunesmith::tensor_op
