// SPDX-License-Identifier: Apache-2.0
// Finds declarations of kernels in a blanked text, and their parameters. Private to kernel_file/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_file/kernel_source.h"

namespace tunesmith {

/// A declaration or definition of a kernel in the blanked text.
struct Declaration {
  std::size_t begin = 0;  // the start of its first word
  std::size_t name = 0, name_end = 0;
  std::size_t open = 0, close = 0;  // the range of its parameters: at ( and behind )
  bool is_template = false, is_extern = false;
  bool is_special = false;          // a specialisation or an explicit instantiation of a template
  std::size_t list = 0, words = 0;  // of a template: at the < of its parameters, and behind their >
};

std::vector<Declaration> declarations(std::string_view blank);

std::vector<DeclaredKernel::Parameter> parameters_of(std::string_view list);
std::vector<TemplateParameter> template_parameters_of(std::string_view blank, const Declaration& of);
bool are_one_template(const std::vector<TemplateParameter>& a, const std::vector<TemplateParameter>& b);

/// The words with single blanks between them.
std::string plain_words(std::string_view text);

/// Overwrites [begin, end) with blanks; line ends stay.
void blank_out(std::string& text, std::size_t begin, std::size_t end);

}  // namespace tunesmith
