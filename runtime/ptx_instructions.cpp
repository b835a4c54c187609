// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx_instructions.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tunesmith {
namespace {

// An instruction. `modifiers` are those behind its first word, in any order:
//   a/b       one of these
//   ?a/b      any of these, or none; the host does the same with and without
//   [a]       a or not: a template argument, true or false
//   <a/b>     one of these: the end of the function's name, _a
//   (a/b)     one of these types: a template argument
//   =a        the template argument a, for no modifier
//   @order, @scope, @space, @round, @compare, @shape   a template argument of that kind (below)
// Template arguments have the order of the pattern.
struct PtxInstruction {
  std::string_view name, modifiers, function;
  std::size_t least, most;  // operands
  bool takes_vectors = false;
};

// Modifiers that say which caches keep a load or store, and how many ptx_registers it has.
#define TUNESMITH_HINTS                                                                             \
  "?weak/ca/cg/cs/lu/cv/wb/wt/L1::evict_normal/L1::evict_unchanged/L1::evict_first/L1::evict_last/" \
  "L1::no_allocate/L2::evict_normal/L2::evict_first/L2::evict_last/L2::64B/L2::128B/L2::256B/"      \
  "L2::cache_hint/v2/v4/v8"
#define TUNESMITH_MOVED "(b8/u8/s8/b16/u16/s16/b32/u32/s32/f32/b64/u64/s64/f64)"
#define TUNESMITH_WHOLE "(u16/s16/u32/s32/u64/s64)"
#define TUNESMITH_CARRIED "(u32/s32/u64/s64)"
#define TUNESMITH_FLOATS "(f32/f64/f16/bf16/f16x2/bf16x2/f32x2)"
#define TUNESMITH_BITS "(b16/b32/b64)"
#define TUNESMITH_NUMBERS "(s8/u8/s16/u16/s32/u32/s64/u64/f16/bf16/f32/f64)"
#define TUNESMITH_SUMS "(u32/s32/u64/s64/f32/f64/f16/bf16/f16x2/bf16x2)"

constexpr PtxInstruction ptx_instructions[] = {
    // copies and matrices
    {"cp", "async ca/cg shared/shared::cta global ?L2::64B/L2::128B/L2::256B [L2::cache_hint]", "cp_async", 3,
     5},
    {"cp", "async commit_group", "cp_async_commit_group", 0, 0},
    {"cp", "async wait_group", "cp_async_wait_group", 1, 1},
    {"cp", "async wait_all", "cp_async_wait_all", 0, 0},
    {"ldmatrix", "sync aligned m8n8 x1/x2/x4 [trans] shared/shared::cta b16", "ldmatrix", 2, 2},
    {"stmatrix", "sync aligned m8n8 x1/x2/x4 [trans] shared/shared::cta b16", "stmatrix", 2, 2, true},
    {"movmatrix", "sync aligned m8n8 trans b16", "movmatrix", 2, 2},
    {"mma", "sync aligned @shape(m16n8k16/m16n8k8) row col =false (f32/f16) (f16) (f16) (f32/f16)", "mma", 4,
     4, true},
    {"mma", "sync aligned @shape(m16n8k16/m16n8k8) row col =false (f32) (bf16) (bf16) (f32)", "mma", 4, 4,
     true},
    {"mma", "sync aligned @shape(m16n8k8/m16n8k4) row col =false (f32) (tf32) (tf32) (f32)", "mma", 4, 4,
     true},
    {"mma", "sync aligned @shape(m16n8k32/m16n8k16/m8n8k16) row col [satfinite] (s32) (s8/u8) (s8/u8) (s32)",
     "mma", 4, 4, true},
    {"mma", "sync aligned @shape(m8n8k4/m16n8k4/m16n8k8/m16n8k16) row col ?rn =false (f64) (f64) (f64) (f64)",
     "mma", 4, 4, true},

    // memory
    {"ld", "global nc " TUNESMITH_HINTS " @space " TUNESMITH_MOVED, "load_constant", 2, 3},
    {"ld", "@order @scope @space " TUNESMITH_HINTS " " TUNESMITH_MOVED, "load", 2, 3},
    {"ldu", "global " TUNESMITH_HINTS " @space " TUNESMITH_MOVED, "load_constant", 2, 3},
    {"st", "@order @scope @space " TUNESMITH_HINTS " " TUNESMITH_MOVED, "store", 2, 3},
    {"atom", "@order @scope @space <cas> (b16/b32/b64/u32/u64)", "atom", 4, 4},
    {"atom", "@order @scope @space <exch> (b32/b64/u32/s32/f32)", "atom", 3, 3},
    {"atom", "@order @scope @space <add> ?noftz " TUNESMITH_SUMS, "atom", 3, 3},
    {"atom", "@order @scope @space <min/max> (u32/s32/u64/s64)", "atom", 3, 3},
    {"atom", "@order @scope @space <and/or/xor> (b32/b64)", "atom", 3, 3},
    {"atom", "@order @scope @space <inc/dec> (u32)", "atom", 3, 3},
    {"red", "@order @scope @space <add> ?noftz " TUNESMITH_SUMS, "red", 2, 2},
    {"red", "@order @scope @space <min/max> (u32/s32/u64/s64)", "red", 2, 2},
    {"red", "@order @scope @space <and/or/xor> (b32/b64)", "red", 2, 2},
    {"red", "@order @scope @space <inc/dec> (u32)", "red", 2, 2},
    {"membar", "<cta/gl/sys>", "membar", 0, 0},
    {"fence", "?acq_rel/sc/acquire/release <cta/gpu/cluster/sys>", "fence", 0, 0},
    {"prefetch", "?global L1/L2", "nothing", 1, 1},
    {"prefetch", "?global L2::evict_last/L2::evict_normal", "nothing", 1, 1},
    {"prefetchu", "L1", "nothing", 1, 1},
    {"applypriority", "?global L2::evict_normal", "nothing", 2, 2},
    {"createpolicy", "fractional ?L2::evict_last/L2::evict_normal/L2::evict_first/L2::evict_unchanged b64",
     "no_policy", 1, 2},
    {"cvta", "to @space (u64/u32)", "cvta_to", 2, 2},
    {"cvta", "@space (u64/u32)", "cvta", 2, 2},
    {"isspacep", "@space", "isspacep", 2, 2},

    // threads
    {"bar", "?cta sync", "bar_sync", 1, 2},
    {"bar", "?cta arrive", "bar_arrive", 2, 2},
    {"bar", "warp sync", "bar_warp_sync", 1, 1},
    {"barrier", "?cta/aligned sync", "bar_sync", 1, 2},
    {"barrier", "?cta/aligned arrive", "bar_arrive", 2, 2},
    {"activemask", "b32", "activemask", 1, 1},
    {"vote", "sync <ballot> b32", "vote", 3, 3},
    {"vote", "sync <all/any/uni> pred", "vote", 3, 3},
    {"shfl", "sync <up/down/bfly/idx> b32", "shfl", 5, 5},
    {"match", "<any> sync (b32/b64)", "match", 3, 3},
    {"match", "<all> sync (b32/b64)", "match", 3, 3},
    {"redux", "sync <add/min/max> (u32/s32)", "redux", 3, 3},
    {"redux", "sync <and/or/xor> (b32)", "redux", 3, 3},
    {"elect", "sync", "elect", 2, 2},
    {"nanosleep", "u32", "nanosleep", 1, 1},
    {"trap", "", "trap", 0, 0},
    {"brkpt", "", "trap", 0, 0},
    {"griddepcontrol", "wait/launch_dependents", "nothing", 0, 0},

    // whole numbers and bits
    {"mov", "(b16/u16/s16/b32/u32/s32/f32/b64/u64/s64/f64/pred)", "mov", 2, 2},
    {"add", "[sat] " TUNESMITH_WHOLE, "add_whole", 3, 3},
    {"sub", "[sat] " TUNESMITH_WHOLE, "sub_whole", 3, 3},
    {"add", "cc " TUNESMITH_CARRIED, "add_cc", 3, 3},
    {"addc", "cc " TUNESMITH_CARRIED, "addc_cc", 3, 3},
    {"addc", TUNESMITH_CARRIED, "addc", 3, 3},
    {"sub", "cc " TUNESMITH_CARRIED, "sub_cc", 3, 3},
    {"subc", "cc " TUNESMITH_CARRIED, "subc_cc", 3, 3},
    {"subc", TUNESMITH_CARRIED, "subc", 3, 3},
    {"mul", "lo " TUNESMITH_WHOLE, "mul_low", 3, 3},
    {"mul", "hi " TUNESMITH_WHOLE, "mul_high", 3, 3},
    {"mul", "wide (u16/s16/u32/s32)", "mul_wide", 3, 3},
    {"mad", "lo " TUNESMITH_WHOLE, "mad_low", 4, 4},
    {"mad", "hi " TUNESMITH_WHOLE, "mad_high", 4, 4},
    {"mad", "wide (u16/s16/u32/s32)", "mad_wide", 4, 4},
    {"mad", "lo cc " TUNESMITH_CARRIED, "mad_cc_low", 4, 4},
    {"mad", "hi cc " TUNESMITH_CARRIED, "mad_cc_high", 4, 4},
    {"madc", "lo " TUNESMITH_CARRIED, "madc_low", 4, 4},
    {"madc", "hi " TUNESMITH_CARRIED, "madc_high", 4, 4},
    {"madc", "lo cc " TUNESMITH_CARRIED, "madc_cc_low", 4, 4},
    {"madc", "hi cc " TUNESMITH_CARRIED, "madc_cc_high", 4, 4},
    {"mul24", "lo (u32/s32)", "mul24_lo", 3, 3},
    {"mad24", "lo (u32/s32)", "mad24_lo", 4, 4},
    {"div", TUNESMITH_WHOLE, "div_whole", 3, 3},
    {"rem", TUNESMITH_WHOLE, "rem_whole", 3, 3},
    {"min", TUNESMITH_WHOLE, "min_whole", 3, 3},
    {"max", TUNESMITH_WHOLE, "max_whole", 3, 3},
    {"abs", "(s16/s32/s64)", "abs_whole", 2, 2},
    {"neg", "(s16/s32/s64)", "neg_whole", 2, 2},
    {"sad", TUNESMITH_WHOLE, "sad", 4, 4},
    {"vabsdiff4", "u32 u32 u32 add", "vabsdiff4_add", 4, 4},
    {"dp4a", "(u32/s32) (u32/s32)", "dp4a", 4, 4},
    {"and", "(pred/b16/b32/b64)", "bit_and", 3, 3},
    {"or", "(pred/b16/b32/b64)", "bit_or", 3, 3},
    {"xor", "(pred/b16/b32/b64)", "bit_xor", 3, 3},
    {"not", "(pred/b16/b32/b64)", "bit_not", 2, 2},
    {"cnot", TUNESMITH_BITS, "cnot", 2, 2},
    {"shl", TUNESMITH_BITS, "shl", 3, 3},
    {"shr", "(b16/b32/b64/u16/u32/u64/s16/s32/s64)", "shr", 3, 3},
    {"shf", "<l/r> <wrap/clamp> b32", "shf", 4, 4},
    {"lop3", "b32", "lop3", 5, 5},
    {"prmt", "b32", "prmt", 4, 4},
    {"bfe", "(u32/s32/u64/s64)", "bfe", 4, 4},
    {"bfi", "(b32/b64)", "bfi", 5, 5},
    {"popc", "(b32/b64)", "popc", 2, 2},
    {"clz", "(b32/b64)", "clz", 2, 2},
    {"brev", "(b32/b64)", "brev", 2, 2},
    {"bfind", "[shiftamt] (u32/s32/u64/s64)", "bfind", 2, 2},
    {"selp", "(b16/u16/s16/b32/u32/s32/f32/b64/u64/s64/f64)", "selp", 4, 4},
    {"slct", "(b16/u16/s16/b32/u32/s32/f32/b64/u64/s64/f64) (s32/f32)", "slct", 4, 4},
    {"setp", "@compare ?ftz (b16/u16/s16/b32/u32/s32/b64/u64/s64/f16/bf16/f32/f64)", "compare", 3, 3},
    {"setp", "@compare <and/or/xor> ?ftz (b16/u16/s16/b32/u32/s32/b64/u64/s64/f16/bf16/f32/f64)", "compare",
     4, 4},
    {"set", "@compare ?ftz (u32/s32/f32) (b32/u32/s32/b64/u64/s64/f32/f64)", "set_if", 3, 3},

    // floating-point numbers
    {"add", "@round [ftz] [sat] " TUNESMITH_FLOATS, "add", 3, 3},
    {"sub", "@round [ftz] [sat] " TUNESMITH_FLOATS, "sub", 3, 3},
    {"mul", "@round [ftz] [sat] " TUNESMITH_FLOATS, "mul", 3, 3},
    {"fma", "@round [ftz] [sat] [relu] " TUNESMITH_FLOATS, "fma", 4, 4},
    {"mad", "@round [ftz] [sat] [relu] (f32/f64)", "fma", 4, 4},
    {"div", "@round ?approx/full [ftz] =false (f32/f64)", "div", 3, 3},
    {"min", "[ftz] [NaN] (f32/f64/f16/bf16/f16x2/bf16x2)", "min", 3, 3},
    {"max", "[ftz] [NaN] (f32/f64/f16/bf16/f16x2/bf16x2)", "max", 3, 3},
    {"abs", "@round [ftz] (f32/f64/f16/bf16/f16x2/bf16x2)", "abs", 2, 2},
    {"neg", "@round [ftz] (f32/f64/f16/bf16/f16x2/bf16x2)", "neg", 2, 2},
    {"rcp", "@round ?approx [ftz] (f32/f64)", "rcp", 2, 2},
    {"sqrt", "@round ?approx [ftz] (f32/f64)", "sqrt", 2, 2},
    {"rsqrt", "@round approx [ftz] (f32/f64)", "rsqrt", 2, 2},
    {"ex2", "@round approx [ftz] (f32/f16/f16x2/bf16/bf16x2)", "ex2", 2, 2},
    {"lg2", "@round approx [ftz] (f32)", "lg2", 2, 2},
    {"sin", "@round approx [ftz] (f32)", "sin", 2, 2},
    {"cos", "@round approx [ftz] (f32)", "cos", 2, 2},
    {"tanh", "@round approx [ftz] (f32/f16/f16x2/bf16/bf16x2)", "tanh", 2, 2},
    {"copysign", "(f32/f64)", "copysign", 3, 3},
    {"cvt", "@round [relu] (f16x2/bf16x2) (f32)", "cvt_pair", 3, 3},
    {"cvt", "@round [ftz] [sat] [relu] (tf32) (f32)", "cvt", 2, 2},
    {"cvt", "@round [ftz] [sat] [relu] " TUNESMITH_NUMBERS " " TUNESMITH_NUMBERS, "cvt", 2, 2},
};

constexpr std::string_view special_registers[] = {
    "%tid.x",       "%tid.y",          "%tid.z",         "%ntid.x",      "%ntid.y",   "%ntid.z",
    "%ctaid.x",     "%ctaid.y",        "%ctaid.z",       "%nctaid.x",    "%nctaid.y", "%nctaid.z",
    "%laneid",      "%warpid",         "%nwarpid",       "%smid",        "%nsmid",    "%lanemask_eq",
    "%lanemask_lt", "%lanemask_le",    "%lanemask_gt",   "%lanemask_ge", "%clock",    "%clock64",
    "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"};

struct PtxRegister {
  std::string_view type, cpp;
};
constexpr PtxRegister ptx_registers[] = {
    {"pred", "bool"},
    {"b8", "unsigned short"},
    {"u8", "unsigned short"},
    {"s8", "unsigned short"},
    {"b16", "unsigned short"},
    {"u16", "unsigned short"},
    {"s16", "unsigned short"},
    {"f16", "unsigned short"},
    {"bf16", "unsigned short"},
    {"b32", "unsigned"},
    {"u32", "unsigned"},
    {"s32", "unsigned"},
    {"f32", "unsigned"},
    {"f16x2", "unsigned"},
    {"bf16x2", "unsigned"},
    {"b64", "unsigned long long"},
    {"u64", "unsigned long long"},
    {"s64", "unsigned long long"},
    {"f64", "unsigned long long"},
};

// PtxModifiers and the constants of ptx_operands.h; the first is what holds without a modifier.
struct PtxMeaning {
  std::string_view modifier, constant;
};
constexpr PtxMeaning ptx_orders[] = {{"", "Order::weak"},
                                     {"weak", "Order::weak"},
                                     {"volatile", "Order::volatile_access"},
                                     {"relaxed", "Order::relaxed"},
                                     {"acquire", "Order::acquire"},
                                     {"release", "Order::release"},
                                     {"acq_rel", "Order::acq_rel"},
                                     {"sc", "Order::sc"}};
constexpr PtxMeaning ptx_scopes[] = {{"", "Scope::gpu"},
                                     {"cta", "Scope::cta"},
                                     {"gpu", "Scope::gpu"},
                                     {"cluster", "Scope::cluster"},
                                     {"sys", "Scope::sys"}};
constexpr PtxMeaning ptx_spaces[] = {{"", "Space::generic"},
                                     {"global", "Space::global"},
                                     {"shared", "Space::shared"},
                                     {"shared::cta", "Space::shared"}};
constexpr PtxMeaning ptx_rounds[] = {{"", "Round::none"},   {"rn", "Round::rn"},   {"rz", "Round::rz"},
                                     {"rm", "Round::rm"},   {"rp", "Round::rp"},   {"rna", "Round::rna"},
                                     {"rni", "Round::rni"}, {"rzi", "Round::rzi"}, {"rmi", "Round::rmi"},
                                     {"rpi", "Round::rpi"}};
constexpr std::string_view comparisons[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                            "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

std::vector<std::string_view> ptx_split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool has_ptx_word(std::string_view choices, std::string_view word) {
  const auto all = ptx_split(choices, '/');
  return std::find(all.begin(), all.end(), word) != all.end();
}

// The text between the brackets of an element of a pattern: "(f16/f32)".
std::string_view ptx_inner(std::string_view element) { return element.substr(1, element.size() - 2); }

std::string ptx_named(std::string_view name) { return "tunesmith_ptx::" + std::string(name); }

// "m16n8k8" as template arguments.
std::string ptx_shape(std::string_view shape) {
  std::string made;
  for (const char c : shape.substr(1)) made += c == 'n' || c == 'k' ? std::string(", ") : std::string(1, c);
  return made;
}

template <std::size_t N>
const PtxMeaning* meaning_of(const PtxMeaning (&all)[N], std::string_view word) {
  const auto* const found = std::find_if(std::begin(all), std::end(all),
                                         [&](const PtxMeaning& one) { return one.modifier == word; });
  return found == std::end(all) ? nullptr : found;
}

// The modifiers of an instruction, of which a pattern takes one after the other.
class PtxModifiers {
 public:
  explicit PtxModifiers(std::vector<std::string_view> words) : words_(std::move(words)) {}

  // Takes the first that fits; empty: none does.
  template <typename Fits>
  std::string_view take(const Fits& fits) {
    const auto found = std::find_if(words_.begin(), words_.end(), fits);
    if (found == words_.end()) return {};
    const std::string_view word = *found;
    words_.erase(found);
    return word;
  }
  std::string_view take_of(std::string_view choices) {
    return take([&](std::string_view word) { return has_ptx_word(choices, word); });
  }
  template <std::size_t N>
  std::string take_meaning(const PtxMeaning (&all)[N]) {
    const std::string_view word = take([&](std::string_view one) { return meaning_of(all, one) != nullptr; });
    return ptx_named(meaning_of(all, word)->constant);
  }
  bool is_empty() const { return words_.empty(); }

 private:
  std::vector<std::string_view> words_;
};

std::optional<std::string> matched_ptx(const PtxInstruction& one, PtxModifiers modifiers) {
  std::string function = ptx_named(one.function);
  std::vector<std::string> arguments;
  for (const std::string_view element : ptx_split(one.modifiers, ' ')) {
    constexpr std::string_view shape = "@shape";
    std::string_view word = "optional";
    if (element == "@order") {
      arguments.push_back(modifiers.take_meaning(ptx_orders));
    } else if (element == "@scope") {
      arguments.push_back(modifiers.take_meaning(ptx_scopes));
    } else if (element == "@space") {
      arguments.push_back(modifiers.take_meaning(ptx_spaces));
    } else if (element == "@round") {
      arguments.push_back(modifiers.take_meaning(ptx_rounds));
    } else if (element == "@compare") {
      word = modifiers.take([](std::string_view each) {
        return std::find(std::begin(comparisons), std::end(comparisons), each) != std::end(comparisons);
      });
      arguments.push_back(ptx_named("Is_") + std::string(word));
    } else if (element.starts_with(shape)) {
      word = modifiers.take_of(ptx_inner(element.substr(shape.size())));
      if (!word.empty()) arguments.push_back(ptx_shape(word));
    } else if (element.front() == '?') {
      while (!modifiers.take_of(element.substr(1)).empty()) {
      }
    } else if (element.front() == '[') {
      arguments.emplace_back(modifiers.take_of(ptx_inner(element)).empty() ? "false" : "true");
    } else if (element.front() == '<') {
      word = modifiers.take_of(ptx_inner(element));
      function += "_" + std::string(word);
    } else if (element.front() == '=') {
      arguments.emplace_back(element.substr(1));
    } else if (element.front() == '(') {
      word = modifiers.take_of(ptx_inner(element));
      arguments.push_back(ptx_named(word));
    } else {
      word = modifiers.take_of(element);
    }
    if (word.empty()) return std::nullopt;
  }
  if (!modifiers.is_empty()) return std::nullopt;
  for (std::size_t n = 0; n < arguments.size(); ++n) function += (n == 0 ? "<" : ", ") + arguments[n];
  return function + (arguments.empty() ? "" : ">");
}

}  // namespace

std::optional<PtxCall> ptx_call(std::string_view words, std::size_t operands) {
  std::vector<std::string_view> parts = ptx_split(words, '.');
  if (parts.empty()) return std::nullopt;
  const std::string_view name = parts.front();
  parts.erase(parts.begin());
  for (const PtxInstruction& one : ptx_instructions) {
    if (one.name != name || operands < one.least || operands > one.most) continue;
    if (const auto function = matched_ptx(one, PtxModifiers(parts)))
      return PtxCall{.function = *function, .takes_vectors = one.takes_vectors};
  }
  return std::nullopt;
}

std::string ptx_special(std::string_view name) {
  if (std::find(std::begin(special_registers), std::end(special_registers), name) ==
      std::end(special_registers))
    return "";
  std::string function = ptx_named("special_") + std::string(name.substr(1));
  std::replace(function.begin(), function.end(), '.', '_');
  return function + "()";
}

std::string_view ptx_register(std::string_view type) {
  const auto* const found = std::find_if(std::begin(ptx_registers), std::end(ptx_registers),
                                         [&](const PtxRegister& one) { return one.type == type; });
  return found == std::end(ptx_registers) ? std::string_view() : found->cpp;
}

}  // namespace tunesmith
