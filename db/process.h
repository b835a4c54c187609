// Whether the process that began a session is still alive. Private to db/.
#pragma once

#include <sys/types.h>

#include <string>

namespace tunesmith {

// Names a process for good: boot, process namespace, id, start time. An id alone is used again for another
// process. Empty if /proc does not tell.
std::string process_tag(pid_t);

// False where this cannot be known: of a process in another container, for example.
bool is_dead(const std::string& process_tag);

}  // namespace tunesmith
