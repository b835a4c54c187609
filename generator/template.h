// SPDX-License-Identifier: Apache-2.0
// A template: a kernel body with its space and its work, and which problems and devices it serves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/device_facts.h"
#include "generator/on_device.h"
#include "generator/problem.h"
#include "generator/space.h"
#include "generator/values.h"
#include "generator/work.h"

namespace tunesmith {

struct Template {
  std::string name;                  ///< "tiled"; the kernel body is templates/<op>/<room><name>.cu
  std::string room = {};             ///< the part of the op's folder that has the body: "contract/"
  std::string what;                  ///< a sentence for people
  std::vector<std::string> kernels;  ///< as in ENTRY(kernel), in the order of the body
  std::vector<std::string> compiled_in = {
      "dtype"};             ///< the problem's parameters that are constants in the text
  bool names_dtype = true;  ///< as T in the text, if it is compiled in
  /// Of the constants in the text, those that its preprocessor reads: they are written as #define.
  std::vector<std::string> macros = {};
  /// Further integer constants of the text, which follow from the problem (a rank, say). Null: none.
  std::function<Values(const Problem&)> constants = nullptr;
  /// In place of Op::preamble, for a template that compiles in other parameters. Null: the op's.
  std::function<std::string(const Problem&)> preamble = nullptr;
  /// Text that follows from the config too, in place of the body's line #include "generated"; of `kernels` it
  /// may have the first ones only. Null: the body has no such line.
  std::function<std::string(const Problem&, const Config&)> generated = nullptr;
  int minimum_compute_capability = 0;  ///< 80 for 8.0; above 0 there is no host twin
  bool later_too = true;               ///< false: its instructions exist on no later one (those of sm_90a)
  /// Why the template cannot serve the problem, as a sentence; empty if it can. Null: serves all.
  std::function<std::string(const Problem&)> refuses = nullptr;
  /// For where nothing was measured, before the base is taken: the values of some axes that suit the problem;
  /// the others are the first that are legal with them. Nothing, or null: another template suits it better.
  std::function<std::optional<Values>(const Problem&, const DeviceFacts&)> untuned = nullptr;
  OnDevice<Space, Problem> space;
  OnDevice<Work, Problem, Config> work;
  /// What the address of each argument of at least so many bytes must be a multiple of; shorter arrays need
  /// no more than their elements do. Null: the dtype's size.
  std::function<std::int64_t(const Problem&, const Config&)> alignment_bytes = nullptr;
};

/// The path of the template's body, below templates/.
std::string body_path(std::string_view op, const Template& tmpl);

/// Why the template cannot run this problem on this device, or nothing.
std::optional<std::string> why_not(const Template& candidate, const Problem& problem,
                                   const DeviceFacts& device);

std::int64_t alignment_bytes(const Template& tmpl, const Problem& problem, const Config& config);

}  // namespace tunesmith
