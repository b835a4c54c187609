// SPDX-License-Identifier: Apache-2.0
#include "choose/variant.h"

namespace tunesmith {

std::string key_of(const VariantSpec& spec) {
  std::string key = compiled_in(spec.op, spec.tmpl, spec.problem).text();
  key.reserve(key.size() + spec.op.name.size() + spec.tmpl.name.size() + spec.config_text.size() + 3);
  for (const std::string* part : {&spec.op.name, &spec.tmpl.name, &spec.config_text}) {
    key += ' ';
    key += *part;
  }
  return key;
}

}  // namespace tunesmith
