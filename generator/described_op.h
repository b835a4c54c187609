// The op that a description (description.h) makes of a user's kernel: data and functions like any other's.
#pragma once

#include <memory>

#include "generator/own_op.h"

namespace tunesmith {

/// `common`: the files that bodies may include (templates/common). Throws UsageError.
std::unique_ptr<const OwnOp> described_op(const OwnText& text, const Files& common);

}  // namespace tunesmith
