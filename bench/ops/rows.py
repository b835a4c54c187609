# SPDX-License-Identifier: Apache-2.0
"""rows: softmax and layer_norm of f32, a row at a time."""

import contenders as of
import torch
from timing import Case, Expected

PROBLEMS = {
    "softmax": "expression=softmax",
    "layer_norm": "expression=layer_norm gamma=per_column beta=per_column",
}


def case(word, rows, columns, goal):
    return Case(
        name=f"{word} of {rows}×{columns}",
        problem=f"{PROBLEMS[word]} rows={rows} columns={columns}",
        goals=f"apart <= {goal} copy; apart <= 1.05 best peer",
        word=word,
        shape=(rows, columns),
    )


CASES = [
    case(word, rows, columns, goal)
    for rows, columns, goal in ((4096, 4096, 1.1), (65536, 768, 1.1), (1000000, 64, 1.1), (128, 100003, 1.6))
    for word in PROBLEMS
]


def inputs(case):
    x = of.random(case, case.shape, -5, 5)
    if case.word == "softmax":
        return (x,)
    return x, of.random(case, case.shape[1:], 0.5, 1.5), of.random(case, case.shape[1:])


def tunesmith(case, *arrays):
    output = of.poisoned(case.shape)
    return [*arrays, *[None] * (6 - len(arrays)), output, None, None, None], output, None


def expected(case, x, *weights):
    exact = x.double()
    if case.word == "softmax":
        value = exact.softmax(1)
        # The difference from the maximum is rounded, and its error goes through exp; then come a sum, an
        # inverse and a product.
        return Expected(value, value * (64 + case.shape[1] / 256 + 20) * 2.0**-23)
    gamma, beta = (one.double() for one in weights)
    value = torch.nn.functional.layer_norm(exact, case.shape[1:], gamma, beta)
    size = (exact.abs() + exact.abs().mean(1, keepdim=True)) / exact.std(1, keepdim=True)
    return Expected(value, (size * gamma.abs() + beta.abs()) * (64 + case.shape[1] / 256) * 2.0**-22)


def softmax(x):
    return torch.softmax(x, 1)


def layer_norm(x, gamma, beta):
    return torch.nn.functional.layer_norm(x, x.shape[1:], gamma, beta)


FUNCTIONS = {"softmax": softmax, "layer_norm": layer_norm}
PEERS = {
    "PyTorch": lambda case, *arrays: of.pytorch(FUNCTIONS[case.word], *arrays),
    "PyTorch compiled": lambda case, *arrays: of.compiled(FUNCTIONS[case.word], *arrays),
}
LIMITS = {"copy": lambda case, x, *weights: of.copy(8 * x.numel())}
