#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tunes on one database while processes are killed, files cannot grow, locks are held and clocks jump.

    soak.py TUNESMITH

$TUNESMITH_SOAK_SECONDS is the time (default: 20), $TUNESMITH_SOAK_SEED chooses the order.

Afterwards every verdict that was ever seen is unchanged, the file is sound, no process and no temporary
folder is left, and a plain run ends well. Prints the actions; exit code 1 if something is wrong.
"""

import collections
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TUNESMITH = sys.argv[1]
SECONDS = float(os.environ.get("TUNESMITH_SOAK_SECONDS", "20"))
chance = random.Random(int(os.environ.get("TUNESMITH_SOAK_SEED", "1")))
scratch = pathlib.Path(tempfile.mkdtemp(prefix="tunesmith-soak-"))
database, temporary = scratch / "soak.db", scratch / "tmp"
temporary.mkdir()
environment = dict(
    os.environ, TMPDIR=str(temporary), XDG_CACHE_HOME=str(scratch / "cache"), SOAK=str(scratch)
)
environment.pop("TUNESMITH_CXX", None)  # behind a script that is killed the compiler goes on
done, wrong = collections.Counter(), []
seen = {}


def check(right, sentence):
    if not right:
        wrong.append(sentence)
        print("WRONG:", sentence, flush=True)


def start(budget="2s", **options):
    size = chance.randint(8, 14)
    command = [
        TUNESMITH,
        "tune",
        "conv2d",
        "--device",
        "host",
        "--db",
        str(database),
        "--budget",
        budget,
        "--seed",
        str(chance.randint(1, 10**6)),
        "--problem",
        f"height={size} width={size} mask_height=3 mask_width=3",
    ]
    done["runs"] += 1
    return subprocess.Popen(
        command,
        env=dict(environment, **options.pop("env", {})),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def end(process, codes, what):
    try:
        words = process.communicate(timeout=120)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return check(False, f"{what}: the run did not end within 120 s")
    check(process.returncode in codes, f"{what}: exit code {process.returncode}: {words.strip()[-300:]}")


def rows():
    if not database.exists():
        return {}
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=20) as db:
            return {
                row[0]: row
                for row in db.execute(
                    "SELECT id, session_id, sequence, variant_id, problem_id, verdict, median_us, samples_us FROM measurement"
                )
            }
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # it is being made
            return {}
        raise


def processes():
    """Our processes, by the environment that they were started with: pid and arguments."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"SOAK={scratch}".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            pass
    return found


def pause(most=2.0):
    time.sleep(chance.uniform(0.02, most))


def kill_tuner():
    run = start()
    pause(3)
    seen.update(rows())
    run.kill()
    run.communicate()
    return "tuner killed"


def kill_workers():
    run = start("3s")
    while run.poll() is None:
        pause(0.6)
        workers = [pid for pid, words in processes().items() if " worker " in words]
        if workers and run.poll() is None:
            os.kill(chance.choice(workers), signal.SIGKILL)
            done["workers killed"] += 1
    end(
        run, {0, 1}, "a run whose workers are killed"
    )  # 1: too many deaths in a row look like a broken device
    return "runs with killed workers"


def interrupt():
    run = start()
    pause(3)
    run.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM]))
    end(run, {0, 130, -signal.SIGINT, -signal.SIGTERM}, "an interrupt")  # before it listens, it ends at once
    return "interrupts"


def lock():
    run = start()
    pause(1.5)
    db = sqlite3.connect(database, timeout=20, isolation_level=None)
    try:
        db.execute("BEGIN EXCLUSIVE")
        time.sleep(chance.uniform(0.1, 3))
        db.execute("ROLLBACK")
    finally:
        db.close()
    end(run, {0}, "a locked database")
    return "locks held"


def full():
    size = max([file.stat().st_size for file in scratch.glob("soak.db*")] + [1 << 20])

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + chance.randint(0, 1 << 16),) * 2)

    end(start(preexec_fn=limit, restore_signals=False), {0, 1}, "files that cannot grow")
    return "full disks"


def two():
    runs = [start(), start()]
    for run in runs:
        end(run, {0}, "two tuners on one file")
    return "pairs of tuners"


def clock():
    end(start(env={"LD_PRELOAD": str(scratch / "clock.so")}), {0}, "a clock that jumps")
    return "runs with jumping clocks"


def inspect():
    now = rows()
    lost = [key for key, row in seen.items() if now.get(key) != row]
    check(not lost, f"{len(lost)} verdicts were lost or changed: {lost[:5]}")
    seen.update(now)
    with sqlite3.connect(database, timeout=20) as db:
        check(db.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the file is damaged")
        check(not db.execute("PRAGMA foreign_key_check").fetchall(), "rows point nowhere")
    deadline = time.time() + 10
    while (left := processes()) and time.time() < deadline:
        time.sleep(0.05)
    check(not left, f"processes are left: {left}")


subprocess.run(
    [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        scratch / "clock.so",
        pathlib.Path(__file__).with_name("clock.c"),
        "-ldl",
    ],
    check=True,
)
end(start(), {0}, "the first run")
deadline = time.time() + SECONDS
ways = [kill_tuner, kill_workers, interrupt, lock, full, two, clock]
turn = 0
while time.time() < deadline or turn < len(ways):
    done[ways[turn % len(ways)]()] += 1
    turn += 1
    inspect()
    done["folders that the next run removed"] += len(list(temporary.iterdir()))
end(start(), {0}, "the last run")
inspect()
check(not list(temporary.iterdir()), f"left in the temporary folder: {list(temporary.iterdir())[:5]}")
with sqlite3.connect(database) as db:
    states = dict(db.execute("SELECT state, count(*) FROM session GROUP BY 1"))
    check(not states.get("running"), f"sessions that never ended: {states}")
print(f"{len(seen)} verdicts, {'none' if not wrong else 'SOME'} lost; sessions {states}")
for what, count in sorted(done.items()):
    print(f"{count:6d} {what}")
if not wrong:
    subprocess.run(["rm", "-rf", scratch], check=True)
sys.exit(1 if wrong else 0)
