// SPDX-License-Identifier: Apache-2.0
// Describes the block and the grid.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "generator/c_characters.h"
#include "kernel_file/describer.h"
#include "kernel_file/headers.h"
#include "kernel_file/text_scanner.h"

namespace tunesmith {
int Describer::dimensions() const {
  for (const int i : {2, 1})
    for (const char* of : {"threadIdx", "blockIdx", "blockDim"})
      if (reads_component(of, components_of_dim3[static_cast<std::size_t>(i)])) return i + 1;
  return 1;
}

std::string Describer::block_by_index(std::size_t i) const {
  const auto index = bounds_->whole_index(components_of_dim3[i]);
  const auto product = index ? parsed_expression(index->of_block) : std::nullopt;
  if (!product) return "";
  if (product->kind == HostExpression::Kind::number && product->number >= 1 &&
      product->number <= most_threads)
    return product->text();
  return product->kind == HostExpression::Kind::name && is_axis(product->word) ? product->word : "";
}

std::string Describer::new_block_axis(std::size_t i, std::size_t count) const {
  std::string name = count == 1 ? "BLOCK" : std::string("BLOCK_") + "XYZ"[i];
  while (declared_.contains(name) || words_.contains(name)) name = "T" + name;
  return name;
}

HostExpression Describer::with(const HostExpression& one,
                               const std::map<std::string, HostExpression>& meanings) {
  if (one.kind == HostExpression::Kind::name) {
    const auto found = meanings.find(one.word);
    return found != meanings.end() ? found->second : one;
  }
  HostExpression made = one;
  for (HostExpression& part : made.parts) part = with(part, meanings);
  if (made.kind == HostExpression::Kind::binary) return joined(made.word, made.parts[0], made.parts[1]);
  return made;
}

void Describer::gather_names(const HostExpression& one, std::set<std::string>& names) {
  if (one.kind == HostExpression::Kind::name) names.insert(one.word);
  for (const HostExpression& part : one.parts) gather_names(part, names);
}

void Describer::find_block() {
  std::vector<HostExpression> all;
  if (launch_) all = host_->components(launch_->block, place_, names_);
  for (HostExpression& one : all) one = with(one, meanings_);  // the host's names of template arguments
  const auto name_of = [](const std::string& word) {
    return HostExpression{.kind = HostExpression::Kind::name, .word = word};
  };
  if (all.empty()) {
    const auto dims = static_cast<std::size_t>(dimensions());
    const bool reads_dim = reads_block_size();
    if (launch_) block_comment_ = "the launch is not understood: a guess";
    // Axes with names such as block_size_x, BLOCK_Y or TILE_DIM.
    std::vector<std::string> blocks;
    for (const Axis& one : axes_) {
      const std::string lower = in_lower_case(one.name);
      if (lower.find("block") != std::string::npos || lower.find("thread") != std::string::npos ||
          lower == "wg" || lower.find("work_group") != std::string::npos)
        blocks.push_back(one.name);
    }
    for (std::size_t i = 0; i < dims; ++i) {
      const std::string suffix(1, components_of_dim3[i]);
      const auto fits = std::find_if(blocks.begin(), blocks.end(), [&](const std::string& one) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(one.back()))) == suffix[0];
      });
      if (fits != blocks.end()) {
        block_.push_back(*fits);
      } else if (blocks.size() == 1 && !reads_dim) {
        block_.push_back(blocks.front());
      } else if (reads_component("blockDim", components_of_dim3[i]) || (reads_dim && i == 0)) {
        const std::string name = new_block_axis(i, dims);
        const std::int64_t value = dims == 1 ? 256 : i == 0 ? 32 : i == 1 ? 8 : 1;
        add_axis({name, around(value, most_threads), ""});
        block_.push_back(name);
      } else if (const std::string found = block_by_index(i); !found.empty()) {
        block_.push_back(found);
      } else {
        block_.emplace_back("?");
      }
    }
    if (!launch_ && std::find(block_.begin(), block_.end(), "?") == block_.end())
      block_comment_ = "no launch in the file says it";
    return;
  }
  static const std::regex warp("[Ww][Aa][Rr][Pp]");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HostExpression& one = all[i];
    std::set<std::string> used;
    gather_names(one, used);
    const bool is_of_axes =
        !used.empty() && std::all_of(used.begin(), used.end(), [&](const std::string& name) {
          return is_axis(name) || constants_.contains(name);
        });
    std::optional<std::int64_t> value;
    if (one.kind == HostExpression::Kind::number) value = one.number;
    if (one.kind == HostExpression::Kind::name && names_.contains(one.word))
      value = names_.at(one.word).value;
    const bool reads_dim = reads_component("blockDim", components_of_dim3[i]) ||
                           (all.size() == 1 && reads_block_size() && !reads("blockDim"));
    const bool is_of_sizes =
        !used.empty() &&
        std::all_of(used.begin(), used.end(), [&](const std::string& name) { return sizes_.contains(name); });
    const bool is_warp =
        one.kind == HostExpression::Kind::name && std::regex_search(one.word, warp) && !is_axis(one.word);
    if (is_of_axes && !is_warp) {
      for (const std::string& name : used)
        if (!is_axis(name)) add_constant_axis(name);
      block_.push_back(one.text());
      meanings_.emplace(one.word, one);
    } else if (value && is_warp) {
      block_.push_back(std::to_string(*value));
      meanings_[one.word] = {.kind = HostExpression::Kind::number, .number = *value, .word = {}};
    } else if (!value && reads_dim && one.kind != HostExpression::Kind::name && are_free(used)) {
      // An expression of the host's own sizes, which become axes.
      std::map<std::string, HostExpression> values;
      for (const std::string& name : used) {
        if (names_[name].value && std::regex_search(name, warp))
          values[name] = {.kind = HostExpression::Kind::number, .number = *names_[name].value, .word = {}};
        else
          add_axis({name, around(names_[name].value.value_or(256), most_threads),
                    names_[name].value ? "" : "the launch takes it"});
      }
      block_.push_back(with(one, values).text());
      for (const auto& [name, of] : values) meanings_[name] = of;
    } else if (is_of_sizes && one.kind == HostExpression::Kind::name && adopt(one)) {
      block_.push_back(one.word);
      if (sizes_[one.word].value) value = sizes_[one.word].value;
      sizes_[one.word].given =
          "[1, " + std::to_string(std::min(value.value_or(most_threads), most_threads)) + "]";
      sizes_[one.word].comment = "a block has as many threads";
    } else if (const auto same = meanings_.find(one.word);
               reads_dim && one.kind == HostExpression::Kind::name && same != meanings_.end() &&
               is_axis(same->second.word)) {
      // dim3 block(threads, threads): one size for both
      block_.push_back(same->second.word);
      numbers_[i] = value.value_or(1);
      block_names_[i] = same->second.word;
    } else if (reads_dim) {
      const bool is_constant = one.kind == HostExpression::Kind::name && names_.contains(one.word) &&
                               names_.at(one.word).is_constant && is_identifier_here(one.word);
      const std::string name = is_constant ? one.word : new_block_axis(i, all.size());
      std::int64_t now = value.value_or(all.size() == 1 ? 256 : i == 0 ? 32 : 8);
      if (now < 1 || now > most_threads) now = 256;
      Axis axis{name, around(now, most_threads), ""};
      if (now == 1) axis.values = {1};
      if (!value) axis.comment = "the launch takes " + one.text();
      add_axis(std::move(axis));
      block_.push_back(name);
      if (one.kind == HostExpression::Kind::name) meanings_[one.word] = name_of(name);
      if (!value && !one.parts.empty()) block_expressions_.emplace_back(one, name);
      numbers_[i] = now;
      block_names_[i] = name;
    } else if (value) {
      block_.push_back(std::to_string(*value));
      if (one.kind == HostExpression::Kind::name)
        meanings_[one.word] = {.kind = HostExpression::Kind::number, .number = *value, .word = {}};
    } else if (const std::string name = block_constant(); !name.empty() && all.size() == 1) {
      if (!is_axis(name)) add_constant_axis(name);
      block_.push_back(name);
      block_comment_ = "the launch takes " + one.text();
    } else {
      block_.emplace_back("?");
      block_comment_ = "the launch takes " + one.text();
    }
  }
  // Components of the block's variable are the axes, in blocks = dim3(n / threads.x) too.
  static const std::regex plain_name(R"(\s*[A-Za-z_]\w*\s*)");
  if (launch_ && std::regex_match(launch_->block, plain_name))
    for (std::size_t i = 0; i < block_.size() && i < components_of_dim3.size(); ++i) {
      std::string block = launch_->block;
      std::erase_if(block, is_space);
      if (is_axis(block_[i])) meanings_.emplace(block + "_" + components_of_dim3[i], name_of(block_[i]));
    }
}

std::string Describer::block_constant() const {
  static const std::regex words("block|thread", std::regex::icase);
  std::string found;
  for (const auto& [name, value] : constants_) {
    if (!std::regex_search(name, words) || value < 1 || value > most_threads) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

bool Describer::are_free(const std::set<std::string>& names) const {
  return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return names_.contains(name) && !sizes_.contains(name) && !is_axis(name) && is_identifier_here(name);
  });
}

bool Describer::is_identifier_here(const std::string& name) {
  return name.size() <= 60 && !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

HostExpression Describer::with_block(const HostExpression& one, std::size_t i) const {
  for (const auto& [expression, name] : block_expressions_)  // min(n, 1024) threads
    if (one == expression) return {.kind = HostExpression::Kind::name, .word = name};
  HostExpression made = one;
  for (HostExpression& part : made.parts) part = with_block(part, i);
  const bool divides = (made.kind == HostExpression::Kind::call && made.word == "ceil_div") ||
                       (made.kind == HostExpression::Kind::binary && made.word == "/");
  const auto number = numbers_.find(i);
  if (divides && number != numbers_.end() && number->second > 1 && made.parts[1].is_number(number->second))
    made.parts[1] = {.kind = HostExpression::Kind::name, .word = block_names_.at(i)};
  return made;
}

HostExpression Describer::without_axes(const HostExpression& one) const {
  std::map<std::string, HostExpression> values;
  for (const Axis& axis : axes_)
    values[axis.name] = {.kind = HostExpression::Kind::number, .number = axis.values.front(), .word = {}};
  return with(one, values);
}

bool Describer::adopt(const HostExpression& one) {
  std::set<std::string> used;
  gather_names(one, used);
  for (const std::string& name : used) {
    if (sizes_.contains(name)) sizes_[name].is_extent = true;
    if (sizes_.contains(name) || is_axis(name)) continue;
    static const std::set<std::string> reserved = {"weight", "dtype", "dtype_bytes",
                                                   "min",    "max",   "ceil_div"};
    if (!is_identifier_here(name) || reserved.contains(name)) return false;
    Size size;
    size.is_extent = true;
    if (const auto found = constants_.find(name); found != constants_.end()) {
      if (!is_literal(name)) return false;
      size.value = found->second;
      compiled_in_.push_back(name);
    } else if (const auto host = names_.find(name); host != names_.end()) {
      size.value = host->second.value;
    } else {
      return false;
    }
    sizes_[name] = size;
    order_.push_back(name);
  }
  return true;
}

void Describer::grid_by_index(std::size_t i) {
  const auto blocks = bounds_->blocks(components_of_dim3[i]);
  if (!blocks) {
    if (i == 0 && !reads("blockIdx")) {
      grid_.emplace_back("1");
    } else {
      grid_.emplace_back("?");
      grid_comment_ = "the number of blocks";
    }
    return;
  }
  std::string of_block = blocks->of_block;
  for (std::size_t j = 0; j < block_.size(); ++j) {
    const std::string dim = std::string("blockDim.") + components_of_dim3[j];
    for (std::size_t at; (at = of_block.find(dim)) != std::string::npos;)
      of_block.replace(at, dim.size(),
                       block_[j].find(' ') == std::string::npos ? block_[j] : "(" + block_[j] + ")");
  }
  const auto per_block = parsed_expression(of_block), size = parsed_expression(blocks->size);
  std::set<std::string> used;
  if (per_block) gather_names(*per_block, used);
  const bool is_known = per_block && std::all_of(used.begin(), used.end(), [&](const std::string& name) {
                          return is_axis(name) || sizes_.contains(name) || constants_.contains(name);
                        });
  if (is_known && size && adopt(*size) && adopt_constants(used)) {
    grid_.push_back(of_block == "1" ? size->text() : "ceil_div(" + size->text() + ", " + of_block + ")");
    grid_comment_ = "from the kernel's indices";
  } else {
    grid_.emplace_back("?");
    grid_comment_ = "the number of blocks";
  }
}

bool Describer::is_of_another_size(const HostExpression& one, std::size_t i) const {
  const bool rounds_up = one.kind == HostExpression::Kind::call && one.word == "ceil_div";
  const auto own = bounds_->blocks(components_of_dim3[i]);
  const auto size = own ? parsed_expression(own->size) : std::nullopt;
  return rounds_up && size && size->kind == HostExpression::Kind::name &&
         one.parts[0].kind == HostExpression::Kind::name && size->word != one.parts[0].word &&
         bounds_->is_size(size->word) && bounds_->is_size(one.parts[0].word);
}

void Describer::find_grid() {
  std::vector<HostExpression> all;
  if (launch_) all = host_->components(launch_->grid, place_, names_);
  const auto count = std::max<std::size_t>(all.size(), static_cast<std::size_t>(dimensions()));
  for (std::size_t i = 0; i < count; ++i) {
    if (!all.empty()) {
      if (i >= all.size()) break;
      const HostExpression one = with(with_block(all[i], i), meanings_);
      std::set<std::string> used;
      gather_names(one, used);
      const bool has_own = std::any_of(used.begin(), used.end(), [&](const std::string& name) {
        return !sizes_.contains(name) && !is_axis(name);
      });
      // A number of blocks that the host chooses.
      std::optional<std::int64_t> value;
      if (one.kind == HostExpression::Kind::number) value = one.number;
      if (one.kind == HostExpression::Kind::name && has_own) value = names_[one.word].value;
      if (value && reads_component("gridDim", components_of_dim3[i]) && *value > 1) {
        const std::string name = "GRID" + (all.size() > 1 ? std::string("_") + "XYZ"[i] : "");
        add_axis({name, around(*value, 65535), ""});
        if (one.kind == HostExpression::Kind::name) grid_axes_[name] = one.word;
        grid_.push_back(name);
      } else if (value && one.kind == HostExpression::Kind::number) {
        grid_.push_back(std::to_string(*value));
      } else if (is_of_another_size(one, i)) {
        grid_by_index(i);
        grid_comment_ = "from the kernel's indices: the launch fits only where its sizes are equal";
      } else if (!has_own && adopt(one)) {
        add_blocks(one, i);
      } else {
        // A size that only the host has might not fit to the kernel's own ones.
        grid_by_index(i);
        if (grid_.back() == "?" && adopt(one)) {
          grid_.pop_back();
          add_blocks(one, i);
        } else if (grid_.back() == "?") {
          grid_comment_ = "the launch takes " + one.text();
        }
      }
      continue;
    }
    if (i > 0 && !reads_component("blockIdx", components_of_dim3[i])) continue;
    grid_by_index(i);
  }
  for (std::size_t i = 0; i < grid_.size() && i < components_of_dim3.size(); ++i) {
    const auto count = grid_[i] == "?" ? std::nullopt : parsed_expression(grid_[i]);
    std::set<std::string> used;
    if (count) gather_names(*count, used);
    if (!used.empty() &&
        std::all_of(used.begin(), used.end(), [&](const std::string& name) { return sizes_.contains(name); }))
      bounds_->set_blocks(components_of_dim3[i], *count);
  }
  while (grid_.size() > 1 && grid_.back() == "1") grid_.pop_back();
  if (std::find(grid_.begin(), grid_.end(), "?") != grid_.end()) find_unguarded();
}

void Describer::add_blocks(const HostExpression& one, std::size_t i) {
  const bool rounds_up = one.kind == HostExpression::Kind::call && one.word == "ceil_div";
  HostExpression size = one, of_block{.kind = HostExpression::Kind::number, .number = 1, .word = {}};
  if (rounds_up) {
    size = one.parts[0];
    of_block = one.parts[1];
  }
  while (size.kind == HostExpression::Kind::binary && size.word == "/") {  // n / 256 / 2
    of_block = joined("*", size.parts[1], of_block);
    size = HostExpression(size.parts[0]);
  }
  std::set<std::string> used;
  gather_names(size, used);
  const bool has_parts =  // n / BLOCK_X * m / BLOCK_Y
      std::any_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); });
  if (has_parts && !rounds_up && !bounds_->compares_block(components_of_dim3[i])) {
    grid_.push_back(one.text());
    grid_comment_ = "the kernel has no guard: whole blocks";
    add_whole_parts(one);
    return;
  }
  size = without_axes(size);
  used.clear();
  gather_names(of_block, used);
  const bool is_of_axes =
      std::any_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); });
  if (!is_of_axes) {
    grid_.push_back(one.text());
    if (!bounds_->compares_block(components_of_dim3[i])) add_whole_parts(one);
    return;
  }
  const std::string divisor = of_block.parts.empty() ? of_block.text() : "(" + of_block.text() + ")";
  const std::string dividend = size.parts.empty() ? size.text() : "(" + size.text() + ")";
  if (bounds_->compares_block(components_of_dim3[i])) {
    grid_.push_back("ceil_div(" + size.text() + ", " + of_block.text() + ")");
  } else {
    std::map<std::string, HostExpression> dims;  // the kernel reads an axis of the block as blockDim
    for (std::size_t j = 0; j < block_.size() && j < components_of_dim3.size(); ++j)
      dims[block_[j]] = {.kind = HostExpression::Kind::name,
                         .word = std::string("blockDim.") + components_of_dim3[j]};
    const HostExpression by_dim = with(of_block, dims);
    for (const HostExpression& form : {of_block, by_dim})
      for (const bool is_wrapped : {false, true})
        bounds_->set_bound(components_of_dim3[i],
                           is_wrapped && !form.parts.empty() ? "(" + form.text() + ")" : form.text(), size);
    grid_.push_back(dividend + " / " + divisor);
    grid_comment_ = "the kernel has no guard: whole blocks";
    const std::string rule = dividend + " % " + divisor + " == 0";
    if (std::find(rules_.begin(), rules_.end(), rule) == rules_.end()) rules_.push_back(rule);
  }
}

void Describer::add_whole_parts(const HostExpression& one) {
  for (const HostExpression& part : one.parts) add_whole_parts(part);
  if (one.kind != HostExpression::Kind::binary || one.word != "/") return;
  std::set<std::string> used;
  gather_names(one.parts[1], used);
  if (std::none_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); })) return;
  const HostExpression rest{.kind = HostExpression::Kind::binary, .word = "%", .parts = one.parts};
  const std::string rule = rest.text() + " == 0";
  if (std::find(rules_.begin(), rules_.end(), rule) == rules_.end()) rules_.push_back(rule);
}

void Describer::settle_grid_axes() {
  for (const auto& [axis, size] : grid_axes_) {
    if (!sizes_.contains(size)) continue;
    std::replace(grid_.begin(), grid_.end(), axis, size);
    std::erase_if(axes_, [&, of = axis](const Axis& one) { return one.name == of; });
    if (sizes_[size].value)
      sizes_[size].given = "[1, " + std::to_string(std::min<std::int64_t>(*sizes_[size].value, 65535)) + "]";
  }
}

void Describer::settle_arrays_by_grid() {
  if (grid_.size() != 1 || grid_.front() == "?") return;
  const auto grid = parsed_expression(grid_.front());
  const auto is_by_block = [&](const Array& one) {
    return !one.role.empty() && one.role != "constant" && bounds_->use_of(one.name).is_by_block;
  };
  // Where the launch chooses the number of blocks, the kernel's sizes do not say how many threads there are.
  const bool is_chosen = grid && grid->parts.empty();
  const auto is_by_thread = [&](const Array& one) {
    return (one.extents == std::vector<std::string>{"?"} || (is_chosen && one.comment == "a guess")) &&
           bounds_->use_of(one.name).is_by_thread;
  };
  const bool has_threads = std::any_of(arrays_.begin(), arrays_.end(), is_by_thread) && block_.size() == 1 &&
                           block_.front() != "?";
  if (!grid || (!has_threads && std::none_of(arrays_.begin(), arrays_.end(), is_by_block))) return;
  // A block's sum depends on its size and on the number of blocks.
  std::set<std::string> used;
  gather_names(*grid, used);
  for (const std::string& one : block_)
    if (const auto tree = parsed_expression(one)) gather_names(*tree, used);
  const std::string each = has_threads ? "thread" : "block";
  std::map<std::string, HostExpression> values;
  for (Axis& axis : axes_) {
    if (!used.contains(axis.name)) continue;
    axis.values.resize(1);
    axis.comment = "one value, because an array has an element per " + each;
    values[axis.name] = {.kind = HostExpression::Kind::number, .number = axis.values.front(), .word = {}};
  }
  const HostExpression blocks = with(*grid, values);
  const auto threads = has_threads ? parsed_expression(block_.front()) : std::nullopt;
  for (Array& one : arrays_) {
    const bool of_thread = threads && is_by_thread(one);
    if (!of_thread && !bounds_->use_of(one.name).is_by_block) continue;
    one.extents = {of_thread ? joined("*", blocks, with(*threads, values)).text() : blocks.text()};
    one.comment = of_thread ? "an element per thread" : "an element per block";
  }
}

void Describer::find_unguarded() {
  if (!sizes_.empty() || launch_ || block_.size() != 1 || block_[0] == "?") return;
  const auto index = bounds_->whole_index('x');
  if (!index) return;
  std::string of_block = index->of_block;
  constexpr std::string_view dim = "blockDim.x";
  for (std::size_t at; (at = of_block.find(dim)) != std::string::npos;)
    of_block.replace(at, dim.size(), block_[0]);
  const auto tree = parsed_expression(of_block);
  std::set<std::string> used;
  if (tree) gather_names(*tree, used);
  if (!tree || !std::all_of(used.begin(), used.end(), [&](const std::string& name) { return is_axis(name); }))
    return;
  sizes_["n"] = {.is_extent = true};
  order_.push_back("n");
  grid_ = {"n / " + (tree->parts.empty() ? tree->text() : "(" + tree->text() + ")")};
  grid_comment_ = "the kernel has no guard: whole blocks";
  rules_.push_back("n % " + (tree->parts.empty() ? tree->text() : "(" + tree->text() + ")") + " == 0");
}

void Describer::limit_grid() {
  constexpr double most_blocks = 65535;
  for (std::size_t i = 1; i < grid_.size(); ++i) {
    const auto tree = grid_[i] == "?" ? std::nullopt : parsed_expression(grid_[i]);
    if (!tree) continue;
    const std::vector<std::string> factors = product_of(*tree);
    if (!std::all_of(factors.begin(), factors.end(),
                     [&](const std::string& one) { return sizes_.contains(one); }))
      continue;
    const auto each =
        static_cast<std::int64_t>(std::pow(most_blocks, 1.0 / static_cast<double>(factors.size())));
    for (const std::string& one : factors) sizes_[one].most = std::min(sizes_[one].most, each);
  }
}

bool Describer::adopt_constants(const std::set<std::string>& used) {
  for (const std::string& name : used)
    if (!is_axis(name) && !sizes_.contains(name)) add_axis({name, {constants_.at(name)}, ""});
  return true;
}

}  // namespace tunesmith
