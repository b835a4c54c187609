# SPDX-License-Identifier: Apache-2.0
"""Records calls, so that a later call with such arguments only repeats their launches."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ._array_libraries import in_own_kind, libraries, maker_of_own_kind
from ._call_log import Log, recording
from ._core import Memo, kind_of
from ._device import current_device, may_have_gpu
from ._keywords import explain_keywords

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _device_of_recorded() -> str:
    """The device, for the rule that calls on ordinary memory are recorded and repeated only for the host's emulator."""
    now = current_device()
    return "host" if now == "auto" and not may_have_gpu() else now


def run_recorded(memo: Memo, function, args: tuple, kwargs: dict):
    """The result of function(*args, **kwargs). If a call with such arguments was recorded, only its launches are repeated."""
    if recording.log is not None:  # within another one
        return function(*args, **kwargs)
    done = memo.launch(args, kwargs, _device_of_recorded)
    if done is not NotImplemented:
        return done
    key = memo.key(args, kwargs)
    log = recording.log = Log()
    try:
        value = function(*args, **kwargs)
    except TypeError:
        explain_keywords(function, args, kwargs)
        raise
    finally:
        recording.log = None
    if not recording.inside and (found := maker_of_own_kind(args, kwargs)) is not None:
        return in_own_kind(value, found)
    if key is not None and log.launches and log.only_launches:
        is_number = log.number is not None and log.number[0] is value
        memo.record(
            key,
            args,
            kwargs,
            log.launches,
            [one.array for one in log.allocated],
            [one.array for one in log.constants],
            _allocator,
            _device_of_recorded,
            log.check,
            log.number[1] if is_number else value,
            is_number,
        )
    return value


def _allocator(like, shape, dtype):
    return libraries[kind_of(like)].allocator(like, shape, dtype)


def check_each_time(check) -> None:
    """check(result) -> bool is called after each repeated call too; if it is False, the function itself is run."""
    if recording.log is not None:
        recording.log.check = check


def recorded(*arrays: str, by_content: tuple[str, ...] = ()) -> Callable[[_Function], _Function]:
    """Decorates a function whose launches depend on the types and shapes of the parameters named in `arrays`, including those of *args and **kwargs,
    and on the values of all others.

    The first call with such arguments runs the function. If it only launched kernels on its arguments, new arrays and constants, later
    calls only repeat the launches, without Python code in between. by_content: parameters such as weights, whose elements count too, unless they lie
    on a GPU.
    """

    def decorate(function: _Function) -> _Function:
        parameters = inspect.signature(function).parameters.values()
        names = [one.name for one in parameters]
        more = next((k for k, one in enumerate(parameters) if one.kind is one.VAR_POSITIONAL), -1)
        read = [
            k
            for k, one in enumerate(parameters)
            if one.name in arrays or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        memo = Memo(names, read, [names.index(name) for name in by_content], more)

        @functools.wraps(function)
        def call(*args, **kwargs):
            return run_recorded(memo, function, args, kwargs)

        return call  # type: ignore[return-value]

    return decorate
