// SPDX-License-Identifier: Apache-2.0
// The op `tensor`: a line of index notation, such as out[n,o,y,x] += x[n,c,y+i,x+j] * w[o,c,i,j].

#include "templates/tensor/op.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "generator/listed.h"
#include "generator/word.h"
#include "templates/choice.h"
#include "templates/tensor/derive/forms.h"

namespace tunesmith {
namespace {

using namespace tensor_op;

// Problems with odd, prime and small extents, and with 1; and one with long sums and whole vectors, because
// some variants are for these alone. Their arrays are dense, but strided arrays keep the order of their
// dimensions, so that a variant for a contiguous index finds it there.
std::vector<Problem> companions(const Problem& problem) {
  static constexpr std::array<std::array<std::int64_t, most_indices>, 3> sizes = {
      {{7, 5, 3, 4, 2, 3, 5, 2, 3, 2, 3, 2},
       {1, 3, 2, 17, 1, 2, 2, 3, 1, 2, 2, 1},
       {37, 19, 2, 3, 5, 2, 1, 2, 2, 1, 2, 2}}};
  const Expression& e = expression_of(problem);
  std::vector<Problem> found;
  const auto add = [&](const std::vector<std::int64_t>& extents) {
    Problem other = problem;
    other.set("extents", joined(extents));
    for (int array = -1; array < static_cast<int>(e.arrays.size()); ++array) {
      const std::string name(argument_name(array));
      if (problem.string(name) == "dense") continue;
      // The strides are in the problem's order of dimensions, with a gap behind the contiguous one.
      const ArrayLayout layout = array_layout(problem, array);
      std::vector<std::int64_t> least = least_extents(e, array, extents);
      if (e.is_zero_outside(array))  // accesses may leave the array at both ends
        for (std::int64_t& extent : least) extent = std::max<std::int64_t>(extent - 2, 0);
      const std::vector<std::size_t> order =
          sorted_by(least.size(), [&](std::size_t d) { return layout.strides[d]; });
      std::vector<std::int64_t> strides(least.size());
      std::int64_t step = 1;
      for (std::size_t n = 0; n < order.size(); ++n) {
        strides[order[n]] = layout.strides[order[n]] == 0 && array >= 0 ? 0 : step;
        if (n == 0 && layout.strides[order[n]] > 1) strides[order[n]] = step = 2;
        if (strides[order[n]] > 0) step *= std::max<std::int64_t>(least[order[n]], 1) + (n == 0 ? 1 : 0);
      }
      other.set(name, text_of({least, strides}));
    }
    if (check(other).empty() && other != problem) found.push_back(std::move(other));
  };
  for (const auto& each : sizes)
    add({each.begin(), each.begin() + static_cast<std::ptrdiff_t>(e.indices.size())});
  if (e.free < e.indices.size()) {
    std::vector<std::int64_t> extents(e.indices.size(), 2);
    const bool has_few = e.free <= 3;  // so that the loops as they are written take no time
    if (e.free > 0) extents[0] = has_few ? 36 : 12;
    if (e.free > 1) extents[1] = has_few ? 40 : 8;
    extents.back() = 104;
    add(extents);
  }
  return found;
}

Parameter array_parameter(std::string name, std::string what) {
  return {.name = std::move(name),
          .what = std::move(what),
          .categories = {"dense"},
          .initial = "dense",
          .refuses_text = tensor_op::refuses_layout};
}

// The least and the largest of numbers over many magnitudes. Those of f32 are too far apart to be split into
// halves with one scale, so that contract's other way is checked too.
std::pair<double, double> bounds_of_magnitudes(const Problem& problem) {
  return dtype_of(problem) == DType::f32 ? std::pair(1e-7, 1e5) : std::pair(1e-3, 1e3);
}

// Says why the text is no output type. The types are not categories, since binaries of every category would
// be built in.
std::string refuses_out_dtype(const std::string& text) {
  const auto& all = out_dtypes;
  if (std::find(all.begin(), all.end(), text) != all.end()) return "";
  return "Allowed are " + std::string(same_dtype) + " and " + listed(all) + ".";
}

// Also gives the accuracy its one form: full where nothing is faster for less, else tf32, with which less is
// computed too.
Problem rewritten_with_accuracy(const Problem& given) {
  Problem problem = rewritten(given);
  const Value* const word = problem.find("accuracy");
  const auto* const text = word == nullptr ? nullptr : std::get_if<std::string>(word);
  const std::optional<Accuracy> accuracy = text == nullptr ? std::nullopt : named<Accuracy>(*text);
  if (!accuracy || *accuracy == Accuracy::full || !problem.has("expression"))
    return problem;  // complete_problem() refuses other words
  Problem line = {{"dtype", std::string("f32")},
                  {"finish", std::string(no_finish)},
                  {"zero_outside", std::string(no_arrays)}};
  for (const char* const parameter : {"expression", "dtype", "finish", "zero_outside"})
    if (const Value* const value = problem.find(parameter)) line.set(parameter, word_of(*value));
  const bool has_effect = line.string("dtype") == "f32" && has_rounded_products(line);
  problem.set("accuracy", std::string(name_of(has_effect ? Accuracy::tf32 : Accuracy::full)));
  return problem;
}

double terms_of(const Problem& problem) {
  const Nest& nest = nest_of(problem);
  return static_cast<double>(nest.outputs()) * static_cast<double>(nest.terms());
}

double operations(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const bool reduces = nest_of(problem).terms() > 1;
  return terms_of(problem) * (static_cast<double>(operations_of(e.function)) + (reduces ? 1 : 0)) +
         static_cast<double>(nest_of(problem).outputs() * operations_of(e.finish.function));
}

// The elements that are read, each once, and those that are written.
double moved(const Problem& problem) {
  const Expression& e = expression_of(problem);
  const std::vector<std::int64_t> extents = extents_of(problem.string("extents")).value();
  const Nest& nest = nest_of(problem);
  if (nest.outputs() == 0) return 0;
  double elements = 0;
  for (std::size_t k = 0; k < e.arrays.size(); ++k) {
    double all = 1;
    for (const std::int64_t extent : array_layout(problem, static_cast<int>(k)).extents)
      all *= static_cast<double>(extent);
    elements += std::min(all, elements_read(e.accesses, static_cast<int>(k), extents));
  }
  return elements * static_cast<double>(bytes(dtype_of(problem))) +
         static_cast<double>(nest.outputs() * bytes(out_dtype(problem)));
}

}  // namespace

namespace tensor_op {

DType compute_dtype(const Problem& problem) {
  const DType dtype = dtype_of(problem);
  return bytes(dtype) == 1 ? DType::i32 : language::compute_dtype(dtype);
}

DType out_dtype(const Problem& problem) {
  const std::string& word = problem.string("out_dtype");
  return dtype_of(word == same_dtype ? problem : Problem({{"dtype", word}}));
}

bool may_round_factors(const Problem& problem) {
  return choice<Accuracy>(problem, "accuracy") != Accuracy::full;
}

std::int64_t array_bytes(const Problem& problem, int argument) {
  const bool is_output = argument == output_argument;
  return memory(array_layout(problem, is_output ? -1 : argument)).value() *
         bytes(is_output ? out_dtype(problem) : dtype_of(problem));
}

std::string types_code(const Problem& problem) {
  return "using Compute = " + std::string(cuda_type(compute_dtype(problem))) +
         ";\nusing Out = " + std::string(cuda_type(out_dtype(problem))) +
         ";\ntemplate <typename To>\n__device__ __forceinline__ To converted(Compute value) {\n"
         "  return from_float<To>(static_cast<compute_type<To>>(value));\n}\n";
}

}  // namespace tensor_op

Op ops_tensor() {
  Op op = {
      .name = "tensor",
      .what =
          "A line of index notation: out[a,b] += x0[a,c] * x1[c,b], with windows, diagonals and any "
          "function.",
      .parameters =
          {{.name = "expression",
            .what = "what is computed, as out[n,o,y,x] += x[n,c,y+i,x+j] * w[o,c,i,j]; the extents of its "
                    "indices follow as n=8 …, or x=8x3x64x64 as an array's",
            .categories = {"out[a,b] += x0[a,c] * x1[c,b]"},
            .refuses_text = [](const std::string&) { return ""; },  // rewritten() has read it
            .is_computation = true},
           {.name = "dtype",
            .what = "element type of the arrays; f16 and bf16 are summed in f32, i8 and u8 in i32",
            .categories = {"f32", "f64", "i32", "i64", "f16", "bf16", "u8", "i8"},
            .initial = "f32"},
           {.name = "extents",
            .what = "the indices' extents, in the order a, b, c, … of the expression as it is stored",
            .categories = {"90x70x50"},
            .refuses_text = tensor_op::refuses_extents},
           {.name = "may",
            .what = "what rounding may change: the order of sums, or also how products are distributed over "
                    "sums, as in a * b + a * c = a * (b + c)",
            .categories = choices<May>(),
            .initial = "reorder"},
           {.name = "finish",
            .what =
                "what is written instead of out, the reduced value: a function of it and of arrays at the "
                "output's indices, as in max(out + bias[o], 0)",
            .categories = {std::string(no_finish)},
            .initial = std::string(no_finish),
            .refuses_text = [](const std::string&) { return ""; },  // rewritten() has read it
            .is_computation = true},
           {.name = "out_dtype",
            .what = "element type of the output, to which what is computed is converted",
            .categories = {same_dtype},
            .initial = same_dtype,
            .refuses_text = refuses_out_dtype},
           {.name = "zero_outside",
            .what = "the arrays of which an element that is out of bounds is 0, joined by commas",
            .categories = {no_arrays},
            .initial = no_arrays,
            .refuses_text = [](const std::string&) { return ""; },  // rewritten() has read it
            .is_computation = true},
           {.name = "accuracy",
            .what = "what products of f32 may be off by: full: a rounding of f32; tf32, bf16: the error of "
                    "factors rounded to 11 or 8 bits, where that is faster",
            .categories = choices<Accuracy>(),
            .initial = "full"}},
      .rewritten = rewritten_with_accuracy,
      .check = check,
      .arguments = {},  // below
      .templates = {base(), permute(), separable(), loops(), contract(), contract_factors(), contract_any()},
      .reference = reference,
      .flops = operations,
      .bytes_moved = moved,
      .companions = companions,
      .sizes = tensor_op::sizes,
      .kind = tensor_op::kind,
      .examples =
          {"expression=\"c[i,j] += a[i,k] * b[k,j]\" i=70 j=37 k=41",
           "expression=\"out[b,i,k] += x[b,i,j] * y[b,j,k]\" b=3 i=37 j=35 k=18 dtype=f64",
           "expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=3 y=8 x=9 c=2 i=3 j=3",
           "expression=\"out[a,b,j,c] += x[c,b,k,a] * y[k,j]\" a=20 b=3 c=24 j=12 k=9",
           "expression=\"out[i,j,k,l] += x[i,m,j,n] * y[l,n,k,m]\" i=4 j=5 k=6 l=7 m=10 n=9",
           "expression=\"out[c,a,b] = x[a,b,c]\" a=13 b=17 c=19",
           "expression=\"out[d,c,b,a] = x[a,b,c,d]\" a=6 b=7 c=8 d=40 dtype=f16",
           "expression=\"out[e,c,a,d,b] = 2 * x[a,b,c,d,e] + 1\" a=5 b=9 c=6 d=7 e=3 dtype=f64",
           "expression=\"out[a,c,b,d] = x[a,b,c,d]\" a=5 b=9 c=6 d=4",
           "expression=\"out[b,a] = x[a,b]\" a=70 b=64 x=70x64:80x1 out=64x70:72x1",
           "expression=\"out[c,a,b] = x[a,b,c]\" a=2 b=171 c=261 dtype=u8",
           "expression=\"out[c,d,b,a] = x[a,b,c,d]\" a=10 b=2 c=11 d=7 dtype=f16",
           "expression=\"out[b,d,a,c] = x[a,b,c,d+1]\" a=7 b=11 c=13 d=9 x=7x11x13x11 dtype=u8",
           "expression=\"out[b,a,c] = x[a,b,c]\" a=41 b=37 c=2 dtype=f64",
           "expression=\"out[b,a,c] = x[a,b,c+1]\" a=9 b=7 c=6 x=9x7x8 dtype=f16",
           "expression=\"out[y,x] = x[2*y,99-x]\" y=30 x=100",
           ("expression=\"out[b,c,y,x,c,v,u] += f[c] * (m[b,k,y+i,x+j] * m[b,k,v+i,u+j] + "
            "g[b,k,y+i,x+j,k,v+i,u+j])\" b=1 c=2 y=3 x=3 v=3 u=3 k=2 i=2 j=2"),
           "expression=\"out[y,x,d] += (l[y+i,x+j] - r[y+i,x+j+d]) ** 2\" y=9 x=11 d=4 i=3 j=3",
           "expression=\"out[y,x] max= x[2*y+i,2*x+j]\" y=7 x=9 i=2 j=2 dtype=f16",
           "expression=\"out[y,x] += g[i] * g[j] * v[y+i,x+j]\" y=37 x=70 i=9 j=5 may=distribute",
           ("expression=\"out[z,y,x] += f[z] * g[i] * h[j] * g[k] * v[z+i,y+j,x+k]\" z=6 y=19 x=37 i=3 j=4 "
            "k=5 may=distribute"),
           "expression=\"out[y,c,x] max= abs(l[y+i,c,x+j] - r[y+i,c,x+j])\" y=19 c=2 x=67 i=4 j=3 dtype=f16",
           "expression=\"out[n,c,y,x] += v[n,c,y+i,x+j] * w[c,i,j]\" n=3 c=2 y=19 x=35 i=3 j=5",
           "expression=\"out[c,y,x] min= v[y+i,c,x+j] + w[c,i,j]\" c=3 y=9 x=37 i=4 j=3 dtype=f16",
           "expression=\"t += x[i,i]\" i=25 dtype=i32",
           "expression=\"out[i,j] min= a[i,k] + b[k,j]\" i=12 j=37 k=41 dtype=i64",
           "expression=\"out[i] += exp(x[i,j]) * w[j]\" i=10 j=21 x=10x21:1x12",
           "expression=\"out[i] += x[i,j] * w[j]\" i=3 j=700",
           "expression=\"out[i] += x[i,j] > 0.25 ? 3 * x[i,j] : -0.5 - w[j]\" i=11 j=7",
           "expression=\"out[i,j] = x[i] * y[j]\" i=37 j=41 dtype=bf16",
           "expression=\"c[i,j] += a[i,k] * b[k,j]\" finish=\"max(out, 0)\" i=37 j=41 k=33 dtype=f16",
           "expression=\"c[i,j] += a[i,k] * b[k,j]\" finish=\"max(out, 0)\" i=37 j=72 k=133 accuracy=tf32",
           "expression=\"out[i,j] += abs(a[i,k] - b[k,j])\" finish=\"sqrt(out) - 1\" i=21 j=18 k=40",
           ("expression=\"out[n,o,y,x] += image[n,c,y+i,x+j] * w[o,c,i,j]\" n=2 o=3 y=8 x=9 c=2 i=3 j=3 "
            "finish=\"max(out * scale + bias[o], 0)\""),
           ("expression=\"c[b,i,j] += x[b,i,k] * y[b,k,j]\" b=3 i=37 j=41 k=70 dtype=f16 out_dtype=f32 "
            "finish=\"max(out + bias[j], 0) * scale[b] - m[j,i]\""),
           "expression=\"out[j,i] max= a[i,k] - b[k,j]\" i=21 j=18 k=40 finish=\"out * s[j] + r[i+1,0]\" ",
           "expression=\"out[i] max= x[i,k]\" finish=\"out - x[i,0] * w[i+1]\" i=19 k=260 dtype=i64",
           "expression=\"out[c,a,b] = x[a,b,c]\" finish=\"3 - 2 * out\" a=13 b=9 c=14 dtype=f64",
           ("expression=\"out[n,o,y,x] += image[n,c,y+i-1,x+j-2] * w[o,c,i,j]\" image=2x3x8x9 w=3x3x3x5 y=8 "
            "x=9 zero_outside=image"),
           ("expression=\"out[y,x] max= a[2*y+i,x-1] - b[x+y]\" a=9x7 b=5 y=6 x=9 i=3 zero_outside=\"a,b\" "
            "dtype=i32"),
           "expression=\"out[y] += x[y+i-4] * w[i]\" x=200 y=200 i=9 zero_outside=x dtype=f16",
           "expression=\"out[y] = x[y+3] ** 2 - x[y]\" finish=\"out + x[7-y]\" x=20:2 y=24 zero_outside=x",
           "expression=\"out[c,b,a] = x[a,b,c]\" a=33 b=5 c=40 dtype=f16 out_dtype=f32",
           "expression=\"out[b,a] = 3 * x[a,b]\" a=37 b=52 dtype=f64 out_dtype=f16",
           "expression=\"out[b,a,c] = x[a,b,c] + 1\" a=20 b=9 c=16 dtype=u8 out_dtype=f32",
           "expression=\"out[i,j] += a[i,k] * b[k,j]\" i=37 j=41 k=50 dtype=i8 out_dtype=i32",
           "expression=\"out[i,j] += a[i,k] * b[j,k]\" i=35 j=40 k=48 dtype=f32 out_dtype=f64",
           "expression=\"out[i,j] max= a[i,k] - b[k,j]\" i=19 j=41 k=30 dtype=u8",
           "expression=\"out[y,x] += x[y+i,x+j] * w[i,j]\" y=20 x=40 i=3 j=5 dtype=f64 out_dtype=f32",
           "expression=\"out[i] += x[i,j] * w[j]\" i=9 j=300 dtype=i64 out_dtype=bf16",
           ("expression=\"out[b,i,j] += max(x[b,i,k] + s[k], -0.5) * (w[k,j] * r[j])\" b=3 i=37 j=41 k=50 "
            "finish=\"out + t[j]\""),
           "expression=\"out[i,j] += (x[i,k] - 8) * s[k] * w[j,k]\" i=35 j=42 k=67 dtype=bf16",
           "expression=\"out[i,j] += max(x[i,k], 0) * w[j,k]\" i=35 j=42 k=67 accuracy=tf32"},
      .large_examples = {"expression=\"out[b,a] = x[a,b]\" a=46349 b=46351 dtype=f16"},
      .sample = usual_tensors,
  };
  for (const std::string_view name : array_names) {
    op.parameters.push_back(array_parameter(
        std::string(name),
        name == "x0"
            ? "an array's extents and, behind a colon, its strides in elements, as in 24x64:80x1; dense: "
              "no larger than the expression reaches"
            : "a further array, as x0"));
  }
  op.parameters.push_back(
      array_parameter("out", "the computed array, as x0; what no index reaches stays as it is"));
  for (std::size_t k = 0; k < most_arrays; ++k) {
    op.arguments.push_back(
        {.name = std::string(array_names[k]),
         .role = Role::input,
         .extents =
             [k](const Problem& problem) {
               const bool is_used = k < expression_of(problem).arrays.size();
               return std::vector{is_used ? memory(array_layout(problem, static_cast<int>(k))).value() : 0};
             },
         .contents = {{.spread = Contents::magnitudes,  // of the largest companion
                       .bounds = bounds_of_magnitudes,
                       .what = "numbers of many magnitudes"},
                      {Contents::few, -1, 1},
                      {Contents::uniform, -100, 100}}});
  }
  op.arguments.push_back(
      {.name = "out",
       .role = Role::output,
       .extents =
           [](const Problem& problem) { return std::vector{memory(array_layout(problem, -1)).value()}; },
       .dtype = out_dtype});
  return op;
}

}  // namespace tunesmith
