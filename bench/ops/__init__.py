# SPDX-License-Identifier: Apache-2.0
"""One module per op:

CASES       list of timing.Case; a case is compared by the kind of its first goal: apart, chained or cold
inputs      (case) -> the tensors that every contender takes
tunesmith   (case, *inputs) -> the op's arguments in its order, the one that is checked, and what to do before the
            launch that is checked (None: nothing)
expected    (case, *inputs) -> timing.Expected
PEERS       name -> (case, *inputs) -> timing.Contender, or None where there is nothing to measure
LIMITS      the same, for what no implementation can avoid

The peer "original" is the Numba kernel that the op began as.
"""

NAMES = [
    "conv2d",
    "conv1d",
    "transpose",
    "elementwise",
    "reduce",
    "histogram",
    "conv_covariance",
    "tensor",
    "scan",
    "rank_filter",
    "filter_bank",
    "rows",
]
