#include "choose/variant.h"

namespace tunesmith {

std::string key_of(const Wanted& wanted) {
  std::string key = compiled_in(wanted.op, wanted.tmpl, wanted.problem).text();
  key.reserve(key.size() + wanted.op.name.size() + wanted.tmpl.name.size() + wanted.config_text.size() + 3);
  for (const std::string* part : {&wanted.op.name, &wanted.tmpl.name, &wanted.config_text}) {
    key += ' ';
    key += *part;
  }
  return key;
}

}  // namespace tunesmith
