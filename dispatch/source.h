// A variant's source as dispatch needs it. The library renders it (rendered.cpp); an exported library, which
// has no texts, looks it up among the kernels that it was exported with (exported.cpp).
#pragma once

#include <string>
#include <string_view>

#include "generator/op.h"
#include "generator/render.h"

namespace tunesmith {

/// What decides a variant's text, and what it launches.
struct Wanted {
  const Op& op;
  const Template& tmpl;
  const Problem& problem;
  const Config& config;
  std::string config_text = config.text();
};

/// What decides a source's text for one target.
std::string key_of(const Wanted& wanted);

/// Of an exported library without its text, and without a hash where it has no such kernel.
Source source_of(const Wanted& wanted, std::string_view target);

/// Adds the op that a user's file describes to this process. Throws UsageError; an exported library always.
void add_kernel_file(const std::string& path);

/// Whether a template's body is what it was when it had these first digits of body_hash (render.h).
bool is_current(const Op& op, const Template& tmpl, std::string_view digits);

/// Whether this is an exported library: its kernels are a fixed list, and nothing is rendered or compiled.
bool is_exported();

}  // namespace tunesmith
