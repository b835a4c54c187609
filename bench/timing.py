"""How a contender is checked and timed on a CUDA GPU, whatever the op and the library."""

import statistics
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Callable, Optional

import torch


class Case(SimpleNamespace):
    """name, problem (text, as the tunesmith command takes it), goals (text, as report.py reads it), and what the
    op's module needs."""


@dataclass
class Contender:
    launch: Callable  # on PyTorch's current stream
    output: Optional[Callable] = None  # the tensor that the launch wrote; None: nothing to check
    prepare: Optional[Callable] = None  # called before the launch that is checked; for ops that change an input
    capture: bool = True  # False: it waits for the GPU, which is not allowed in a capture
    note: str = ""
    keep: tuple = ()  # arrays that must live as long as the contender
    name: str = ""
    kind: str = "peer"  # "ours", "peer" or "limit"
    verdict: str = "ok"  # "wrong", "failed"
    error: Optional[float] = None  # the largest |error| in units of the bound
    graph: object = None
    launches: int = 0  # in the graph, or in a row in the stream
    hot_samples: list = field(default_factory=list)  # us per launch
    cold_samples: list = field(default_factory=list)

    @property
    def hot(self):
        return statistics.median(self.hot_samples) if self.hot_samples else None

    @property
    def cold(self):
        return statistics.median(self.cold_samples) if self.cold_samples else None


@dataclass
class Expected:
    value: torch.Tensor
    bound: Optional[torch.Tensor] = None  # the |error| that the op's contract permits; None: exact


def sentence(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0].strip()[:200]}" if lines else type(error).__name__


def check(contender, expected):
    """Launches once and sets the verdict and the error."""
    if contender.prepare:
        contender.prepare()
    contender.launch()
    torch.cuda.synchronize()
    if contender.output is None:
        return
    found = contender.output()
    if found.numel() != expected.value.numel():
        contender.verdict, contender.note = "wrong", f"{found.numel()} elements of {expected.value.numel()}"
        return
    found = found.reshape(expected.value.shape)
    if expected.bound is None:
        wrong = int((found.to(expected.value.dtype) != expected.value).sum())
        contender.error = float(wrong)
        if wrong:
            contender.verdict, contender.note = "wrong", f"{wrong} elements differ; {contender.note}"
        return
    error = (found.double() - expected.value).abs()
    contender.error = (error / expected.bound.clamp(min=1e-45)).max().item()
    right = bool((error <= expected.bound).all())
    if not right and contender.kind != "ours":
        # A peer may sum in another order or use an FFT, with larger rounding errors, but compute nothing else.
        right = error.max().item() <= 1e-3 * expected.value.abs().max().item()
    if not right:
        contender.verdict = "wrong"
        contender.note = f"the error is {contender.error:.3g} times the bound; {contender.note}"


def elapsed_us(work):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000


def cold_us(contender, flush):
    for _ in range(3):  # longer than the CPU needs to enqueue what follows
        flush.zero_()
    return elapsed_us(contender.launch)


def capture(contender, say):
    """A graph of contender.launches launches, or None where the contender cannot be captured."""
    graph, stream, before = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.current_stream()
    stream.wait_stream(before)
    try:
        with torch.cuda.stream(stream):
            for _ in range(3):  # first calls allocate and compile: before the capture, on its stream
                contender.launch()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
            for _ in range(contender.launches):
                contender.launch()
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except Exception as error:  # the library does something that a capture does not allow
        say(f"{contender.name} cannot be captured: {sentence(error)}")
        torch.cuda.set_stream(before)  # after a failed capture PyTorch keeps the capture's stream
        torch.cuda.synchronize()
        return None


def is_sound():
    """Whether the device still works and can capture a graph, after something failed."""
    try:
        torch.cuda.synchronize()
        value = torch.ones(8, device="cuda")
        probe = Contender(lambda: value.add_(1), name="a probe", launches=1)
        return capture(probe, lambda text: None) is not None and bool(torch.isfinite(value).all())
    except Exception:
        return False


def run_hot(contender):
    if contender.graph is not None:
        contender.graph.replay()
        return
    for _ in range(contender.launches):
        contender.launch()


def measure(contenders, rounds, seconds, flush, say):
    """Fills the samples. The contenders take turns, so that a drift of the clocks affects all of them alike. Ends after
    `rounds` rounds, or after `seconds` seconds and at least 5 rounds."""
    for contender in contenders:
        try:
            first = min(cold_us(contender, flush) for _ in range(2))
        except Exception as error:
            contender.verdict, contender.note = "failed", sentence(error)
            continue
        contender.launches = round(min(max(4000 / first, 1), 100))
        if contender.capture:
            contender.graph = capture(contender, say)
    contenders = [each for each in contenders if each.verdict == "ok"]
    for _ in range(2):  # lets the clocks settle
        for contender in contenders:
            run_hot(contender)
    torch.cuda.synchronize()
    begin = time.monotonic()
    for done in range(rounds):
        if done >= 5 and time.monotonic() - begin > seconds:
            break
        for contender in contenders:
            run_hot(contender)
            contender.hot_samples.append(elapsed_us(lambda: run_hot(contender)) / contender.launches)
        for contender in contenders:
            contender.cold_samples.append(cold_us(contender, flush))
