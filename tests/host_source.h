// SPDX-License-Identifier: Apache-2.0
// Renders a test's own kernel for the host, in the same way as a template's.
#pragma once

#include <string>

#include "generator/ops.h"
#include "generator/render.h"

namespace tunesmith {

inline Source host_source(const std::string& body, const std::string& kernel = "kernel") {
  Op op;
  op.name = "test";
  Template tmpl;
  tmpl.name = "body";
  tmpl.kernels = {kernel};
  tmpl.compiled_in = {};
  Files files = template_files();
  files["test/body.cu"] = body;
  return render(op, tmpl, Problem(), Config(), "host", files);
}

}  // namespace tunesmith
