// SPDX-License-Identifier: Apache-2.0
// The launches of a description: one table [launch], or a list of tables [[launch]].
#include <algorithm>

#include "generator/listed.h"
#include "kernel_file/description_reader.h"

namespace tunesmith {
namespace {

constexpr std::size_t most_described = 32;

}  // namespace

void DescriptionReader::choose_kernels(const toml::table& root) {
  std::vector<const toml::table*> tables;
  const toml::node* node = root.get("launch");
  if (node != nullptr && node->is_array()) {
    for (const toml::node& one : list(*node, "launch", "tables, each of which begins with [[launch]]")) {
      if (!one.is_table())
        refuse(&one, "A launch is " + shown(one) + "; it is a table, which begins with [[launch]].");
      tables.push_back(one.as_table());
    }
    if (tables.size() > most_described)
      refuse(node, "There are " + std::to_string(tables.size()) + " launches; at most " +
                       std::to_string(most_described) + " are allowed. One may be repeated, by repeat.");
  } else {
    tables.push_back(table(root, "launch"));
  }
  for (const toml::table* one : tables) {
    // The keys of a launch, or those of the description.
    const auto key = [&](const char* name) {
      const toml::node* own = one != nullptr ? one->get(name) : nullptr;
      const toml::node* whole = root.get(name);
      if (own != nullptr && whole != nullptr && text(*own, name) != text(*whole, name))
        refuse(own, "The launch has " + std::string(name) + " = " + shown(*own) + ", and the description " +
                        shown(*whole) + "; give one of them.");
      return own != nullptr ? own : whole;
    };
    GivenLaunch made{.table = one, .instantiate = instantiate_of(key("instantiate")), .kernel = {}};
    made.kernel =
        chosen_kernel(key("kernel"), made.instantiate, root["reference"]["kernel"].value_or(std::string()));
    launches_.push_back(std::move(made));
  }
}

void DescriptionReader::instantiate_kernels(const toml::table& root, const std::vector<std::string>& dtypes) {
  for (GivenLaunch& one : launches_)
    one.kernel = instantiated(root, one.table, one.kernel, one.instantiate, dtypes);
}

std::size_t DescriptionReader::array_of(const toml::node& node, const std::string& key) const {
  const std::string& name = text(node, key);
  const auto found = std::find_if(made_.arrays.begin(), made_.arrays.end(),
                                  [&](const DescribedArray& one) { return one.name == name; });
  if (found == made_.arrays.end()) {
    std::vector<std::string> names;
    for (const DescribedArray& one : made_.arrays) names.push_back(one.name);
    refuse(&node, key + " is " + name + ", which is not an array; the arrays are " + listed(names) + ".");
  }
  return static_cast<std::size_t>(found - made_.arrays.begin());
}

DescribedSwap DescriptionReader::swap_of(const toml::node& node) const {
  const toml::table* fields = node.as_table();
  if (fields == nullptr)
    refuse(&node,
           "swap is " + shown(node) +
               "; give { from = \"…\", to = \"…\", spare = \"…\" }: the array that the first repetition "
               "reads, the one that the last repetition writes, and a workspace.");
  only_keys(*fields, "swap", {"from", "to", "spare"});
  for (const char* key : {"from", "to", "spare"})
    if (!fields->contains(key)) refuse(&node, std::string("swap has no ") + key + "; it names three arrays.");
  const DescribedSwap made{array_of(*fields->get("from"), "swap.from"),
                           array_of(*fields->get("to"), "swap.to"),
                           array_of(*fields->get("spare"), "swap.spare")};
  const DescribedArray& from = made_.arrays[made.from];
  const DescribedArray& to = made_.arrays[made.to];
  const DescribedArray& spare = made_.arrays[made.spare];
  if (made.from == made.to || made.from == made.spare || made.to == made.spare)
    refuse(&node, "swap names an array twice; from, to and spare are three arrays.");
  if (!spare.is_workspace)
    refuse(fields->get("spare"),
           "swap.spare is " + spare.name +
               ", which is no workspace; give it role = \"workspace\", because it holds "
               "what lies between two repetitions.");
  if (to.role != Role::output && !to.is_workspace)
    refuse(fields->get("to"), "swap.to is " + to.name +
                                  ", which is neither an output nor a workspace, so it cannot be written "
                                  "without being read; give it role = \"output\".");
  for (const DescribedArray* one : {&from, &to, &spare})
    if (!one->type_axis.empty())
      refuse(&node, "The array " + one->name + " of swap has the type " + one->type_axis +
                        ", an axis; arrays that change places have one dtype.");
  for (const DescribedArray* other : {&from, &spare})
    if (other->dtype != to.dtype)
      refuse(&node, "The arrays " + to.name + " and " + other->name +
                        " of swap have other dtypes, so they cannot change places; give them one dtype.");
  return made;
}

void DescriptionReader::read_repeat(const toml::table& given, DescribedLaunch& made) const {
  const toml::node* repeat = given.get("repeat");
  const toml::node* together = given.get("together");
  const toml::node* swap = given.get("swap");
  if (together != nullptr) {
    if (!together->is_boolean())
      refuse(together, "together is " + shown(*together) + "; give true or false.");
    made.is_together = together->as_boolean()->get();
    if (made.is_together && &given == launches_.front().table)
      refuse(together, "The first launch has no launch before it with which it runs together.");
    for (const toml::node* other : {repeat, swap})
      if (made.is_together && other != nullptr)
        refuse(other,
               "A launch that runs together with the one before is repeated as that is, with its swap; give "
               "repeat and swap to the first one.");
  }
  if (repeat != nullptr) made.repeat = expression(*repeat, "repeat", made_.names());
  if (swap != nullptr) {
    if (repeat == nullptr) refuse(swap, "A launch with swap is repeated; add repeat = \"…\".");
    made.swap = swap_of(*swap);
  }
  if (!made.repeat && !made.is_together) return;
  for (const ExpressionName& name : made_.names())
    if (name.name == "step")
      refuse(repeat != nullptr ? repeat : together,
             "A launch is repeated, and step counts its repetitions; give the axis or parameter step another "
             "name.");
}

void DescriptionReader::must_swap() const {
  for (std::size_t first = 0; first < made_.launches.size(); ++first) {
    if (!made_.launches[first].swap) continue;
    const DescribedSwap& swap = *made_.launches[first].swap;
    bool takes_from = false, takes_to = false;
    for (std::size_t n = first; n < made_.launches.size(); ++n) {
      if (n > first && !made_.launches[n].is_together) break;
      for (const DescribedArgument& one : made_.launches[n].arguments) {
        if (one.type != DescribedArgument::Type::array) continue;
        takes_from |= one.array == swap.from;
        takes_to |= one.array == swap.to;
        if (one.array == swap.spare)
          refuse(launches_[n].table, "The launch takes " + made_.arrays[swap.spare].name +
                                         ", the spare array of swap, which stands for other arrays in turn; "
                                         "leave it out of arguments.");
      }
    }
    if (!takes_from || !takes_to)
      refuse(launches_[first].table->get("swap"),
             "The launch does not take " + made_.arrays[takes_from ? swap.to : swap.from].name +
                 ", which swap names; give it to the kernel in arguments.");
  }
}

void DescriptionReader::read_launches() {
  for (const GivenLaunch& one : launches_) {
    DescribedLaunch& made = made_.launches.emplace_back(launch(one.table, "launch", one.kernel));
    const std::size_t step = made_.names().size();
    const auto names_step = [&](const IntegerExpression& expression) { return expression.uses(step); };
    const bool is_extent = std::any_of(made.grid.begin(), made.grid.end(), names_step) ||
                           std::any_of(made.block.begin(), made.block.end(), names_step);
    const bool is_argument =
        std::any_of(made.arguments.begin(), made.arguments.end(), [&](const DescribedArgument& argument) {
          const auto counts = [&](const DescribedNumber& number) {
            return number.expression && names_step(*number.expression);
          };
          return counts(argument.number) ||
                 std::any_of(argument.members.begin(), argument.members.end(),
                             [&](const DescribedMember& member) { return counts(member.number); });
        });
    made.uses_step = is_extent || is_argument || (made.shared_bytes && names_step(*made.shared_bytes));
  }
  must_swap();
}

void DescriptionReader::must_be_written(const toml::table& root) const {
  for (std::size_t i = 0; i < made_.arrays.size(); ++i) {
    const DescribedArray& array = made_.arrays[i];
    if (array.role == Role::input && !array.is_workspace) continue;
    bool is_written = false;
    for (std::size_t n = 0; n < launches_.size(); ++n) {
      is_written |= made_.launches[n].swap && made_.launches[n].swap->spare == i;
      for (std::size_t p = 0; p < launches_[n].kernel.parameters.size(); ++p) {
        const DescribedArgument& one = made_.launches[n].arguments[p];
        const bool is_it = one.type == DescribedArgument::Type::array && one.array == i;
        is_written |= is_it && !launches_[n].kernel.parameters[p].is_const;
      }
    }
    if (!is_written)
      refuse(root["arrays"].as_table()->get(array.name),
             "No kernel can write " + array.name + ", because each takes it as a pointer to const; " +
                 (array.is_workspace ? "a workspace holds only what launches have written there."
                                     : "give it role = \"input\"."));
  }
}

}  // namespace tunesmith
