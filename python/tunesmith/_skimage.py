# SPDX-License-Identifier: Apache-2.0
"""scikit-image's functions that are here, as a backend that it finds by this package's entry points. Since its dispatching is automatic, a call is
taken only if an array lies on a GPU, or if set_device() has said where work goes: the emulator would be slower than scikit-image."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ._arrays import InputArray
from ._core import Array, is_array
from ._device import current_device
from ._reductions import max, mean, min
from ._statistics import reduction


def _together(image0: Any, image1: Any) -> tuple[Any, Any, int]:
    """Both as float64, and the number of their elements."""
    first = InputArray(image0)
    second = InputArray(image1, first)
    if first.shape != second.shape:
        raise ValueError("Input images must have the same dimensions.")
    return first.to("float64").object, second.to("float64").object, first.array.size


def mean_squared_error(image0: Any, image1: Any) -> Any:
    image0, image1, count = _together(image0, image1)
    return reduction("(a - b) ** 2", image0, image1, finish=f"out / {count}")


def normalized_root_mse(image_true: Any, image_test: Any, *, normalization: str = "euclidean") -> Any:
    true, test, count = _together(image_true, image_test)
    scales: dict[str, Callable[[], Any]] = {
        "euclidean": lambda: reduction("a * a", true, finish=f"sqrt(out / {count})"),
        "min-max": lambda: max(true) - min(true),
        "mean": lambda: mean(true),
    }
    if normalization.lower() not in scales:
        raise ValueError("Unsupported norm_type")
    error = reduction("(a - b) ** 2", true, test, finish=f"sqrt(out / {count})")
    return error / scales[normalization.lower()]()


_functions = {f"skimage.metrics:{one.__name__}": one for one in (mean_squared_error, normalized_root_mse)}


def information() -> SimpleNamespace:
    return SimpleNamespace(supported_functions=list(_functions))


def can_has(name: str, *args: Any, **kwargs: Any) -> bool:
    arrays = [value for value in (*args, *kwargs.values()) if is_array(value)]
    try:
        seen = [Array(one) for one in arrays]
    except (TypeError, ValueError):  # scikit-image says why, or takes them
        return False
    is_chosen = current_device() != "auto" or any(one.device >= 0 for one in seen)
    return bool(seen and is_chosen and all(one.size and not one.dtype.startswith("complex") for one in seen))


def get_implementation(name: str) -> Callable[..., Any]:
    return _functions[name]
