# SPDX-License-Identifier: Apache-2.0
"""Every public function has types, says what it raises, and has an example that runs; a checker sees arrays of the caller's kind. Functions that are
added later are found by the packages' __all__."""

import doctest
import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import tunesmith

modules = {
    "tunesmith": tunesmith,
    "tunesmith.ndimage": tunesmith.ndimage,
    "tunesmith.signal": tunesmith.signal,
}
public = {
    f"{path}.{name}": getattr(module, name)
    for path, module in modules.items()
    for name in module.__all__
    if callable(getattr(module, name))
}
methods = {
    f"{name}.{method}": function
    for name, one in public.items()
    if inspect.isclass(one)
    for method, function in vars(one).items()
    if not method.startswith("_")
}
assert len(public) > 100 and len(methods) > 20


def test_each_says_what_it_raises():
    silent = [name for name, one in public.items() if not re.search(r"\b[Rr]aises?\b", one.__doc__ or "")]
    assert not silent
    for name, one in methods.items():
        assert one.__doc__, name
        assert not callable(one) or re.search("[Rr]aises", one.__doc__), name


def test_what_they_share_stands_before_the_example():
    for name, one in public.items():
        words, marker, example = one.__doc__.partition(">>>")
        assert marker and "Raises" not in example and words.strip(), name


def test_each_parameter_is_named():
    for name, one in public.items():
        if inspect.isfunction(one):
            words = set(re.findall(r"\w+", one.__doc__.partition(">>>")[0]))
            assert not inspect.signature(one).parameters.keys() - words, name


@pytest.mark.parametrize("name", public)
def test_its_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUNESMITH_DB", os.environ["TUNESMITH_DB"])
    if name == "tunesmith.report":
        pytest.importorskip("plotly")
    names = {"np": np, "os": os, "subprocess": subprocess, "sys": sys, "tunesmith": tunesmith}
    test = doctest.DocTestParser().get_doctest(public[name].__doc__, names, name, None, None)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    try:
        result = runner.run(test, out=said.append)
    finally:
        tunesmith.set_device(os.environ.get("TUNESMITH_TEST_DEVICE", "") or "host")
        tunesmith.forget_dispatchers()
    assert result.attempted and not result.failed, "".join(said)


# Arguments besides the first array; a function with a new required parameter needs a word here.
needed = {
    "weights": "[[1.0]]", "sigma": "1.0", "size": "3", "rank": "1", "percentile": "20", "derivative": "tunesmith.ndimage.sobel", "derivative2": "tunesmith.ndimage.sobel",
    "bins": "3", "min": "0", "max": "1", "v": "[1.0]", "y": "[1.0]", "in2": "[[1.0]]", "column_masks": "[[1.0]]", "row_masks": "[[1.0]]", "gamma": "one", "mu": "one",
    "c": "one", "b": "one", "w": "one",
}  # fmt: skip
# NumPy gives a number here, and so does the package, which a checker cannot name; tuples are named as such.
numbers = {f"tunesmith.{name}" for name in ("sum", "mean", "min", "max", "argmin", "argmax", "var", "std", "prod", "any", "all", "ptp", "count_nonzero", "norm")} | {
    f"tunesmith.ndimage.{name}" for name in ("sum", "sum_labels", "mean", "median", "variance", "standard_deviation", "minimum", "maximum")
}  # fmt: skip
tuples = {f"tunesmith.ndimage.{name}" for name in ("extrema", "center_of_mass", "minimum_position", "maximum_position")}  # fmt: skip
arrays = ("a", "x", "input", "in1", "image")


def test_a_checker_sees_arrays_of_the_callers_kind(tmp_path):
    pytest.importorskip("mypy")
    calls = {}
    for name, one in public.items():
        if inspect.isfunction(one) and (parameters := list(inspect.signature(one).parameters.values())):
            first, *others = parameters
            if first.name in arrays:
                rest = [
                    f"{p.name}={needed[p.name]}"
                    for p in others
                    if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD
                ]
                calls[name] = [first.name, ", ".join(["", *rest])]
    assert len(calls) > 80
    lines = [
        "import numpy as np",
        "import tunesmith",
        "class Tensor:  # as PyTorch's, CuPy's and JAX's arrays",
        "    def __dlpack__(self, *, stream: int | None = None) -> object: return 0",
        "    def __dlpack_device__(self) -> tuple[int, int]: return (1, 0)",
    ]
    asked = []
    for name, (first, rest) in calls.items():
        for one, words in (("np.ones((3, 4))", ("numpy.ndarray",)), ("Tensor()", ("calls.Tensor",))):
            for given in (one, f"{first}={one}"):
                asked.append((name, words))
                lines.append(f"reveal_type({name}({given}{rest.replace('=one', '=' + one)}))")
    for call, word in (
        ("tunesmith.tensor('y[i] = x[i]', Tensor())", "calls.Tensor"),
        ("tunesmith.tensor('y[i] = x[i]', x=np.ones(3))", "numpy.ndarray"),
        ("tunesmith.einsum('i,i->', Tensor(), Tensor())", "calls.Tensor"),
        ("tunesmith.reduction('a * 2', Tensor(), axis=0)", "calls.Tensor"),
        ("tunesmith.vectorize('a + b')(Tensor(), 2)", "calls.Tensor"),
        ("tunesmith.sum(np.ones((3, 4)), axis=(0, 1), keepdims=True)", "numpy.ndarray"),
        ("tunesmith.norm(np.ones((3, 4)), axis=1)", "numpy.ndarray"),
        ("tunesmith.logsumexp(Tensor(), return_sign=True)", "tuple[calls.Tensor, calls.Tensor]"),
        ("tunesmith.matmul(np.ones(3), Tensor())", "calls.Tensor"),
        ("tunesmith.matmul([1.0], np.ones(1))", "numpy.ndarray"),
        ("tunesmith.histogram(Tensor())", "tuple[calls.Tensor, numpy.ndarray"),
        ("tunesmith.ndimage.generate_binary_structure(2, 1)", "numpy.ndarray"),
        ("tunesmith.ndimage.histogram(Tensor(), 0, 1, 3, Tensor(), 2)", "calls.Tensor | None"),
        ("tunesmith.ndimage.histogram(Tensor(), 0, 1, 3, Tensor(), [2])", "numpy.ndarray"),
        ("tunesmith.rows('y = x / sum(x)', np.ones((3, 4)))", "numpy.ndarray"),
        ("tunesmith.rows('y = x * s', x=Tensor(), s=2.0)", "calls.Tensor"),
        ("tunesmith.rows('s = sum(x); y = x / s', Tensor(), out=(None, None))", "tuple[calls.Tensor, ...]"),
        ("tunesmith.winners()[0]['median_us']", "float"),
        ("tunesmith.tune('conv2d')[0]", "tunesmith._tuning.Winner"),
        ("[row['error'] for row in tunesmith.replay('recorded.csv')]", "float | None"),
    ):
        asked.append((call, (word,)))
        lines.append(f"reveal_type({call})")
    plain = [name for name, one in public.items() if inspect.isroutine(one)]
    lines += [f"reveal_type({name})" for name in plain]
    (tmp_path / "calls.py").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "MYPYPATH": str(pathlib.Path(tunesmith.__file__).parents[1])}
    run = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "calls.py"], cwd=tmp_path, env=environment,
                         capture_output=True, text=True)  # fmt: skip
    seen = dict(re.findall(r'^calls\.py:(\d+): note: Revealed type is "(.*)"$', run.stdout, re.M))
    assert not re.findall(r"^calls\.py:\d+: error.*", run.stdout, re.M), run.stdout[-3000:]
    unlike = []
    for number, (name, words) in enumerate(asked, 6):
        found = seen[str(number)]
        if name in numbers and words == ("numpy.ndarray",):
            assert found == "Any", name
        elif name in tuples:
            assert found.startswith("tuple["), name
        elif words[0] not in found or found == "Any":
            unlike.append((lines[number - 1], found))
    assert not unlike, unlike
    # A function with several types counts by its first one.
    of_functions = [seen[str(number)].split(", def (")[0] for number in range(6 + len(asked), 1 + len(lines))]
    vague = [
        name
        for name, one in zip(plain, of_functions, strict=True)
        if re.search(r"-> Any$", one) or one == "Any"
    ]
    assert not vague, vague


def test_dir_lists_public_names_only():
    for module in modules.values():
        assert sorted(dir(module)) == sorted(module.__all__)
    assert all(not name.startswith("_") or name == "__version__" for name in dir(tunesmith))


def test_a_dispatcher_says_what_it_is_for():
    dispatcher = tunesmith.Dispatcher("host", database="")
    assert repr(dispatcher) == f"<tunesmith.Dispatcher host: {dispatcher.device}>"


def test_an_unknown_keyword_gets_the_right_one():
    x = np.ones((3, 4))
    for call, words in (
        (lambda: tunesmith.sum(x, dim=0), "sum() has no dim=; use axis=."),
        (lambda: tunesmith.softmax(x, dim=0), "softmax() has no dim=; use axis=."),
        (lambda: tunesmith.mean(x, 0, keepdim=True), "mean() has no keepdim=; use keepdims=."),
        (lambda: tunesmith.sum(x=x), "sum() has no x=; use a=."),
        (lambda: tunesmith.ndimage.gaussian_filter(image=x, sigma=1), "gaussian_filter() has no image=; use input=."),
        (lambda: tunesmith.ndimage.median_filter(x, kernel_size=3), "median_filter() has no kernel_size=; use size=."),
        (lambda: tunesmith.ndimage.correlate(x, kernel=x), "correlate() has no kernel=; use weights=."),
        (lambda: tunesmith.ndimage.maximum(x, label=x), "maximum() has no label=; use labels=."),  # not recorded
        (lambda: tunesmith.ndimage.sobel(x, out=x), "sobel() has no out=; use output=."),
        (lambda: tunesmith.histogram(x, min=0), "histogram() has no min=; use range=."),
        (lambda: tunesmith.bincount([1], min_length=3), "bincount() has no min_length=; use minlength=."),
        (lambda: tunesmith.var(x, axes=0), "var() has no axes=; use axis=."),
        (lambda: tunesmith.einsum("ij->i", x, foo=3), "einsum() has no foo=; its parameters are subscripts, out, dtype, order, casting, optimize, accuracy."),
    ):  # fmt: skip
        for _ in range(2):
            with pytest.raises(TypeError) as caught:
                call()
            assert str(caught.value) == words
    assert tunesmith.sum(x, axis=0).shape == (4,)  # recording goes on
    for name, function in public.items():
        if inspect.isfunction(function) and not any(
            one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values()
        ):
            with pytest.raises(TypeError, match="no_such_word|required"):
                function(no_such_word=3)
            if (
                list(inspect.signature(function).parameters)[:1]
                and next(iter(inspect.signature(function).parameters)) in arrays
            ):
                with pytest.raises(TypeError, match=r"has no no_such_word=; (use|its parameters are)"):
                    function(x, no_such_word=3)
            assert name
