"""How a contender is checked and timed on a CUDA GPU, whatever the op and the library. docs/measuring.md says why."""

import itertools
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


def capture(work, say, name):
    """A graph of work(), or None where it cannot be captured."""
    graph, stream, before = torch.cuda.CUDAGraph(), torch.cuda.Stream(), torch.cuda.current_stream()
    stream.wait_stream(before)
    try:
        with torch.cuda.stream(stream):
            for _ in range(2):  # first calls allocate and compile: before the capture, on its stream
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
    """Whether the device still works and can capture a graph, after something failed."""
    try:
        torch.cuda.synchronize()
        value = torch.ones(8, device="cuda")
        return capture(lambda times: value.add_(1), lambda text: None, "a probe") is not None and bool(
            torch.isfinite(value).all())
    except Exception:
        return False


class Runs:
    """What is timed: sequences of launches, each as a graph where it can be captured."""

    COLD_LAUNCHES = 8
    QUEUEING_CYCLES = 400_000  # some 0.2 ms
    SHORT_US = 4000  # a contender's launches of one sample take no longer than about this, but are at least one

    def __init__(self, flush):
        self.flush = flush
        self.word = torch.zeros(1, device="cuda")
        self.alone = {}  # (before, launches) -> a graph of the spacers alone

    def spacer(self):
        """An ordinary kernel of one block."""
        self.word.add_(1)

    def overwrite(self):
        """An ordinary kernel that leaves nothing in the second-level cache but its own."""
        self.flush.zero_()

    @staticmethod
    def work(contender, launches, before):
        def run(times):
            for _ in range(times or launches):
                if before:
                    before()
                if contender:
                    contender.launch()

        return run

    def prepare(self, contender, launches, say):
        """`launches`: of the case; a slow contender gets fewer, since what a replay costs is nothing beside it."""
        first = min(elapsed_us(contender.launch) for _ in range(3))
        contender.launches = max(1, min(launches, round(self.SHORT_US / first)))
        n, cold = contender.launches, min(contender.launches, self.COLD_LAUNCHES)
        for name, before, many in [("apart", self.spacer, n), ("cold", self.overwrite, cold), ("once", None, n),
                                   ("twice", None, 2 * n)]:
            run = self.work(contender, many, before)
            graph = capture(run, say, contender.name) if contender.capture and contender.captured else None
            contender.graphs[name] = graph
            if before and (name, many) not in self.alone:
                self.alone[name, many] = capture(self.work(None, many, before), say, "the spacer")

    def sample(self, contender):
        """One sample of each kind. All is queued behind a kernel that lasts longer than the queueing, so that the
        host's time is in none of them."""
        n, cold = contender.launches, min(contender.launches, self.COLD_LAUNCHES)

        def of(name, launches, before):
            graph = contender.graphs[name]
            return graph.replay if graph else lambda: self.work(contender, launches, before)(None)

        pieces = [
            of("apart", n, self.spacer), self.alone["apart", n].replay,
            of("cold", cold, self.overwrite), self.alone["cold", cold].replay,
            of("once", n, None), of("twice", 2 * n, None)
        ]
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(pieces) + 1)]
        torch.cuda._sleep(self.QUEUEING_CYCLES)
        events[0].record()
        for piece, event in zip(pieces, events[1:], strict=True):
            piece()
            event.record()
        events[-1].synchronize()
        apart, spacers, flushed, flushes, once, twice = (1000 * first.elapsed_time(second)
                                                         for first, second in itertools.pairwise(events))
        for kind, us in [("apart", (apart - spacers) / n), ("cold", (flushed - flushes) / cold),
                         ("chained", (twice - once) / n)]:
            contender.samples.setdefault(kind, []).append(us)


def measure(contenders, rounds, seconds, flush, say):
    """Fills the samples. The contenders take turns, so that a drift of the clocks affects all of them alike. Ends after
    `rounds` rounds, or after `seconds` seconds and at least 5 rounds."""
    runs = Runs(flush)
    firsts = []
    for contender in contenders:
        try:
            firsts.append(min(elapsed_us(contender.launch) for _ in range(3)))
        except Exception as error:
            contender.verdict, contender.note = "failed", sentence(error)
    contenders = [each for each in contenders if each.verdict == "ok"]
    if not contenders:
        return
    launches = round(min(max(1000 / min(firsts), 4), 50))  # one number for all that are not slow
    for contender in contenders:
        runs.prepare(contender, launches, say)
    for contender in contenders:  # lets the clocks settle
        runs.sample(contender)
        contender.samples = {}
    begin = time.monotonic()
    for done in range(rounds):
        if done >= 5 and time.monotonic() - begin > seconds:
            break
        for contender in contenders:
            runs.sample(contender)
