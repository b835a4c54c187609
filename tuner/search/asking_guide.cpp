// SPDX-License-Identifier: Apache-2.0
// A strategy of the caller's own: a program that is told verdicts and asked for points. It reads the space
// once, as JSON and a list, and names a config by the indices of its values.
#include <cmath>
#include <sstream>
#include <utility>

#include "generator/number_text.h"
#include "tuner/process/asked_program.h"
#include "tuner/search/guide.h"

namespace tunesmith {
namespace {

constexpr std::int64_t most_listed = 200'000;  // configs of a space that is sent as a list
constexpr int most_refused = 1000;             // answers in a row

std::string indices_of(const Config& config, std::string_view between) {
  std::string text;
  for (std::size_t axis = 0; axis < config.axes().size(); ++axis)
    text += (axis == 0 ? "" : std::string(between)) + std::to_string(config.index(axis));
  return text;
}

class AskingGuide : public Guide {
 public:
  AskingGuide(const Points& points, std::uint64_t seed, const std::string& words)
      : points_(points), program_(words, "strategy") {
    introduce(seed);
  }

  std::optional<PointId> choose(const History& history) override {
    for (; seen_ < history.trials.size(); ++seen_) untold_.push_back(seen_);
    std::erase_if(untold_, [&](std::size_t at) {
      const History::Trial& trial = history.trials[at];
      if (trial.state == History::State::in_flight) return false;
      tell(trial);
      return true;
    });
    for (int refused = 0; refused < most_refused; ++refused) {
      program_.write("ask\n");
      const std::string answer = program_.read_line();
      if (answer == "any") return std::nullopt;
      const auto [part, config] = read(answer);
      if (!points_.space().parts[part].space.is_legal(config)) {
        tell(part, config, "illegal", 0);
        continue;
      }
      const PointId id = points_.id(part, config);
      const auto known = history.where.find(id);
      if (known == history.where.end()) return id;
      tell(history.trials[known->second]);
    }
    program_.fail("proposed " + std::to_string(most_refused) +
                  " configs in a row that are not legal or that it knows");
  }

 private:
  void introduce(std::uint64_t seed) {
    const SearchSpace& space = points_.space();
    const bool listed = space.count() <= most_listed;
    std::string text = "{\"seed\": " + std::to_string(seed) + ", \"templates\": [";
    std::string list;
    std::int64_t lines = 0;
    for (std::size_t part = 0; part < space.parts.size(); ++part) {
      const SearchSpace::TemplateSpace& each = space.parts[part];
      text += (part == 0 ? "" : ", ") + std::string("{\"name\": ") + json_text(each.name) + ", \"axes\": {";
      for (const Axis& axis : each.space.axes()) {
        text += (text.back() == '{' ? "" : ", ") + json_text(axis.name) + ": [";
        for (const Value& value : axis.values) text += (text.back() == '[' ? "" : ", ") + json_of(value);
        text += "]";
      }
      text += "}}";
      if (!listed) continue;
      each.space.each([&](const Config& config) {
        list += std::to_string(part) + " " + indices_of(config, " ") + "\n";
        ++lines;
        return true;
      });
    }
    program_.write(text + "], \"configs\": " + (listed ? std::to_string(lines) : "null") + "}\n" + list);
  }

  // The config of "PART INDEX INDEX …", one index for each axis.
  std::pair<std::size_t, Config> read(const std::string& answer) const {
    std::istringstream words(answer);
    std::vector<std::size_t> numbers;
    for (std::string word; words >> word;) {
      const auto number = parsed_number<std::int64_t>(word);
      if (!number || *number < 0) program_.fail("answered: " + answer);
      numbers.push_back(static_cast<std::size_t>(*number));
    }
    const auto& parts = points_.space().parts;
    bool is_right = !numbers.empty() && numbers[0] < parts.size();
    if (is_right) {
      const std::vector<Axis>& axes = parts[numbers[0]].space.axes();
      is_right = numbers.size() == axes.size() + 1;
      for (std::size_t axis = 0; is_right && axis < axes.size(); ++axis)
        is_right = numbers[axis + 1] < axes[axis].values.size();
    }
    if (!is_right) program_.fail("answered: " + answer + ", which are no indices of a template and its axes");
    return {numbers[0], parts[numbers[0]].space.config(std::span(numbers).subspan(1))};
  }

  void tell(const History::Trial& trial) {
    const char* const words[] = {"pending", "ok", "failed"};
    tell(trial.id.part, points_.config(trial.id), words[static_cast<int>(trial.state)],
         trial.state == History::State::ok ? std::exp(trial.log_us) : 0);
  }

  void tell(std::size_t part, const Config& config, const char* verdict, double us) {
    program_.write("{\"template\": " + std::to_string(part) + ", \"config\": [" + indices_of(config, ", ") +
                   "], \"verdict\": \"" + verdict +
                   "\", \"us\": " + (us > 0 ? printed("%.15g", us) : "null") + "}\n");
  }

  const Points& points_;
  AskedProgram program_;
  std::vector<std::size_t> untold_;  // trials whose verdict it does not know
  std::size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Guide> make_asking(const Points& points, std::uint64_t seed, const std::string& words) {
  return std::make_unique<AskingGuide>(points, seed, words);
}

}  // namespace tunesmith
