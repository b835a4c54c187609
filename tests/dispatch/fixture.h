// SPDX-License-Identifier: Apache-2.0
// A database made here, a dispatcher that uses it, and launches that are checked against the reference; on
// the host, or on a device whose memory a test provides.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "db/device_row.h"
#include "db/store.h"
#include "generator/hash.h"
#include "generator/ops.h"
#include "generator/random.h"
#include "kernel_file/find_op.h"
#include "runtime/executable.h"
#include "runtime/toolchain.h"
#include "tunesmith/dispatcher.h"

namespace tunesmith {

struct Winner {
  std::string op = "smooth";
  std::string problem;
  std::string template_name = "vector";
  std::string config;
  DeviceFacts device = host_facts();
  double median_us = 10;
  bool binary = true;
  std::string hash = {};    // replaces the right one
  std::string suffix = {};  // replaces that of the binary's kernels
  std::string caches = "warm";
};

// The memory of arguments: `allocate` gives memory aligned to 256 bytes, which lives as long as the object.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void upload(void* to, const std::vector<char>& from) = 0;
  virtual void download(std::vector<char>& to, const void* from) = 0;  ///< called after all launches
};

class HostMemory : public Memory {
 public:
  void* allocate(std::size_t bytes) override {
    memory_.emplace_back(bytes + 256);
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.back().data());
    return memory_.back().data() + ((start + 255) / 256 * 256 - start);
  }
  void upload(void* to, const std::vector<char>& from) override {
    std::copy(from.begin(), from.end(), static_cast<char*>(to));
  }
  void download(std::vector<char>& to, const void* from) override {
    std::copy_n(static_cast<const char*>(from), to.size(), to.begin());
  }

 private:
  std::vector<std::vector<char>> memory_;
};

// An op's arguments, each `offset` bytes after a multiple of 256; inputs are random, outputs NaN.
class Buffers {
 public:
  Buffers(const Op& op, const Problem& problem, std::size_t offset, std::uint64_t seed,
          std::shared_ptr<Memory> memory = std::make_shared<HostMemory>())
      : op_(op), problem_(problem), memory_(std::move(memory)) {
    Random random(seed);
    for (const Argument& argument : op.arguments) {
      const auto count = static_cast<std::size_t>(elements(argument, problem));
      std::vector<char> content(count * element_bytes(), '\xff');
      values_.emplace_back();
      for (std::size_t i = 0; i < count && argument.role == Role::input; ++i) {
        const double value = static_cast<float>(random.uniform());
        values_.back().push_back(value);
        write(content, i, value);
      }
      pointers_.push_back(static_cast<char*>(memory_->allocate(content.size() + offset)) + offset);
      memory_->upload(pointers_.back(), content);
    }
  }
  std::span<void* const> arguments() const { return pointers_; }

  // The first wrong element in words; "" if all are right.
  std::string why_wrong() const {
    const int output = static_cast<int>(pointers_.size()) - 1;
    const std::int64_t count = elements(op_.arguments.back(), problem_);
    std::vector<double> expected(static_cast<std::size_t>(count));
    std::vector<double> permitted(expected.size());
    op_.reference(problem_, values_, output, 0, count, expected, permitted);
    std::vector<char> result(expected.size() * element_bytes());
    memory_->download(result, pointers_.back());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double got = read(result, i);
      if (!(std::abs(got - expected[i]) <= permitted[i])) {
        return problem_.text() + ": element " + std::to_string(i) + " is " + std::to_string(got) + ", not " +
               std::to_string(expected[i]);
      }
    }
    return "";
  }

 private:
  std::size_t element_bytes() const { return dtype_of(problem_) == DType::f64 ? 8 : 4; }
  void write(std::vector<char>& to, std::size_t i, double value) const {
    if (element_bytes() == 8) {
      std::memcpy(to.data() + 8 * i, &value, 8);
    } else {
      const auto narrow = static_cast<float>(value);
      std::memcpy(to.data() + 4 * i, &narrow, 4);
    }
  }
  double read(const std::vector<char>& from, std::size_t i) const {
    double value = 0;
    float narrow = 0;
    if (element_bytes() == 8) {
      std::memcpy(&value, from.data() + 8 * i, 8);
      return value;
    }
    std::memcpy(&narrow, from.data() + 4 * i, 4);
    return narrow;
  }

  const Op& op_;
  Problem problem_;
  std::shared_ptr<Memory> memory_;
  std::vector<std::vector<double>> values_;
  std::vector<void*> pointers_;
};

class DispatcherTest : public testing::Test {
 protected:
  DispatcherTest() {
    std::string name = (std::filesystem::temp_directory_path() / "dispatch_test_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DispatcherTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  virtual DeviceFacts facts() const { return host_facts(); }
  virtual std::string device_id() const { return "host"; }
  virtual std::shared_ptr<Memory> memory() const { return std::make_shared<HostMemory>(); }

  std::string database() const { return (folder_ / "t.db").string(); }

  DispatcherOptions options() const {
    return {.device = device_id(),
            .database = database(),
            .host_binaries = true,
            .compile = Compile::now,
            .cache_folder = (folder_ / "cache").string()};
  }

  // Compiles each source once for all tests.
  static const std::string& binary_of(const Source& source) {
    static std::map<std::string, std::string> binaries;
    std::string& bytes = binaries[source.target + source.hash + source.suffix];
    if (bytes.empty()) {
      const Compilation compiled = make_toolchain(source.target)->compile(source);
      EXPECT_TRUE(compiled.ok) << compiled.log;
      bytes = compiled.bytes;
    }
    return bytes;
  }

  void tune(const Winner& winner) const {
    Store store = Store::open(database(), Store::Mode::create);
    const Op& op = find_op(winner.op);
    const Template& tmpl = find_template(op, winner.template_name);
    const Problem problem = complete_problem(op, Problem::parse(winner.problem));
    const Config config = tmpl.space(problem).complete(Values::parse(winner.config));
    const Source source = render(op, tmpl, problem, config, winner.device.target);
    const auto device = store.id_of(row_of(winner.device));
    const auto body = store.id_of(TemplateRow{.op = op.name, .name = tmpl.name, .body_hash = "b"});
    const auto variant =
        store.id_of(VariantRow{.template_id = body,
                               .target = winner.device.target,
                               .source_hash = winner.hash.empty() ? source.hash : winner.hash,
                               .config = config.text(),
                               .compiled_in = compiled_in(op, tmpl, problem).text(),
                               .entry = source.kernels.front() + source.suffix});
    SessionRow session;
    session.device_id = device;
    MeasurementRow measurement;
    measurement.session_id = store.begin_session(session);
    measurement.variant_id = variant;
    measurement.problem_id = store.id_of(ProblemRow{.op = op.name, .text = problem.text()});
    measurement.device_id = device;
    measurement.verdict = "ok";
    measurement.median_us = winner.median_us;
    measurement.caches = winner.caches;
    const SetWinner set = store.set_winner(store.record(measurement), alignment_bytes(tmpl, problem, config));
    EXPECT_TRUE(set.taken) << set.why;
    if (winner.binary && winner.device.target == facts().target) {
      Source compiled = source;
      if (!winner.suffix.empty()) {
        for (std::size_t at = 0; (at = compiled.text.find(source.suffix, at)) != std::string::npos;)
          compiled.text.replace(at, source.suffix.size(), winner.suffix);
        compiled.suffix = winner.suffix;
      }
      const std::string& bytes = binary_of(compiled);
      const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
      store.put_binary({.variant_id = variant,
                        .toolchain = "test",
                        .hash = sha256(bytes),
                        .bytes = {first, first + bytes.size()}});
    }
  }

  // Launches with pointers `offset` bytes off and checks the result.
  void check(const Plan& plan, const std::string& op_name, std::size_t offset = 0,
             std::uint64_t seed = 1) const {
    const Op& op = find_op(op_name);
    const Buffers buffers(op, Problem::parse(plan.problem()), offset, seed, memory());
    const Status status = plan.launch(buffers.arguments());
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(buffers.why_wrong(), "") << plan.variant().template_name << " " << plan.variant().config;
  }

  struct RandomConv2d {
    std::uint64_t seed;
    std::vector<std::string> shapes;  // random configs of every template win on these
    std::size_t configs;              // per shape
    int problems;
    std::vector<std::array<std::int64_t, 2>> masks;  // masks of the problems; each is compiled
    std::int64_t largest;                            // longest side
    std::uint64_t one_in_f64;
  };
  // Asks for random problems and checks their results; returns how many plans were predicted.
  int random_conv2d(const RandomConv2d& wanted) const {
    const Op& op = find_op("conv2d");
    Random random(wanted.seed);
    double median_us = 1000;  // each new winner is a better one
    for (const std::string& shape : wanted.shapes) {
      const Problem problem = complete_problem(op, Problem::parse(shape));
      for (const Template& tmpl : op.templates) {
        if (why_not(tmpl, problem, facts())) continue;
        for (const Config& config : tmpl.space(problem).sample(wanted.configs, random.next())) {
          const Work work = tmpl.work(problem, config);
          if (!reentrant(work) || exceeds(work, facts())) continue;
          tune({.op = "conv2d",
                .problem = shape,
                .template_name = tmpl.name,
                .config = config.text(),
                .device = facts(),
                .median_us = median_us -= 1});
        }
      }
    }
    Dispatcher dispatcher(options());
    int predicted = 0;
    for (int i = 0; i < wanted.problems; ++i) {
      const auto& mask = wanted.masks[random.below(wanted.masks.size())];
      const bool is_double = random.below(wanted.one_in_f64) == 0;
      const auto side = [&] {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(wanted.largest)));
      };
      const Field fields[] = {{"batch", 1 + static_cast<std::int64_t>(random.below(3))},
                              {"height", side()},
                              {"width", random.below(2) == 0 ? side() : side() / 4 * 4 + 4},
                              {"mask_height", mask[0]},
                              {"mask_width", mask[1]},
                              {"mode", random.below(2) == 0 ? "correlation" : "convolution"},
                              {"dtype", is_double ? "f64" : "f32"}};
      const Plan plan = dispatcher.plan("conv2d", fields);
      predicted += plan.match() == Match::predicted ? 1 : 0;
      check(plan, "conv2d", (is_double ? 8 : 4) * random.below(4), random.next());
    }
    return predicted;
  }

  static bool says(const Plan& plan, const std::string& words) {
    const std::vector<std::string> sentences = plan.explanation(true);
    for (const std::string& sentence : sentences) {
      if (sentence.find(words) != std::string::npos) return true;
    }
    std::string all;
    for (const std::string& sentence : sentences) all += sentence + "\n";
    ADD_FAILURE() << "\"" << words << "\" is not in:\n" << all;
    return false;
  }

  std::filesystem::path folder_;
};

}  // namespace tunesmith
