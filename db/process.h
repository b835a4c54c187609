// SPDX-License-Identifier: Apache-2.0
// Tells if the process that began a session is still alive. Private to db/.
#pragma once

#include <sys/types.h>

#include <string>

namespace tunesmith {

// A permanent name of a process: boot, process namespace, id, start time. An id alone is reused for other
// processes. Empty if /proc does not tell.
std::string process_tag(pid_t);

// True if the process has ended. False if this cannot be known, for example for a process in another
// container.
bool is_dead(const std::string& process_tag);

}  // namespace tunesmith
