"""One module an op:

CASES       list of timing.Case; the first goal says whether a case counts hot or cold
inputs      (case) -> the tensors that every contender takes
tunesmith   (case, *inputs) -> the op's arguments in its order, the one that is compared, and what to do before the
            launch that is checked (None: nothing)
expected    (case, *inputs) -> timing.Expected
PEERS       name -> (case, *inputs) -> timing.Contender, or None where there is nothing to measure
LIMITS      likewise
"""

NAMES = ["conv2d", "conv1d", "transpose", "elementwise", "reduce", "histogram", "conv_covariance"]
