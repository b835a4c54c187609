# SPDX-License-Identifier: Apache-2.0
"""Contractions of coupled cluster theory (CCSD), whose arrays have an index for each orbital: o occupied and v other ones."""

import numpy as np
import tunesmith
from compare import compare, on_gpu, to_device

random = np.random.default_rng(8)
o, v = (24, 96) if on_gpu else (3, 7)
t1 = random.standard_normal((o, v))
t2 = random.standard_normal((o, o, v, v))  # amplitudes: two electrons leave i and j for a and b
vvvv, ovvo, oovv = (random.standard_normal(shape) for shape in ((v, v, v, v), (o, v, v, o), (o, o, v, v)))
names = {"t1": t1, "t2": t2, "vvvv": vvvv, "ovvo": ovvo, "oovv": oovv}
on_device = {name: to_device(array) for name, array in names.items()}


def check(what: str, line: str, reference) -> None:
    arrays = {name: on_device[name] for name in names if f"{name}[" in line}
    compare(what, lambda: tunesmith.tensor(line, **arrays), reference, 1e-10)


check(
    "particle ladder",
    "r[i,j,a,b] += vvvv[a,b,e,f] * t2[i,j,e,f]",
    lambda: np.einsum("abef,ijef->ijab", vvvv, t2, optimize=True),
)
check(
    "ring",
    "r[i,j,a,b] += t2[i,m,a,e] * ovvo[m,b,e,j]",
    lambda: np.einsum("imae,mbej->ijab", t2, ovvo, optimize=True),
)
check(
    "correlation energy",
    "energy += oovv[i,j,a,b] * (0.25 * t2[i,j,a,b] + 0.5 * t1[i,a] * t1[j,b])",
    lambda: 0.25 * np.sum(oovv * t2) + 0.5 * np.einsum("ijab,ia,jb->", oovv, t1, t1),
)
