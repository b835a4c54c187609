// Until schema 2 a kernel's identity was the SHA-256 of its whole text, comments included. The texts that the
// templates had then are kept in templates_of_schema_2.txt, so that such a hash can be recomputed: a row
// whose hash comes out is the kernel that its template still gives, and needs no new measurement.
#pragma once

#include <span>
#include <vector>

#include "db/store.h"
#include "generator/ops.h"

namespace tunesmith {

/// For Store::Options::identify. Leaves out what today's ops do not give, or gave in another text then.
std::vector<NewIdentity> identify(const std::vector<OldVariant>& old, std::span<const Op> ops,
                                  const Files& files);

/// For a program that tunes, merges or dispatches: rows of an older version count, as far as they can.
inline Store::Options with_old_identities(bool winners_only = false) {
  Store::Options options;
  options.identify = [](const std::vector<OldVariant>& old) {
    return identify(old, ops(), template_files());
  };
  options.identify_winners_only = winners_only;
  return options;
}

}  // namespace tunesmith
