// SPDX-License-Identifier: Apache-2.0
// The templates `contract`, `contract_factors` and `contract_any` (body.inl): the problems that they refuse
// and what they compile in. space.cpp has their axes and rules, work.cpp their launches, first_guess.cpp the
// config of an untuned problem.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "templates/tensor/contract/contract_config.h"
#include "templates/tensor/contract/factors.h"
#include "templates/tensor/contract/groups.h"
#include "templates/tensor/op.h"

namespace tunesmith::tensor_op {
namespace {

using namespace contraction;

// True if the operand that is read through windows, and no other access, leaves its array's bounds, in a sum
// of products of elements of at most 32 bits; then the packed copy has the zeros.
bool packs_bounds(const Problem& problem) {
  const Groups groups = groups_of(problem);
  const int windowed = windowed_operand(groups);
  if (windowed < 0 || !is_product(problem) || bytes(dtype_of(problem)) > 4) return false;
  return (windowed == 0 ? groups.first : groups.second).bounds.size() == nest_of(problem).bounds();
}

std::string refuses(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  if (expression.function.inputs != 2) {
    return "This template is for two accesses, and the expression has " +
           std::to_string(expression.function.inputs) + "; take another template.";
  }
  if (expression.finish.accesses.size() > most_finish_accesses)
    return "This template is for a finish of " + std::to_string(most_finish_accesses) +
           " accesses at most, and its finish has " + std::to_string(expression.finish.accesses.size()) +
           "; take another template.";
  const Nest& nest = nest_of(problem);
  if (nest.bounds() > 0 && !packs_bounds(problem))
    return "This template reads elements out of bounds only of images of elements of at most 32 bits "
           "with channels, which it packs; take another template.";
  if (nest.outputs() == 0 || nest.terms() == 0) return "There is nothing to compute; the base serves that.";
  const Groups groups = groups_of(problem);
  for (const auto& [name, group] : {std::pair("M", &groups.m), std::pair("N", &groups.n),
                                    std::pair("K", &groups.k), std::pair("batch", &groups.batch)}) {
    const std::int64_t size = size_of(*group);
    if (size <= most_in_group) continue;
    return std::string("The group ") + name + " of the indices has " + std::to_string(size) +
           " places, more than the " + std::to_string(most_in_group) +
           " that this template counts; take another template.";
  }
  return "";
}

// The properties that the kernel is compiled for; empty for a problem that the template refuses.
Values ranks(const Problem& problem) {
  const Expression& expression = expression_of(problem);
  const std::size_t finish = expression.finish.accesses.size();
  if (expression.function.inputs != 2 || finish > most_finish_accesses) return {};
  const Groups groups = groups_of(problem);
  const auto rank = [](const Group& group) { return static_cast<std::int64_t>(group.size()); };
  return {{"M_RANK", rank(groups.m)},
          {"N_RANK", rank(groups.n)},
          {"K_RANK", rank(groups.k)},
          {"BATCH_RANK", rank(groups.batch)},
          {"A_ALONG_K", std::int64_t{first_along_k(groups)}},
          {"B_ALONG_K", std::int64_t{second_along_k(groups)}},
          {"WINDOWED", std::int64_t{windowed_operand(groups)}},
          {"INDEX", index_bits(problem)},
          {"FINISH_ACCESSES", static_cast<std::int64_t>(finish)}};
}

Values constants_of_any(const Problem& problem) {
  Values constants = ranks(problem);
  if (constants.empty()) return constants;
  constants.set("SWAPPED", std::int64_t{groups_of(problem).swapped});
  constants.set("REDUCTION", static_cast<std::int64_t>(expression_of(problem).reduction));
  constants.set("ZEROS_ADD_NOTHING", std::int64_t{adds_nothing(problem)});
  return constants;
}

std::string codes(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const language::Expression itself = language::parse("a").expression;
  std::string parameters, pointers, strides;
  for (std::size_t f = 0; f < e.finish.accesses.size(); ++f) {
    const std::string its = "finish" + std::to_string(f);
    parameters += ", InputPointer<T> " + its + ", long long " + its + "_start, Strides " + its + "_by";
    pointers += (f == 0 ? "" : ", ") + its + " + " + its + "_start";
    strides += ", " + its + "_by";
  }
  const bool has_windows = windowed_operand(groups_of(problem)) >= 0;
  return types_code(problem) + (has_windows ? "#define HAS_WINDOWS\n" : "") + "#define FINISH_PARAMETERS " +
         parameters + "\n#define FINISH_OPERANDS {{" + pointers + "}, {extents, multipliers" + strides +
         "}}\nnamespace finish {\n" +
         language::code(e.finish.is_there() ? e.finish.function : itself, compute_dtype(problem)) + "}\n";
}

// The kernel's parameters depend on how operands come.
std::string settings(const Config& config) { return loads_boxes(config) ? "#define IN_BOXES\n" : ""; }

// `first`, `second`: the operand is an argument that may be anywhere, or none.
std::int64_t alignment_bytes(const Problem& problem, const Config& config, bool first, bool second) {
  const bool any = loads_pieces(config);
  return std::max(std::max(any || first || packs_first(config) ? 1 : config[VECTOR_A],
                           any || second || packs_second(config) ? 1 : config[VECTOR_B]) *
                      bytes(dtype_of(problem)),
                  config[VECTOR_OUT] * bytes(out_dtype(problem)));
}
std::int64_t alignment_bytes_of_accesses(const Problem& problem, const Config& config) {
  return alignment_bytes(problem, config, false, false);
}

// A way for each unit, for tiles that come through registers, and for warpgroups whose tiles come as boxes.
std::vector<Values> ways() {
  std::vector<Values> all;
  for (const char* const unit : {"fma", "tensor_core", "mma", "wgmma", "wgmma_halves", "wgmma_half"})
    all.push_back({{std::string(UNIT.name), std::string(unit)}});
  for (const char* const unit : {"fma", "tensor_core"})
    all.push_back({{std::string(UNIT.name), std::string(unit)}, {std::string(STAGES.name), std::int64_t{1}}});
  all.push_back(
      {{std::string(UNIT.name), std::string("wgmma")}, {std::string(LOAD_BY.name), std::string("boxes")}});
  return all;
}

// The same for problems with factors: these are those of the product, with the factors' code.
std::string refuses_factors(const Problem& problem) {
  const std::optional<Factors>& factors = factors_of(problem);
  if (!factors)
    return "This template is for sums of products of two factors that are functions of accesses, each along "
           "an index of the output that does not move the other one; take another template.";
  const Nest& nest = nest_of(problem);
  if (nest.outputs() == 0 || nest.terms() == 0) return "There is nothing to compute; the base serves that.";
  const FactorProduct& product = product_of_factors(problem);
  const Expression& e = expression_of(problem);
  for (std::size_t f = 0; f < 2; ++f) {
    const FactorCopy& copy = product.copies.at(f);
    if (copy.elements == 0) continue;
    if (copy.elements >= std::int64_t{1} << 31)
      return "A factor has " + std::to_string(copy.elements) +
             " values, and this template writes less than 2^31 into the workspace; take another template.";
    for (const Access& access : factors->bodies.at(f).accesses)
      for (std::size_t k = 0; k < e.accesses.size(); ++k)
        if (e.accesses[k].same(access) && !nest.inputs[k].bounds.empty())
          return "This template writes factors of elements within the bounds of their arrays, and " +
                 text(e, access) + " is read beyond them; take another template.";
  }
  return refuses(product.problem);
}

Values constants_of_factors(const Problem& problem) {
  return refuses_factors(problem).empty() ? ranks(product_of_factors(problem).problem) : Values();
}

std::string codes_of_factors(const Problem& problem) {
  const Factors& factors = factors_of(problem).value();
  std::string code = codes(product_of_factors(problem).problem) +
                     "using T = " + std::string(cuda_type(factors.dtype)) +
                     ";\nusing Given = " + std::string(cuda_type(dtype_of(problem))) + ";\n";
  std::string parameters;
  std::size_t accesses = 0;
  for (const auto& [body, its_namespace, type, macro] :
       {std::tuple(&factors.bodies[0], "first_factor", "FirstFactor", "FIRST_OPERANDS"),
        std::tuple(&factors.bodies[1], "second_factor", "SecondFactor", "SECOND_OPERANDS")}) {
    code +=
        "namespace " + std::string(its_namespace) + " {\n" +
        language::code(body->function, compute_dtype(problem)) + "}\nstruct " + type +
        " {\n  static constexpr int first = " + std::to_string(accesses) +
        ", arity = " + std::to_string(body->accesses.size()) +
        ", rank = " + std::to_string(std::popcount(body->named())) +
        ";\n  static __device__ __forceinline__ Compute of(const Compute (&values)[arity]) {\n    return " +
        its_namespace + "::apply(values);\n  }\n};\n";
    std::string operands;
    for (std::size_t a = 0; a < body->accesses.size(); ++a, ++accesses) {
      const std::string its = "from" + std::to_string(accesses);
      operands += (a == 0 ? "" : ", ") + its;
      parameters += (accesses == 0 ? "InputPointer<Given> " : ", InputPointer<Given> ") + its;
    }
    code += "#define " + std::string(macro) + " " + operands + "\n";
  }
  return code + "#define FACTOR_PARAMETERS " + parameters +
         "\nconstexpr int FACTOR_ACCESSES = " + std::to_string(accesses) + ";\n";
}

std::int64_t alignment_bytes_of_factors(const Problem& problem, const Config& config) {
  const FactorProduct& product = product_of_factors(problem);
  const Groups groups = groups_of(product.problem);
  const auto is_copy = [&](const View& view) {
    return product.arguments.at(static_cast<std::size_t>(view.array)) < 0;
  };
  return alignment_bytes(product.problem, config, is_copy(groups.first), is_copy(groups.second));
}

// A guess for the product; its launches start while the one before ends.
std::optional<Values> overlapping(std::optional<Values> guess) {
  if (guess) guess->set(START.name, "overlapped");
  return guess;
}

}  // namespace

// Writing a factor takes little time if each of its values is multiplied often.
bool multiplies_factors(const Problem& problem, const DeviceFacts& device) {
  constexpr std::int64_t least_uses = 128;
  constexpr double least_products = 0x1p27;
  if (device.kind != DeviceKind::cuda || !refuses_factors(problem).empty()) return false;
  const FactorProduct& product = product_of_factors(problem);
  const Groups groups = groups_of(product.problem);
  for (const auto& [view, others] :
       {std::pair(&groups.first, &groups.n), std::pair(&groups.second, &groups.m)})
    if (product.arguments.at(static_cast<std::size_t>(view->array)) < 0 && size_of(*others) < least_uses)
      return false;
  const Nest& nest = nest_of(problem);
  return static_cast<double>(nest.outputs()) * static_cast<double>(nest.terms()) >= least_products;
}

namespace {

std::optional<Values> untuned_factors(const Problem& problem, const DeviceFacts& device) {
  if (!multiplies_factors(problem, device)) return std::nullopt;
  return overlapping(untuned(product_of_factors(problem).problem, device));
}

}  // namespace

bool has_rounded_products(const Problem& problem) {
  const Expression& e = expression_of(problem);
  return dtype_of(problem) == DType::f32 && e.free < e.indices.size() && e.zero_outside == 0 &&
         (is_product(problem) || factors_of(problem));
}

bool multiplies_borders(const Problem& problem, const DeviceFacts& device) {
  const bool has_units = has_matrices(problem, device) || (has_wgmma(device) && has_halves(problem, device));
  return device.kind == DeviceKind::cuda && has_units && packs_bounds(problem);
}

Template contract() {
  return {
      .name = "contract",
      .room = "contract/",
      .what =
          "Sums of products of two accesses as products of matrices: tiles of both in shared memory, sums "
          "in registers.",
      .kernels = {"tensor_contract", "tensor_contract_kept", "tensor_contract_pack", "tensor_contract_split"},
      .compiled_in = {"dtype", "finish", "out_dtype"},
      .constants = ranks,
      .preamble = codes,
      .settings = settings,
      .refuses = [](const Problem& problem) -> std::string {
        if (is_product(problem)) return refuses(problem);
        return "This template is for sums of products of two accesses; take another template.";
      },
      .untuned = untuned,
      .ways = ways(),
      .untuned_way = untuned_way,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes_of_accesses};
}

Template contract_factors() {
  return {
      .name = "contract_factors",
      .room = "contract/",
      .what =
          "Sums of products of two factors, each a function of accesses: a launch writes the factors, which "
          "are multiplied as in contract.",
      .kernels = {"tensor_contract", "tensor_contract_kept", "tensor_contract_pack", "tensor_contract_split",
                  "tensor_contract_factors"},
      .compiled_in = {"expression", "dtype", "finish", "out_dtype"},
      .names_dtype = false,
      .constants = constants_of_factors,
      .preamble = codes_of_factors,
      .settings = settings,
      .refuses = refuses_factors,
      .untuned = untuned_factors,
      .ways = ways(),
      .untuned_way =
          [](const Problem& problem, const DeviceFacts& device, const Values& way) {
            return overlapping(untuned_way(product_of_factors(problem).problem, device, way));
          },
      .space = [](const Problem& problem,
                  const DeviceFacts& device) { return space(product_of_factors(problem).problem, device); },
      .work =
          [](const Problem& problem, const Config& config, const DeviceFacts& device) {
            return work_of_factors(problem, work(product_of_factors(problem).problem, config, device),
                                   config[START] == "overlapped");
          },
      .alignment_bytes = alignment_bytes_of_factors};
}

Template contract_any() {
  return {
      .name = "contract_any",
      .room = "contract/",
      .what = "Any function of two accesses as a product of matrices, as in contract.",
      .kernels = {"tensor_contract", "tensor_contract_kept", "tensor_contract_pack", "tensor_contract_split"},
      .compiled_in = {"expression", "dtype", "finish", "out_dtype"},
      .constants = constants_of_any,
      .preamble =
          [](const Problem& problem) {
            return codes(problem) + language::code(expression_of(problem).function, compute_dtype(problem));
          },
      .settings = settings,
      .refuses = [](const Problem& problem) -> std::string {
        if (!is_product(problem)) return refuses(problem);
        return "Sums of products are for the template contract.";
      },
      .untuned = untuned,
      .ways = {{{std::string(UNIT.name), std::string("fma")}}},
      .untuned_way = untuned_way,
      .space = space,
      .work = work,
      .alignment_bytes = alignment_bytes_of_accesses};
}

}  // namespace tunesmith::tensor_op
