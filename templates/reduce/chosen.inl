// SPDX-License-Identifier: Apache-2.0
// The reduction that a variant computes. Needs common/overlap.inl, T, function, wide, SHORT_PLACES and LOAD.
// ONLY_FOR_MOMENTS(...), which the host writes (op.cpp), expands to the parameters of kernels that only
// variances and deviations need; for other functions it expands to nothing.
using R = ReductionOfElements<static_cast<int>(function), T, wide, SHORT_PLACES != 0>;
using Partial = R::Partial;

static_assert(!overlapped || (LOAD != Load::bypass && LOAD != Load::wide),
              "these hints load by the read-only path");
