# SPDX-License-Identifier: Apache-2.0
"""Checks and times a contender on a CUDA GPU, for any op and library. docs/measuring.md explains the method."""

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import torch


class Case(SimpleNamespace):
    """name, problem (text, as the tunesmith command takes it), goals (text, as report.py reads it), and what the
    op's module needs."""


@dataclass
class Contender:
    launch: Callable  # launches on PyTorch's current stream
    output: Callable | None = None  # the tensor that the launch wrote; None: nothing to check
    prepare: Callable | None = None  # called before the launch that is checked; for ops that change an input
    capture: bool = True  # False: it waits for the GPU, which is not allowed in a capture
    note: str = ""
    keep: tuple = ()  # arrays that must live as long as the contender
    name: str = ""
    kind: str = "peer"  # "ours", "peer" or "limit"
    verdict: str = "ok"  # "wrong", "failed"
    error: float | None = None  # the largest |error| in units of the bound
    launches: int = 0  # in a graph, or in a row in the stream
    graphs: dict = field(default_factory=dict)  # by name; None: it cannot be captured
    samples: dict = field(default_factory=dict)  # us per launch, by "apart", "chained", "cold"

    def us(self, by):
        return statistics.median(self.samples[by]) if self.samples.get(by) else None

    @property
    def captured(self):
        return None not in self.graphs.values()


@dataclass
class Expected:
    value: torch.Tensor
    bound: torch.Tensor | None = None  # the |error| that the op's contract permits; None: exact


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
    """us of one launch in the stream, without the host's time: it is queued behind a kernel that lasts until that is done. Two
    events and a launch alone take some 3 us more than the kernel."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(Runs.QUEUEING_CYCLES)
    begin.record()
    work()
    end.record()
    end.synchronize()
    return max(begin.elapsed_time(end) * 1000 - 3, 1)


def capture(work, say, name):
    """A graph of work(), or None if it cannot be captured."""
    graph, stream, before = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.current_stream()
    stream.wait_stream(before)
    try:
        with torch.cuda.stream(stream):
            for _ in range(2):  # first calls allocate and compile: made before the capture, on its stream
                work(1)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="relaxed"):
            work(None)
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except Exception as error:  # the library does something that a capture does not allow
        say(f"{name} cannot be captured: {sentence(error)}")
        torch.cuda.set_stream(before)  # after a failed capture PyTorch keeps the capture's stream
        torch.cuda.synchronize()
        return None


def is_sound():
    """True if the device still works and can capture a graph, after something failed."""
    try:
        torch.cuda.synchronize()
        value = torch.ones(8, device="cuda")
        return capture(lambda times: value.add_(1), lambda text: None, "a probe") is not None and bool(
            torch.isfinite(value).all()
        )
    except Exception:
        return False


class Runs:
    """Times as tuner/cuda_timer.cpp does: takes differences of two sequences of launches, each a graph if it can be
    captured."""

    BEGINNING = 10  # launches of a chain that are not counted: the first ones have nothing to overlap with
    MOST_LAUNCHES = 50
    SAMPLE_US = 300
    SLOW_US = 20000  # us per launch
    LONG_US = 2000  # a launch of this many us is in no more sequences than it must be: the cost of a replay is nothing to it
    SAMPLES = 3  # per visit; their median counts
    QUEUEING_CYCLES = 4_000_000  # some 2 ms: longer than it takes to queue the samples of a visit
    COLD_LAUNCHES = 8
    EVICTED_CACHES = 2

    def __init__(self, space, launches):
        """`space(memory, bytes)` launches an ordinary kernel that reads so much memory, or does nothing.
        `launches`: the number for all contenders except those that last long."""
        self.launches = launches
        self.stream = torch.cuda.Stream()
        cache_bytes = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
        self.evicted = torch.zeros(self.EVICTED_CACHES * cache_bytes, dtype=torch.uint8, device="cuda")
        self.spacers = {
            "apart": lambda: space(None, 0),
            "cold": lambda: space(self.evicted.data_ptr(), self.evicted.numel()),
        }
        self.alone = {}  # graphs of spacers
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * self.SAMPLES + 1)]

    def launches_of(self, us):
        """The number of launches of a contender that takes about this long."""
        return min(self.launches, max(1, round(self.LONG_US / us)))

    def counted(self, kind, contender):
        return min(contender.launches, self.COLD_LAUNCHES) if kind == "cold" else contender.launches

    @staticmethod
    def work(contender, launches, before):
        def run(times):
            for _ in range(times or launches):
                if before:
                    before()
                if contender:
                    contender.launch()

        return run

    def sequences(self, contender):
        """{name: work}"""
        begins = min(self.BEGINNING, contender.launches)
        return {
            "apart": self.work(contender, contender.launches, self.spacers["apart"]),
            "cold": self.work(contender, self.counted("cold", contender), self.spacers["cold"]),
            "chained": self.work(contender, begins + contender.launches, None),
            "beginning": self.work(contender, begins, None),
        }

    def prepare(self, contender, say):
        for name, run in self.sequences(contender).items():
            can = contender.capture and contender.captured
            contender.graphs[name] = capture(run, say, contender.name) if can else None
        for kind, before in self.spacers.items():
            count = self.counted(kind, contender)
            if (kind, count) not in self.alone:
                self.alone[kind, count] = capture(self.work(None, count, before), say, "the spacer")

    def sample(self, contender):
        """The values of one visit."""
        plain = self.sequences(contender)

        def of(name):
            graph = contender.graphs[name]
            return graph.replay if graph else lambda: plain[name](None)

        with torch.cuda.stream(self.stream):
            for kind in ("apart", "cold", "chained"):
                count = self.counted(kind, contender)
                less = of("beginning") if kind == "chained" else self.alone[kind, count].replay
                us = self.difference_us(of(kind), less) / count
                contender.samples.setdefault(kind, []).append(us)

    def difference_us(self, more, less):
        """All is queued behind a kernel that lasts longer than the queueing, so that the host's time is in none of it.
        One replay of each is not timed: it finds what other contenders left in the caches."""
        torch.cuda._sleep(self.QUEUEING_CYCLES)
        more()
        less()
        events = iter(self.events)
        next(events).record()
        for _ in range(self.SAMPLES):
            for work in (more, less):
                work()
                next(events).record()
        self.events[-1].synchronize()
        us = [1000 * first.elapsed_time(second) for first, second in itertools.pairwise(self.events)]
        return statistics.median(long - short for long, short in zip(us[::2], us[1::2], strict=True))


def measure(contenders, rounds, seconds, space, say):
    """Fills the samples. The contenders take turns, so that a drift of the clocks affects all of them alike. Ends after
    `rounds` rounds, or after `seconds` seconds and at least 5 rounds. Slow ones, whose visits take seconds and where a
    drift does not matter, have one."""
    firsts = {}
    for contender in contenders:
        try:
            firsts[id(contender)] = min(elapsed_us(contender.launch) for _ in range(3))
        except Exception as error:
            contender.verdict, contender.note = "failed", sentence(error)
    contenders = [each for each in contenders if each.verdict == "ok"]
    if not contenders:
        return
    fastest = min(firsts.values())
    runs = Runs(space, round(min(max(Runs.SAMPLE_US / fastest, 1), Runs.MOST_LAUNCHES)))
    for contender in contenders:
        contender.launches = runs.launches_of(firsts[id(contender)])
        runs.prepare(contender, say)
    brief = [each for each in contenders if firsts[id(each)] < Runs.SLOW_US]
    for contender in brief:  # lets the clocks settle
        runs.sample(contender)
        contender.samples = {}
    begin = time.monotonic()
    for done in range(rounds):
        if done >= 5 and time.monotonic() - begin > seconds:
            break
        for contender in brief if done else contenders:
            runs.sample(contender)
