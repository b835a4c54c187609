// SPDX-License-Identifier: Apache-2.0
// A folder of its own for each test, and rows to fill a database with.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "db/store.h"

namespace tunesmith {

class DbTest : public testing::Test {
 protected:
  using Mode = Store::Mode;

  DbTest() {
    std::string name = (std::filesystem::temp_directory_path() / "db_test_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~DbTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::filesystem::path file(const char* name = "t.db") const { return folder_ / name; }

  // A second client of the file, as sqlite3 or pandas is. Returns the first column of the first row.
  static std::string sql(const std::filesystem::path& path, const std::string& text) {
    sqlite3* handle = nullptr;
    std::string result;
    sqlite3_open(path.c_str(), &handle);
    char* message = nullptr;
    const auto keep = [](void* to, int, char** values, char**) {
      auto& kept = *static_cast<std::string*>(to);
      if (kept.empty() && values[0] != nullptr) kept = values[0];
      return 0;
    };
    if (sqlite3_exec(handle, text.c_str(), keep, &result, &message) != SQLITE_OK) {
      ADD_FAILURE() << text << ": " << message;
    }
    sqlite3_free(message);
    sqlite3_close(handle);
    return result;
  }

  static std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  template <typename Action>
  static std::string error_of(const Action& action) {
    try {
      action();
    } catch (const StoreError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

inline DeviceRow gpu() {
  return {.kind = "cuda",
          .name = "Test GPU",
          .target = "sm_90a",
          .compute_capability = "9.0",
          .sm_count = 132,
          .memory_bytes = 150'000'000'000};
}

// Ids that most rows need, made once.
struct Ids {
  explicit Ids(Store& store)
      : device(store.id_of(gpu())),
        body(store.id_of(TemplateRow{.op = "conv2d", .name = "conv2d_tiled", .body_hash = "b1"})),
        problem(store.id_of(ProblemRow{.op = "conv2d", .text = "batch=1 height=1000 width=2000 dtype=f32"})),
        session(store.begin_session({.device_id = device,
                                     .command = "tune conv2d",
                                     .strategy = "random",
                                     .seed = 7,
                                     .budget = "10min",
                                     .tunesmith_version = "0.1.0",
                                     .toolchain = "nvrtc 12.9",
                                     .driver = "575.1",
                                     .host_facts = "cores=16"})) {}
  std::int64_t device, body, problem, session;

  std::int64_t variant(Store& store, const std::string& hash, std::int64_t template_id = 0) const {
    return store.id_of(VariantRow{.template_id = template_id == 0 ? body : template_id,
                                  .target = "sm_90a",
                                  .source_hash = hash,
                                  .config = "BLOCK_X=" + hash,
                                  .compiled_in = "dtype=f32",
                                  .entry = "conv2d_tiled_" + hash});
  }
  MeasurementRow ok(std::int64_t variant, double median_us) const {
    return {.session_id = session,
            .variant_id = variant,
            .problem_id = problem,
            .device_id = device,
            .verdict = "ok",
            .reason = "",
            .median_us = median_us,
            .min_us = median_us * 0.99,
            .spread = 0.01,
            .samples_us = {median_us * 0.99, median_us, median_us * 1.25},
            .registers = 32,
            .static_shared_bytes = 4096,
            .dynamic_shared_bytes = 0,
            .spill_bytes = 0,
            .max_error = 0.25,
            .compile_ms = 81.5,
            .toolchain = "nvrtc 12.9",
            .driver = "575.1",
            .measured_at = ""};
  }
  MeasurementRow failed(std::int64_t variant, const std::string& verdict) const {
    return {.session_id = session,
            .variant_id = variant,
            .problem_id = problem,
            .device_id = device,
            .verdict = verdict,
            .reason = "It's a sentence;\nof two lines.",
            .toolchain = "nvrtc 12.9",
            .driver = "575.1",
            .measured_at = ""};
  }
};

inline std::vector<std::byte> blob() {
  return {std::byte{0}, std::byte{0x7f}, std::byte{'E'}, std::byte{0xff}};
}

inline constexpr const char* hash_of_blob =
    "4706fa88228e6a60f94c93bea6cbdc50f92e784bf3be15874478c5285704256d";

// A database with some rows of every kind.
inline Ids populate(Store& store) {
  const Ids ids(store);
  auto base = ids.ok(ids.variant(store, "base"), 100);
  base.is_base = true;
  store.record(base);
  const auto fast = ids.variant(store, "fast");
  store.set_winner(store.record(ids.ok(fast, 25)), 16);
  store.put_binary({.variant_id = fast, .toolchain = "nvrtc 12.9", .hash = hash_of_blob, .bytes = blob()});
  store.record(ids.ok(ids.variant(store, "slow"), 200));
  int index = 0;
  for (const char* verdict : {"compile_error", "resource_limit", "launch_error", "wrong_result",
                              "out_of_bounds", "timeout", "crash"}) {
    store.record(ids.failed(ids.variant(store, "bad" + std::to_string(index++)), verdict));
  }
  return ids;
}

}  // namespace tunesmith
