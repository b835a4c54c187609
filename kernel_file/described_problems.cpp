// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "generator/error.h"
#include "generator/random.h"
#include "kernel_file/described_parts.h"

namespace tunesmith {
namespace {

double elements_of(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  double all = 0;
  for (const DescribedArray& array : facts->description.arrays) {
    if (array.is_workspace) continue;
    std::vector<std::int64_t> extents;
    static_cast<void>(extents_of(*facts, array, values, extents));
    double elements = 1;
    for (const std::int64_t extent : extents) elements *= static_cast<double>(extent);
    if (array.is_of_structs()) {  // their numbers, not their bytes
      std::int64_t numbers = 0;
      for (const StructMember& one : array.record.members) numbers += one.numbers();
      elements *= static_cast<double>(numbers) / static_cast<double>(array.record.bytes);
    }
    all += elements;
  }
  return all;
}

// Small sizes at and around multiples of usual tiles and vector widths.
constexpr std::array<std::int64_t, 20> awkward = {1,  2,  3,  4,  5,  7,  8,   15,  16,  17,
                                                  31, 32, 33, 63, 64, 65, 100, 127, 129, 192};
constexpr double most_of_a_companion = 1 << 17;  // elements of all arrays; operations: 100 times as many
constexpr std::size_t drawn_companions = 14;
constexpr int most_draws = 400;

bool is_small(const Facts& facts, const Problem& problem, double times = 1) {
  return elements_of(facts, problem) <= times * most_of_a_companion &&
         flops_of(facts, problem) <= 100 * most_of_a_companion;
}

// Returns the sizes one below, at and one above each tile, and one above two tiles. A tile is a value of an
// axis or a product of values of two axes.
std::vector<std::int64_t> around_tiles(const Description& description) {
  constexpr std::int64_t most = 4096;
  std::map<std::int64_t, std::set<const DescribedAxis*>> axes_of;  // the axes that have the value
  for (const DescribedAxis& axis : description.axes)
    for (const std::int64_t value : axis.values)
      if (value > 1 && value <= most) axes_of[value].insert(&axis);
  std::set<std::int64_t> tiles;
  for (const auto& [value, axes] : axes_of) {
    tiles.insert(value);
    for (const auto& [factor, others] : axes_of) {
      if (factor > most / value) break;
      if (axes.size() > 1 || others.size() > 1 || axes != others) tiles.insert(value * factor);
    }
  }
  std::vector<std::int64_t> around;
  for (const std::int64_t tile : tiles) around.insert(around.end(), {tile - 1, tile, tile + 1, 2 * tile + 1});
  return around;
}

UsualSizes range_of(const Parameter& parameter) {
  return parameter.usual.value_or(UsualSizes{parameter.minimum, parameter.maximum});
}

// True of an integer that is not named in `fixed`.
bool is_free(const Parameter& parameter, const std::vector<std::string>& fixed) {
  return parameter.is_integer() && std::find(fixed.begin(), fixed.end(), parameter.name) == fixed.end();
}

// Returns the problem with other values of its free parameters, within their usual ranges.
template <typename SizeOf>
Problem of_integers(const Facts& facts, const Problem& problem, const std::vector<std::string>& fixed,
                    SizeOf&& size_of) {
  Problem one = problem;
  for (const Parameter& parameter : facts->description.parameters) {
    if (!is_free(parameter, fixed)) continue;
    const UsualSizes range = range_of(parameter);
    one.set(parameter.name, std::clamp<std::int64_t>(size_of(parameter), range.least, range.most));
  }
  return one;
}

// Returns small allowed problems with awkward sizes, the same ones on each call. Parameters named in `fixed`
// keep their values.
std::vector<Problem> drawn(const Facts& facts, const Problem& problem,
                           const std::vector<std::string>& fixed) {
  std::vector<Problem> found;
  Random random(2);
  const std::vector<std::int64_t> around = around_tiles(facts->description);
  std::size_t count = 0;  // the number of these parameters
  for (const Parameter& one : facts->description.parameters) count += is_free(one, fixed) ? 1 : 0;
  const auto few = [&] { return awkward[1 + random.below(awkward.size() - 1)]; };
  for (int draw = 0; draw < most_draws && found.size() < drawn_companions; ++draw) {
    // First all sizes are 1; then each alone is at its least; then alternately any small sizes, and one size
    // around the tiles.
    const auto at = static_cast<std::size_t>(draw);
    const std::size_t chosen = count > 0 ? random.below(count) : 0;
    std::size_t n = 0;
    Problem one = of_integers(facts, problem, fixed, [&](const Parameter&) {
      const std::size_t place = n++;
      if (at == 0 || (at <= count && place == at - 1)) return std::int64_t{1};
      if (at <= count) return few();
      if (at % 2 == 0 && place == chosen && !around.empty()) return around[random.below(around.size())];
      return awkward[random.below(awkward.size())];
    });
    if (one == problem || std::find(found.begin(), found.end(), one) != found.end()) continue;
    if (why_not(facts, one).empty() && is_small(facts, one)) found.push_back(std::move(one));
  }
  // A rule may ask for whole blocks of several tiles.
  constexpr std::size_t enough = 3;
  for (int draw = 0; draw < most_draws && found.size() < enough && !around.empty(); ++draw) {
    Problem one = of_integers(facts, problem, fixed, [&](const Parameter&) {
      const std::int64_t tile = around[random.below(around.size() / 4) * 4 + 1];
      return random.below(2) == 0 ? tile * static_cast<std::int64_t>(1 + random.below(16))
                                  : awkward[random.below(awkward.size())];
    });
    if (one == problem || std::find(found.begin(), found.end(), one) != found.end()) continue;
    if (why_not(facts, one).empty() && is_small(facts, one)) found.push_back(std::move(one));
  }
  // A rule may ask for what no draw meets, such as (n - 2) % 32 == 0.
  constexpr std::int64_t largest = 600;
  for (std::int64_t size = 2; size <= largest && found.empty(); ++size) {
    Problem one = of_integers(facts, problem, fixed, [&](const Parameter&) { return size; });
    if (one != problem && why_not(facts, one).empty() && is_small(facts, one))
      found.push_back(std::move(one));
  }
  return found;
}

}  // namespace

std::string why_not(const Facts& facts, const Problem& problem) {
  const std::vector<std::int64_t> values = values_of(*facts, problem);
  const Description& description = facts->description;
  const std::string of = "The " + description.name + " problem " + problem.text() + " is not allowed: ";
  for (const DescribedRule& rule : description.allowed) {
    const IntegerExpression::Result result = value_of(rule.holds, *facts, values);
    if (!result.error.empty()) return of + result.error;
    if (result.value == 0) return of + rule.why;
  }
  for (const DescribedArray& array : description.arrays) {
    if (array.is_workspace) continue;
    std::vector<std::int64_t> extents;
    if (const std::string why = extents_of(*facts, array, values, extents); !why.empty()) return of + why;
    std::vector<DescribedValues> all = array.values;
    for (const auto& of_member : array.member_values)
      all.insert(all.end(), of_member.begin(), of_member.end());
    for (const DescribedValues& held : all)
      for (const auto& bound : {held.least, held.most}) {
        if (!bound) continue;
        if (const std::string why = value_of(*bound, *facts, values).error; !why.empty()) return of + why;
      }
  }
  if (description.flops) {
    if (const std::string& why = value_of(*description.flops, *facts, values).error; !why.empty())
      return of + why;
  }
  const std::string why = why_no_launch(facts, problem);
  return why.empty() ? "" : of + why;
}

double flops_of(const Facts& facts, const Problem& problem) {
  if (!facts->description.flops) return elements_of(facts, problem);
  return static_cast<double>(value_of(*facts->description.flops, *facts, values_of(*facts, problem)).value);
}

// ---- Generated companion problems

namespace {

// Returns small problems of which one size is beyond what 16 bits can count, or as large as its range allows:
// an index of 16 bits wraps there. No size with which a thread's work may grow if nothing says how far: the
// host might take minutes.
std::vector<Problem> beyond_16_bits(const Facts& facts, const Problem& problem) {
  constexpr std::int64_t signed_limit = 1 << 15;
  // Any size, or one that is a multiple of what a rule may ask for; likewise those of the other parameters.
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 4> sizes = {
      {{66'773, 3}, {66'773, 1}, {66'816, 16}, {66'816, 1}}};
  constexpr std::size_t most = 3;
  constexpr double times = 4;  // its arrays may be larger than other companions'
  constexpr double most_threads = 1 << 20;
  std::vector<Problem> found;
  const auto& fixed = facts->description.compiled_in;
  for (const Parameter& large : facts->description.parameters) {
    if (found.size() == most || !is_free(large, fixed) || range_of(large).most <= signed_limit) continue;
    if (!facts->description.flops && facts->description.of_loops.contains(large.name)) continue;
    for (const auto& [beyond, other] : sizes) {
      Problem one =
          of_integers(facts, problem, fixed, [&, beyond = beyond, other = other](const Parameter& parameter) {
            return parameter.name == large.name ? beyond : other;
          });
      if (!why_not(facts, one).empty() || !is_small(facts, one, times) ||
          threads_of(facts, one) > most_threads)
        continue;
      found.push_back(std::move(one));
      break;
    }
  }
  return found;
}

// Returns a problem of more elements than all threads if the grid has a limit that the other problems do not
// reach, such as min(ceil_div(n, BLOCK), 1024): threads go on with further elements there.
std::optional<Problem> beyond_the_grid(const Facts& facts, const Problem& problem) {
  constexpr std::int64_t first = 66'816, last = std::int64_t{1} << 20;
  constexpr double times = 12;  // its arrays may be larger than other companions'
  const auto& fixed = facts->description.compiled_in;
  for (const Parameter& large : facts->description.parameters) {
    if (!is_free(large, fixed)) continue;
    if (!facts->description.flops && facts->description.of_loops.contains(large.name)) continue;
    const auto with = [&](std::int64_t size) {
      return of_integers(facts, problem, fixed,
                         [&](const Parameter& parameter) { return parameter.name == large.name ? size : 1; });
    };
    const auto threads = [&](std::int64_t size) {
      const Problem one = with(size);
      return why_not(facts, one).empty() && std::get<std::int64_t>(*one.find(large.name)) == size
                 ? threads_of(facts, one)
                 : 0;
    };
    if (threads(first) == threads(2 * first)) continue;
    for (std::int64_t size = first; size <= last; size *= 2) {
      if (threads(2 * size) == 0) break;
      const double all = threads(2 * size);
      if (threads(size) < all || all >= static_cast<double>(2 * size)) continue;
      const std::int64_t more = std::min(2 * size, static_cast<std::int64_t>(all) * 5 / 4);
      for (const std::int64_t beyond : {more + 3, more / 16 * 16}) {
        Problem one = with(beyond);
        if (why_not(facts, one).empty() && is_small(facts, one, times)) return one;
      }
      break;
    }
  }
  return std::nullopt;
}

// Returns a small problem for each size that is a multiple of some number in all known ones although no rule
// asks for it: a rule may allow multiples of 2, and the kernel need multiples of 4.
std::vector<Problem> off_the_step(const Facts& facts, const Problem& problem,
                                  const std::vector<Problem>& known) {
  constexpr std::int64_t largest = 130;
  const auto& fixed = facts->description.compiled_in;
  std::vector<Problem> found;
  for (const Parameter& parameter : facts->description.parameters) {
    if (known.empty() || !is_free(parameter, fixed)) continue;
    std::int64_t step = 0;
    for (const Problem& one : known) step = std::gcd(step, one.integer(parameter.name));
    if (step <= 1) continue;
    const UsualSizes range = range_of(parameter);
    for (std::int64_t size = std::max<std::int64_t>(range.least, 2); size <= std::min(range.most, largest);
         ++size) {
      if (size % step == 0) continue;
      Problem one = known.back();
      one.set(parameter.name, size);
      if (one == problem || !why_not(facts, one).empty() || !is_small(facts, one)) continue;
      found.push_back(std::move(one));
      break;
    }
  }
  return found;
}

// Returns small problems with a size that 8 bits cannot count, of the parameters that have none in `known`.
std::vector<Problem> beyond_8_bits(const Facts& facts, const Problem& problem,
                                   const std::vector<Problem>& known) {
  constexpr std::int64_t limit = 255;
  constexpr double most_threads = 1 << 14;  // of the untuned config; others may have many times as many
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> sizes = {{{293, 3}, {272, 16}, {293, 1}}};
  constexpr std::size_t most = 3;
  const auto& fixed = facts->description.compiled_in;
  std::vector<Problem> found;
  for (const Parameter& large : facts->description.parameters) {
    const bool is_there = std::any_of(known.begin(), known.end(), [&](const Problem& one) {
      const Value* const value = one.find(large.name);
      return value != nullptr && std::holds_alternative<std::int64_t>(*value) &&
             std::get<std::int64_t>(*value) > limit;
    });
    if (found.size() == most || !is_free(large, fixed) || is_there || range_of(large).most <= limit) continue;
    for (const auto& [beyond, other] : sizes) {
      Problem one =
          of_integers(facts, problem, fixed, [&, beyond = beyond, other = other](const Parameter& parameter) {
            return parameter.name == large.name ? beyond : other;
          });
      if (!why_not(facts, one).empty() || !is_small(facts, one) || threads_of(facts, one) > most_threads)
        continue;
      found.push_back(std::move(one));
      break;
    }
  }
  return found;
}

// Returns a small problem of which the product of two sizes is beyond what 16 bits can count, for kernels of
// which no size alone may be: an index of an element wraps there.
std::optional<Problem> product_beyond_16_bits(const Facts& facts, const Problem& problem) {
  constexpr std::int64_t beyond = 65535;
  constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> sizes = {{{293, 3}, {288, 16}, {288, 1}}};
  constexpr double times = 4;  // its arrays may be larger than other companions'
  constexpr double most_threads = 1 << 18;
  const auto& fixed = facts->description.compiled_in;
  std::vector<const Parameter*> large;
  for (const Parameter& one : facts->description.parameters)
    if (is_free(one, fixed) && (facts->description.flops || !facts->description.of_loops.contains(one.name)))
      large.push_back(&one);
  for (std::size_t i = 0; i < large.size(); ++i)
    for (std::size_t j = i + 1; j < large.size(); ++j)
      for (const auto& [size, other] : sizes) {
        const Problem one =
            of_integers(facts, problem, fixed, [&, size = size, other = other](const Parameter& parameter) {
              return &parameter == large[i] || &parameter == large[j] ? size : other;
            });
        const std::int64_t product = std::get<std::int64_t>(*one.find(large[i]->name)) *
                                     std::get<std::int64_t>(*one.find(large[j]->name));
        if (product > beyond && elements_of(facts, one) > static_cast<double>(beyond) &&
            why_not(facts, one).empty() && is_small(facts, one, times) &&
            threads_of(facts, one) <= most_threads)
          return one;
      }
  return std::nullopt;
}

// The end of the parameter's range; a small maximum beyond what is usual is allowed too.
std::int64_t top_of(const Parameter& parameter) {
  constexpr std::int64_t small = 2048;
  return parameter.maximum <= small ? parameter.maximum : range_of(parameter).most;
}

// Returns small problems with a size as large as its range allows, or as is little work, for each size that
// no known one has beyond 16 bits, and the largest problem of all: an index or a sum may be too narrow there
// alone.
std::vector<Problem> at_the_largest(const Facts& facts, const Problem& problem,
                                    const std::vector<Problem>& known) {
  constexpr std::array<std::int64_t, 4> others = {17, 16, 3, 1};
  constexpr std::size_t most = 4;
  constexpr double times = 4;  // its arrays may be larger than other companions'
  constexpr double most_threads = 1 << 18;
  // Threads or elements, of each of which a reference may have a thread, times the large sizes that loops end
  // by.
  constexpr double most_turns = 1 << 23;
  constexpr std::int64_t most_without_loops = 2048;
  constexpr double most_threads_of_part = 1 << 12;  // a thread or block adds what such a size counts
  constexpr std::int64_t most_of_part = 1024;       // a sum of some hundred bytes does not fit into 16 bits
  const auto& fixed = facts->description.compiled_in;
  // All sizes are the largest if `large` is null, else that one is divided by `part`.
  const auto made = [&](const Parameter* large, std::int64_t other,
                        std::int64_t part = 1) -> std::optional<Problem> {
    double turns = 1;
    Problem one = of_integers(facts, problem, fixed, [&](const Parameter& parameter) {
      if (large != nullptr && &parameter != large) return other;
      const std::int64_t size = top_of(parameter) / part;
      // A reference may do more than the kernel's loops or `flops` say.
      if (facts->description.flops || size > most_without_loops ||
          facts->description.of_loops.contains(parameter.name))
        turns *= static_cast<double>(size);
      return size;
    });
    for (const Parameter& parameter : facts->description.parameters)
      if (is_free(parameter, fixed) && (large == nullptr || &parameter == large))
        one.set(parameter.name, top_of(parameter) / part);
    if (one == problem || !why_not(facts, one).empty() || !is_small(facts, one, times)) return std::nullopt;
    const double threads = threads_of(facts, one);
    if (threads > (part == 1 ? most_threads : most_threads_of_part) ||
        std::max(threads, elements_of(facts, one)) * turns > most_turns)
      return std::nullopt;
    return one;
  };
  std::vector<Problem> found;
  const auto reaches = [&](const Parameter& parameter, const Problem& one) {
    constexpr std::int64_t beyond_16_bits = 1 << 16;
    return one.integer(parameter.name) >= std::min(top_of(parameter), beyond_16_bits);
  };
  if (auto whole = made(nullptr, 0)) found.push_back(*std::move(whole));
  for (const Parameter& large : facts->description.parameters) {
    if (!is_free(large, fixed) || found.size() == most) continue;
    const auto is_there = [&](const Problem& one) { return reaches(large, one); };
    if (std::any_of(known.begin(), known.end(), is_there) ||
        std::any_of(found.begin(), found.end(), is_there))
      continue;
    std::optional<Problem> one;
    for (const std::int64_t other : others)
      if (!one) one = made(&large, other);
    if (!one && top_of(large) > most_of_part)
      one = made(&large, 1, (top_of(large) + most_of_part - 1) / most_of_part);
    if (one) found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace

std::vector<Problem> companions_of(const Facts& facts, const Problem& problem) {
  std::vector<Problem> all;
  for (const std::string& text : facts->description.companions) {
    Problem& companion = all.emplace_back(problem);
    const Values given = Values::parse(text);
    for (const auto& [name, value] : given.entries()) companion.set(name, value);
  }
  std::erase_if(all, [&](const Problem& one) { return !why_not(facts, one).empty(); });
  for (Problem& one : drawn(facts, problem, facts->description.compiled_in)) all.push_back(std::move(one));
  for (Problem& one : off_the_step(facts, problem, all)) all.push_back(std::move(one));
  for (Problem& one : beyond_8_bits(facts, problem, all)) all.push_back(std::move(one));
  std::vector<Problem> beyond = beyond_16_bits(facts, problem);
  if (beyond.empty())
    if (auto one = product_beyond_16_bits(facts, problem)) beyond.push_back(*std::move(one));
  for (Problem& one : beyond)
    if (one != problem && std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  if (auto one = beyond_the_grid(facts, problem)) all.push_back(*std::move(one));
  for (Problem& one : at_the_largest(facts, problem, all))
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  return all;
}

// Returns problems for the command `space` and the tests; generated ones if the description names none.
std::vector<std::string> examples_of(const Facts& facts) {
  if (!facts->description.examples.empty()) return facts->description.examples;
  Problem problem;
  for (const Parameter& parameter : facts->description.parameters) {
    if (!parameter.is_integer()) {
      problem.set(parameter.name,
                  parameter.initial ? *parameter.initial : Value(parameter.categories.front()));
    } else {
      const std::int64_t most = parameter.usual ? parameter.usual->most : parameter.maximum;
      const std::int64_t least = parameter.usual ? parameter.usual->least : parameter.minimum;
      problem.set(parameter.name,
                  parameter.initial ? *parameter.initial : Value(std::clamp<std::int64_t>(256, least, most)));
    }
  }
  std::vector<std::string> examples;
  if (why_not(facts, problem).empty()) examples.push_back(problem.text());
  for (const Problem& one : drawn(facts, problem, {})) {
    if (examples.size() < 3) examples.push_back(one.text());
  }
  return examples;
}

}  // namespace tunesmith
