# SPDX-License-Identifier: Apache-2.0
"""Tests the report: its numbers against the database, its texts, and its looks in a real browser; and the queries for Datasette."""

import base64
import csv
import hashlib
import html
import html.parser
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest
import tunesmith
import tunesmith._report.data
import tunesmith._report.page

repository = pathlib.Path(__file__).parents[2]
problem = "height=20 width=30 mask_height=3 mask_width=3"
hostile = "<script>alert(1)</script>"
titles = [
    "What is here",
    "Winners",
    "Landscape",
    "A second objective",
    "Time against size, and what limits it",
    "Between the anchors",
    "Runs",
    "What failed, and why",
]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tunesmith", *map(str, arguments)], capture_output=True, text=True
    )


def heat():
    """The example with the reach of its steps cut: each is a launch, and the checks try the largest."""
    text = (repository / "examples/user_kernels/heat.cu").read_text()
    assert "steps = [1, 1000]" in text
    return text.replace("steps = [1, 1000]", "steps = [1, 60]")


def of_schema(path, text):
    sql = sqlite3.connect(path)
    sql.executescript(text)
    sql.close()
    return path


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Few variants on the host, one that failed, and hostile texts."""
    path = tmp_path_factory.mktemp("report") / "tuned.db"
    tunesmith.tune(
        "conv2d", problem, device="host", budget="6", database=path, seed=3, progress=False, template="tiled"
    )
    shutil.copy(path, path.with_name("alone.db"))
    sql = sqlite3.connect(path)
    copied = [
        column[1]
        for column in sql.execute("PRAGMA table_info(measurement)")
        if column[1] not in ("id", "sequence", "problem_id")
    ]
    text = sql.execute("SELECT text FROM problem").fetchone()[0]
    sql.execute(
        "INSERT INTO problem (op, text) VALUES ('conv2d', ?)",
        (text.replace('value="0"', f'value="{hostile}"'),),
    )
    bad = sql.execute("SELECT max(id) FROM problem").fetchone()[0]
    sql.execute(
        "INSERT INTO problem (op, text) VALUES ('conv2d', ?)", (text.replace("height=20", "height=40", 1),)
    )
    larger = sql.execute("SELECT max(id) FROM problem").fetchone()[0]
    for measurement in sql.execute("SELECT id FROM measurement ORDER BY id DESC LIMIT 4").fetchall():
        for number, copy in enumerate((bad, larger), 1):
            sql.execute(
                f"INSERT INTO measurement (sequence, problem_id, {', '.join(copied)}) "
                f"SELECT sequence + {number}000, {copy}, {', '.join(copied)} FROM measurement WHERE id = ?",
                measurement,
            )
    sql.execute(
        f"INSERT INTO measurement (session_id, sequence, variant_id, problem_id, device_id, is_base, verdict, reason, toolchain, driver, measured_at, generation) "
        "SELECT session_id, 5000, variant_id, problem_id, device_id, 0, 'wrong_result', ?, toolchain, driver, measured_at, generation + 1 "
        f"FROM measurement WHERE problem_id = {bad} AND NOT is_base LIMIT 1",
        ("</script><img src=x onerror=alert(1)> at 7.",),
    )
    sql.execute(
        "INSERT INTO winner SELECT ?, device_id, alignment_bytes, (SELECT max(id) FROM measurement WHERE verdict = 'ok'), since, objective, 0, 1 FROM winner LIMIT 1",
        (bad,),
    )
    sql.execute("UPDATE session SET command = command || ?", (hostile,))
    sql.commit()
    sql.close()
    return path


class Page(html.parser.HTMLParser):
    """The page as a browser sees it: tags with their attributes, the text of scripts, the text of cells."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.scripts, self.cells, self.heads, self.text, self._in = [], [], [], [], "", None
        self.feed(pathlib.Path(path).read_text(encoding="utf-8"))
        self.figures = json.loads(self.scripts[0])

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in = tag
        if tag == "script":
            self.scripts.append("")
        elif tag == "td":
            self.cells.append("")
        elif tag == "th":
            self.heads.append("")

    def handle_endtag(self, tag):
        self._in = None

    def handle_data(self, data):
        if self._in == "script":
            self.scripts[-1] += data
        elif self._in == "td":
            self.cells[-1] += data
        elif self._in == "th":
            self.heads[-1] += data
        if self._in not in ("script", "style"):
            self.text += data

    def named(self, tag):
        return [attributes for each, attributes in self.tags if each == tag]

    def traces(self, name):
        return [
            trace for figure in self.figures.values() for trace in figure["data"] if trace.get("name") == name
        ]


@pytest.fixture(scope="module")
def page(tuned):
    pytest.importorskip("plotly")
    path = tuned.with_suffix(".html")
    assert tunesmith.report(path, database=tuned) == str(path)
    return Page(path)


def test_it_has_every_section_and_no_empty_figure(page):
    assert all(title in page.text for title in titles)
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [attributes["href"][1:] for attributes in page.named("a")]
    assert len(targets) >= len(titles) and set(targets) <= set(ids)
    plots = [attributes["id"] for attributes in page.named("div") if attributes.get("class") == "plot"]
    assert plots == list(page.figures) and len(plots) >= 8
    for figure in page.figures.values():
        assert figure["data"] and figure["layout"]["xaxis"]["title"]["text"]
        assert all(len(trace.get("x", [])) > 0 for trace in figure["data"]), figure["data"]


def test_a_screen_reader_has_names(page):
    named = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    plots = [attributes for attributes in page.named("div") if attributes.get("class") == "plot"]
    for plot in plots:
        assert plot["role"] == "img"
        assert {plot["aria-labelledby"], plot["aria-describedby"]} <= named
    tables = page.named("table")
    assert len(tables) >= 4 and all(table["aria-label"] for table in tables)
    boxes = [attributes for attributes in page.named("div") if attributes.get("class") == "scroll"]
    assert all(box["tabindex"] == "0" and box["role"] == "region" and box["aria-label"] for box in boxes)
    assert all(head["scope"] == "col" for head in page.named("th"))


def test_a_column_has_one_unit(page):
    """The heading says it, and cells have digits without exponents."""
    assert {"median, µs", "95 % interval, µs", "took, s"} <= set(page.heads)
    assert not [cell for cell in page.cells if re.search(r"\d (µs|ms)$|\de[+-]\d", cell)]
    figures = json.dumps(page.figures, ensure_ascii=False)
    assert ":.4g}" not in figures and not re.search(r'"text": \[\[[^]]*e[+]', figures)


def test_it_needs_nothing_else_and_runs_nothing_else(page, tuned):
    assert not [
        name for _, attributes in page.tags for name in attributes if name == "src" or name.startswith("on")
    ]
    assert {attributes["href"] for attributes in page.named("link")} == {"data:,"}
    policy = next(attributes["content"] for attributes in page.named("meta") if "content" in attributes)
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-eval" not in policy
    for script in page.scripts[1:]:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert "url(" not in next(
        iter(
            re.findall(r"<style>(.*?)</style>", tuned.with_suffix(".html").read_text(encoding="utf-8"), re.S)
        )
    )


def test_texts_of_a_database_are_texts(page, tuned):
    assert len(page.scripts) == 3 and not page.named("img") and "<" not in page.scripts[0]
    assert hostile in page.text and "</script><img src=x onerror=alert(1)> at 7." in page.cells
    drawn = json.dumps(page.figures)
    assert "&lt;script" in drawn and "<script" not in drawn  # plotly reads some HTML in labels


def test_its_numbers_are_the_databases(page, tuned):
    sql = sqlite3.connect(tuned)
    winners = sql.execute("SELECT median_us FROM winners ORDER BY median_us").fetchall()
    assert sorted(page.traces("winner, with interval")[0]["x"]) == [row[0] for row in winners]
    interval = sql.execute("SELECT low_us, high_us FROM winners WHERE low_us IS NOT NULL LIMIT 1").fetchone()
    shown = [
        [float(one.replace(",", "")) for one in cell.split(" to ")]
        for cell in page.cells
        if re.fullmatch(r"[\d.,]+ to [\d.,]+", cell)
    ]
    assert any(one == pytest.approx(interval, rel=1e-3) for one in shown)
    assert sum("provisional: no finals yet" in cell for cell in page.cells) == 1  # the copied one
    ratios = sql.execute(
        "SELECT count(*) FROM finalist JOIN winners w ON w.measurement_id = winner_id WHERE finalist.measurement_id <> winner_id"
    ).fetchone()[0]
    # There may be no such variant: a race may have only one runner.
    assert (
        sum(
            len(trace["x"])
            for name in ("cannot be told from the best", "slower")
            for trace in page.traces(name)
        )
        == ratios
    )
    best = dict(
        sql.execute(
            "SELECT problem, min(median_us) FROM results WHERE verdict = 'ok' AND is_current GROUP BY problem"
        )
    )
    assert sorted(page.traces("best that was found")[0]["y"])[0] == min(best.values())
    # The bytes of image, output and mask, f32.
    assert page.traces("best that was found")[0]["x"][0] == 4 * (20 * 30 * 2 + 9)
    rank = [
        trace
        for figure in page.figures.values()
        if figure["layout"]["xaxis"]["title"]["text"] == "variants, the fastest first"
        for trace in figure["data"]
    ]
    assert sorted(y for trace in rank if trace["mode"] == "markers" for y in trace["y"])[0] == min(
        best.values()
    )
    costs = next(
        trace
        for figure in page.figures.values()
        for trace in figure["data"]
        if "customdata" in trace and trace["mode"] == "markers+text"
    )
    shown = {(axis, value): ratio for axis, value, ratio in zip(costs["y"], costs["customdata"], costs["x"])}
    text, template = sql.execute(
        "SELECT problem, template FROM results WHERE verdict = 'ok' AND NOT is_base ORDER BY median_us LIMIT 1"
    ).fetchone()
    for axis, value, us in sql.execute(
        "SELECT axis, value, min(median_us) FROM results JOIN axes USING (measurement_id) WHERE problem = ? AND template = ? AND verdict = 'ok' "
        "AND is_current GROUP BY axis, value",
        (text, template),
    ):
        assert shown.get((axis, value), us / min(best.values())) == pytest.approx(us / min(best.values()))
        assert (
            (axis, value) not in shown
            or f"{value} (" in " ".join(costs["text"])
            or "…" in " ".join(costs["text"])
        )
    assert len(shown) >= 4
    tried = {
        (axis, value): words
        for axis, value, words in zip(costs["y"], costs["customdata"], costs["hovertext"])
    }
    for axis, value, times in sql.execute(
        "SELECT axis, value, count(*) FROM results JOIN axes USING (measurement_id) WHERE problem = ? AND template = ? AND verdict = 'ok' "
        "AND is_current GROUP BY axis, value",
        (text, template),
    ):
        assert tried.get((axis, value), f"{times} ").split()[0] == str(times)
    assert (
        sum(page.traces("wrong result")[0]["x"])
        == sql.execute("SELECT count(*) FROM failures").fetchone()[0]
        == 1
    )
    spent = sum(
        sum(trace["x"])
        for name in ("search", "finals", "table", "stage not known")
        for trace in page.traces(name)
    )
    assert spent == pytest.approx(sql.execute("SELECT sum(wall_ms) / 1000 FROM measurement").fetchone()[0])
    for trace in page.traces("predicted") + page.traces("exact"):
        assert all(us > 0 for us in trace["y"])
    exact = page.traces("exact")[0]  # a tuned problem is answered from its winner
    assert any(us == pytest.approx(winners[0][0], rel=0.01) for us in exact["y"])


def test_one_problem_predicts_nothing(tuned, page, tmp_path):
    assert page.traces("predicted") and "Measured were 3 problems." in page.text
    of_one = Page(tunesmith.report(tmp_path / "alone.html", database=tuned.with_name("alone.db")))
    assert "Fewer than 3 problems of it were measured" in of_one.text
    assert not of_one.traces("predicted") and not of_one.traces("exact")


def test_what_an_older_body_measured_is_no_time_of_the_kernel(tuned, page, tmp_path):
    """The kernels were edited after a run that found them a thousand times as fast."""
    edited = tmp_path / "edited.db"
    shutil.copy(tuned, edited)
    sql = sqlite3.connect(edited)
    sql.execute("INSERT INTO template (op, name, body_hash) SELECT op, name, 'older' FROM template")
    sql.execute(
        "INSERT INTO variant (template_id, target, source_hash, config, compiled_in, entry) "
        "SELECT o.id, v.target, 'older' || v.source_hash, v.config, v.compiled_in, v.entry FROM variant v "
        "JOIN template t ON t.id = v.template_id JOIN template o ON o.op = t.op AND o.name = t.name AND o.body_hash = 'older'"
    )
    copied = [
        column[1]
        for column in sql.execute("PRAGMA table_info(measurement)")
        if column[1] not in ("id", "sequence", "variant_id")
    ]
    values = ", ".join(
        {"generation": "m.generation - 5", "median_us": "m.median_us / 1000"}.get(name, "m." + name)
        for name in copied
    )
    sql.execute(
        f"INSERT INTO measurement (sequence, variant_id, {', '.join(copied)}) SELECT -m.sequence, o.id, {values} FROM measurement m "
        "JOIN variant v ON v.id = m.variant_id JOIN variant o ON o.source_hash = 'older' || v.source_hash"
    )
    sql.commit()
    sql.close()
    of_edited = Page(tunesmith.report(tmp_path / "edited.html", database=edited))
    for name in (
        "All variants by time",
        "What a choice costs",
        "best that was found",
        "wrong result",
        "winner, with interval",
        "base",
    ):
        assert [(trace["x"], trace.get("y")) for trace in of_edited.traces(name)] == [
            (trace["x"], trace.get("y")) for trace in page.traces(name)
        ], name
    rank = [
        [trace["y"] for trace in figure["data"] if trace["mode"] == "markers"]
        for each in (page, of_edited)
        for figure in each.figures.values()
        if figure["layout"]["xaxis"]["title"]["text"] == "variants, the fastest first"
    ]
    assert len(rank) == 2 and rank[0] == rank[1]


def test_another_devices_history_and_other_libraries(tmp_path):
    pytest.importorskip("plotly")
    database = tmp_path / "h200.db"
    assert run("db", "load", repository / "db/nvidia_h200_conv2d.sql", "--db", database).returncode == 0
    results = repository / "bench/results/results.csv"
    made = run(
        "report",
        "--db",
        database,
        "-o",
        tmp_path / "h200.html",
        "--results",
        results,
        "--problem",
        "mask_height=7",
        "--device",
        "h200",
    )
    assert (made.returncode, made.stdout) == (0, f"{tmp_path}/h200.html\n"), made.stderr
    page = Page(tmp_path / "h200.html")
    assert "Only problems with mask_height=7." in page.text and "mask_height=31" not in json.dumps(
        page.figures
    )
    rows = [
        row
        for row in csv.DictReader(results.open())
        if row["op"] == "conv2d" and row["verdict"] == "ok" and "mask_height=7" in row["problem"].split()
    ]
    assert sorted(page.traces("PyTorch")[0]["y"]) == sorted(
        float(row["chained_us"]) for row in rows if row["contender"] == "PyTorch"
    )
    copies = [
        float(re.search(r"(\d+) bytes", row["note"])[1]) / float(row["cold_us"]) / 1e3
        for row in csv.DictReader(results.open())
        if row["contender"] == "copy" and row["verdict"] == "ok"
    ]
    assert f"The limit is {max(copies):.4g} GB/s" in page.text
    other = run(
        "report",
        "--db",
        tmp_path / "h200.db",
        "-o",
        tmp_path / "x.html",
        "--results",
        repository / "docs/measuring.csv",
    )
    assert other.returncode == 2 and "is not a results file" in other.stderr


def test_old_and_empty_databases(tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    monkeypatch.setattr("tunesmith._report.between._SWEEP", 2)
    # The file then has an older schema than the program, which still reads it.
    monkeypatch.setattr("tunesmith._report.data._SCHEMA", 2)
    old = of_schema(tmp_path / "1.db", (repository / "db/nvidia_h200_conv2d.sql").read_text(encoding="utf-8"))
    page = Page(tunesmith.report(tmp_path / "old.html", database=old, op="conv2d"))
    assert "All variants by time" in page.text and len(page.figures) >= 3
    empty = of_schema(tmp_path / "empty.db", (repository / "db/schema.sql").read_text(encoding="utf-8"))
    page = Page(tunesmith.report(tmp_path / "empty.html", database=empty))
    assert (
        page.figures == {}
        and "Nothing was measured yet." in page.text
        and all(title in page.text for title in titles)
    )


def test_ones_own_kernels_have_metrics_and_launches(tmp_path):
    pytest.importorskip("plotly")
    text = heat()
    file, path = tmp_path / "heat.cu", tmp_path / "heat.db"
    file.write_text(text.replace("[launch]", '[metrics]\nsteps_per_s = "steps / time"\n\n[launch]', 1))
    tunesmith.tune(file, "n=100 steps=5", device="host", budget="2", database=path, progress=False)
    page = Page(tunesmith.report(tmp_path / "heat.html", database=path, kernels=[file]))
    assert "Your own kernels" in page.text and "steps_per_s" in page.text
    assert "times: heat<<<" in page.text
    rows = [n for n, cell in enumerate(page.cells) if cell == "n=100 steps=5 dtype=f32"]
    assert any(float(page.cells[n + 4].replace(",", "")) > 0 for n in rows if n + 4 < len(page.cells))
    assert page.traces("best that was found"), "the bytes of its arrays are known"
    assert "There is no op" not in page.text and "no op of this package" not in page.text
    without = Page(tunesmith.report(tmp_path / "without.html", database=path))
    assert "There is no op" not in without.text
    missing = Page(tunesmith.report(tmp_path / "none.html", database=path, kernels=[tmp_path / "none.cu"]))
    assert "none.cu" in missing.text, "a file that is not there is a sentence on the page"


def test_a_second_objective_has_its_pareto_set(tmp_path):
    pytest.importorskip("plotly")
    text = heat()
    file, path = tmp_path / "heat.cu", tmp_path / "heat.db"
    # The slowest is the best by it, so each variant is in the set.
    text = text.replace("/* tunesmith\n", '/* tunesmith\nname = "slow_heat"\n', 1)
    file.write_text(
        text.replace("[launch]", '[metrics]\nslowness = { value = "time", better = "larger" }\n\n[launch]', 1)
    )
    tunesmith.tune(file, "n=100 steps=5", device="host", budget="3", database=path, progress=False)
    page = Page(tunesmith.report(tmp_path / "heat.html", database=path, kernels=[file]))
    assert "Pareto set of time and slowness, of slow_heat" in str(page.tags)
    drawn = [
        trace
        for figure in page.figures.values()
        for trace in figure["data"]
        if figure["layout"]["yaxis"]["title"]["text"] == "slowness"
    ]
    assert len(drawn) == 1 and len(drawn[0]["x"]) == 3 and drawn[0]["x"] == sorted(drawn[0]["x"])
    assert drawn[0]["y"] == pytest.approx([us / 1e6 for us in drawn[0]["x"]])
    assert "slowness" not in Page(tunesmith.report(tmp_path / "without.html", database=path)).text


def test_what_is_wrong_is_a_sentence(tuned, tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    newer = of_schema(tmp_path / "newer.db", "PRAGMA application_id = 1414745428; PRAGMA user_version = 99;")
    other = of_schema(tmp_path / "other.db", "CREATE TABLE t (x);")
    for given, words in (
        ({"database": tmp_path / "none.db"}, "There is no database"),
        ({"database": other}, "not a database of Tunesmith"),
        (
            {"database": newer},
            "newer version of Tunesmith, or by one before 0.1.0 .schema 99; this one reads up to 1",
        ),
        ({"database": __file__}, "could not be read"),
        ({"database": tuned, "op": "reduce"}, "no measurements of reduce"),
        ({"database": tuned, "device": "H9"}, "No device"),
        ({"database": tuned, "problem": "height=21"}, "has the values"),
        ({"database": tuned, "problem": "x"}, "is not a problem"),
    ):
        with pytest.raises(ValueError, match=words):
            tunesmith.report(tmp_path / "x.html", **given)
    failed = run("report", "--db", tmp_path / "none.db")
    assert failed.returncode == 2 and failed.stderr.startswith("tunesmith: There is no database")
    assert not (tmp_path / "x.html").exists()


def test_without_plotly_it_says_what_to_install(monkeypatch, tuned):
    for name in [name for name in sys.modules if name.split(".")[0] == "plotly"] + ["plotly"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"tunesmith\[report\]"):
        tunesmith.report(database=tuned)


browser = next(
    filter(
        None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))
    ),
    None,
)

# The boxes of the figures, and if the page is wider than the window; in the title, where --dump-dom finds it.
MEASURE = """addEventListener('load', () => setTimeout(() => {
  const box = plot => { const at = plot.getBoundingClientRect(); return [at.x, at.y + scrollY, at.width, at.height].map(Math.round); };
  document.title = JSON.stringify({ boxes: [...document.querySelectorAll('.plot')].map(box), theme: document.documentElement.dataset.theme,
    wider: document.documentElement.scrollWidth - innerWidth, height: document.documentElement.scrollHeight });
}, 1500));"""

# The number of pixels of a strong colour, and the brightness of the first pixel, for each box of the pictures.
LOOK = """IMAGES<pre></pre><script>
addEventListener('load', () => {
  document.querySelector('pre').textContent = JSON.stringify(BOXES.map((boxes, which) => {
    const image = document.images[which], canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
    const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
    return boxes.map(([x, y, width, height]) => {
      const at = context.getImageData(x, y, width, height).data; let strong = 0;
      for (let i = 0; i < at.length; i += 4) strong += Math.max(at[i], at[i + 1], at[i + 2]) - Math.min(at[i], at[i + 1], at[i + 2]) > 60;
      return [strong, at[0]];
    });
  }));
});
</script>"""


def browse(folder, page, *options):
    """The page as the browser has it after its scripts, and the console's lines."""
    shown = subprocess.run(
        [
            browser,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--no-first-run",
            f"--user-data-dir={folder}/profile",
            "--enable-logging=stderr",
            "--virtual-time-budget=4000",
            *options,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return shown.stdout, [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.skipif(browser is None, reason="no chromium here; on Debian: apt-get install chromium")
def test_a_browser_shows_it(page, tuned, tmp_path):
    text = tuned.with_suffix(".html").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(MEASURE.encode()).digest()).decode()
    measured = tmp_path / "measured.html"
    measured.write_text(
        text.replace("script-src ", f"script-src 'sha256-{digest}' ").replace(
            "</body>", f"<script>{MEASURE}</script></body>"
        ),
        encoding="utf-8",
    )
    images, boxes, themes = "", [], []
    for width, options in ((1300, []), (500, ["--blink-settings=preferredColorScheme=0"])):
        picture = tmp_path / f"{width}.png"
        dom, console = browse(
            tmp_path, measured, f"--window-size={width},10000", f"--screenshot={picture}", *options
        )
        assert console == []
        seen = json.loads(re.search(r"<title>(.*?)</title>", dom)[1])
        assert len(seen["boxes"]) == len(page.figures) and seen["wider"] <= 0 and seen["height"] <= 10000, (
            seen
        )
        themes.append(seen["theme"])
        assert dom.count('class="main-svg"') >= len(page.figures)
        images += f'<img src="data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}">'
        boxes.append(seen["boxes"])
    assert themes == ["light", "dark"]
    look = tmp_path / "look.html"
    look.write_text(LOOK.replace("IMAGES", images).replace("BOXES", json.dumps(boxes)), encoding="utf-8")
    dom, _ = browse(tmp_path, look)
    light, dark = json.loads(re.search(r"<pre>(.*?)</pre>", dom)[1])
    assert all(strong >= 20 and corner > 200 for strong, corner in light), light
    assert all(strong >= 20 and corner < 60 for strong, corner in dark), dark


# Clicks on headings, writes into the filter, and tells what the table then shows.
USE = """addEventListener('load', () => {
  const [table] = document.querySelectorAll('table'), [name, us] = table.tHead.rows[0].cells, seen = [];
  const says = document.querySelector('.tools [role=status]'), filter = document.querySelector('.tools input');
  const rows = () => seen.push([...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[0].textContent).join(' '));
  us.firstElementChild.click(); rows(); seen.push(us.getAttribute('aria-sort'));
  us.firstElementChild.click(); rows(); seen.push(us.getAttribute('aria-sort'));
  name.firstElementChild.click(); rows(); seen.push(String(us.getAttribute('aria-sort')));
  seen.push(says.textContent);
  filter.value = 'B1 second'; filter.dispatchEvent(new Event('input')); rows(); seen.push(says.textContent);
  document.title = JSON.stringify(seen);
});"""


@pytest.mark.skipif(browser is None, reason="no chromium here; on Debian: apt-get install chromium")
def test_tables_are_sorted_filtered_and_counted(tmp_path):
    page = tunesmith._report.page.Page("A table")
    page.section("Section", "About it.")
    times = {"b10": 3, "b9": 20_000, "b1": 100, "a": None, "b11": 0.5, "c": 7}
    page.table(
        "Times",
        ["name", "median, µs", *(f"a long heading of column {n}" for n in range(12))],
        [
            [name, tunesmith._report.data.number(us), "second" if name != "c" else "", *(["x"] * 11)]
            for name, us in times.items()
        ],
    )
    path = tmp_path / "table.html"
    digest = base64.b64encode(hashlib.sha256(USE.encode()).digest()).decode()
    text = page.text("const Plotly = {react() {}};")
    path.write_text(
        text.replace("script-src ", f"script-src 'sha256-{digest}' ").replace(
            "</body>", f"<script>{USE}</script></body>"
        ),
        encoding="utf-8",
    )
    dom, console = browse(tmp_path, path, "--window-size=1000,800")
    assert console == []
    seen = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", dom)[1]))
    assert seen[:6] == [
        "b11 b10 c b1 b9 a",
        "ascending",
        "b9 b1 c b10 b11 a",
        "descending",
        "a b1 b9 b10 b11 c",
        "null",
    ]
    assert re.fullmatch(
        r"6 rows, [1-9] of 14 columns in sight: scroll sideways; click on a heading to sort", seen[6]
    )
    assert seen[7] == "b1 b10 b11" and seen[8].startswith("3 of 6 rows, ")


def test_datasettes_queries_run(tuned):
    text = (repository / "db/datasette.yaml").read_text(encoding="utf-8")
    queries = re.findall(
        r"^      (\w+):\n        title: .+\n        sql: \|-\n((?:          .*\n)+)", text, re.M
    )
    assert len(queries) >= 8 and len(queries) == text.count("sql:")
    sql = sqlite3.connect(f"file:{tuned}?mode=ro", uri=True)
    found = {
        name: sql.execute(query, {"op": "conv2d", "problem": "height=20", "axis": "BLOCK_X"}).fetchall()
        for name, query in queries
    }
    assert all(found.values()), [name for name, rows in found.items() if not rows]
    shown = (repository / "docs/database.md").read_text(encoding="utf-8")
    assert "db/datasette.yaml" in shown
