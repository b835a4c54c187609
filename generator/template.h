// SPDX-License-Identifier: Apache-2.0
// A template: a kernel body with its space and its work, and the problems and devices that it serves.
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
  std::string room = {};             ///< the subfolder of the op's folder that has the body: "contract/"
  std::string what;                  ///< a sentence for people
  std::vector<std::string> kernels;  ///< as in ENTRY(kernel), in the order of the body
  /// The symbols of a text that the host compiles in a namespace, into which the work copies: as in
  /// ENTRY(symbol).
  std::vector<std::string> symbols = {};
  std::vector<std::string> compiled_in = {
      "dtype"};             ///< the problem's parameters that are constants in the text
  bool names_dtype = true;  ///< the dtype is T in the text, if it is compiled in
  /// The constants that the text's preprocessor reads: they are written as #define.
  std::vector<std::string> macros = {};
  /// Further integer constants of the text that follow from the problem, such as a rank. Null: none.
  std::function<Values(const Problem&)> constants = nullptr;
  /// Replaces Op::preamble for a template that compiles in other parameters. Null: the op's preamble is used.
  std::function<std::string(const Problem&)> preamble = nullptr;
  /// Lines behind the constants that follow from the config: compiler options (compiler_flags.h), macros.
  /// Null: none.
  std::function<std::string(const Config&)> settings = nullptr;
  /// Text that depends on the config too and replaces the body's line #include "generated". The text may hold
  /// only the first of `kernels`. Null: the body has no such line.
  std::function<std::string(const Problem&, const Config&)> generated = nullptr;
  int minimum_compute_capability = 0;  ///< 80 for 8.0; above 0 the template does not run on the host
  bool later_too = true;               ///< false: later GPUs do not have its instructions (those of sm_90a)
  /// Returns a sentence on why the template cannot serve the problem; empty if it can. Null: it serves all.
  std::function<std::string(const Problem&)> refuses = nullptr;
  /// Returns values of some axes that suit a problem without measurements, tried before the base; the other
  /// axes get the first legal values. Nothing, or null: another template suits the problem better.
  std::function<std::optional<Values>(const Problem&, const DeviceFacts&)> untuned = nullptr;
  /// Parts of the space, each as the values that it has in common. `untuned_way` names a config of such a
  /// part without measurements, whichever part or template suits the problem best: a table has the times of
  /// all, and so chooses between them. Nothing: the part has none for the problem.
  std::vector<Values> ways = {};
  std::function<std::optional<Values>(const Problem&, const DeviceFacts&, const Values& way)> untuned_way =
      nullptr;
  OnDevice<Space, Problem> space;
  OnDevice<Work, Problem, Config> work;
  /// The alignment that the kernel needs for each argument of at least this many bytes; a shorter array needs
  /// only the alignment of its elements. Null: the dtype's size.
  std::function<std::int64_t(const Problem&, const Config&)> alignment_bytes = nullptr;
};

/// The path of the template's body, below templates/.
std::string body_path(std::string_view op, const Template& tmpl);

/// Returns why the template cannot run this problem on this device, or nothing.
std::optional<std::string> why_not(const Template& candidate, const Problem& problem,
                                   const DeviceFacts& device);

std::int64_t alignment_bytes(const Template& tmpl, const Problem& problem, const Config& config);

}  // namespace tunesmith
