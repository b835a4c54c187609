-- SPDX-License-Identifier: Apache-2.0
-- What Tunesmith has measured: every variant that was tried, for which problem and device, with which verdict.
-- Any program that reads SQLite can open it.
-- Times are microseconds of device time unless the name says otherwise; dates are UTC, ISO 8601 with milliseconds.
-- Tables have singular names and refer to each other by id. To read, use the views at the end: results, winners, failures,
-- sessions, trials.
-- The store opens the file in WAL mode with foreign keys on. docs/database.md has example queries.
PRAGMA application_id = 1414745428;  -- "TSMT": tells this file apart from other SQLite databases
PRAGMA user_version = 1;

CREATE TABLE device (
  -- A model of device: two identical GPUs are one row.
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('cuda', 'host')),
  name TEXT NOT NULL,                        -- as its driver reports it
  target TEXT NOT NULL,                      -- what code is compiled for: sm_90a, host
  compute_capability TEXT NOT NULL,          -- '9.0'; '' on the host
  sm_count INTEGER NOT NULL,                 -- multiprocessors; cores on the host
  memory_bytes INTEGER NOT NULL,             -- the most that a driver has reported: it identifies no device
  l2_bytes INTEGER NOT NULL DEFAULT 0,       -- this and what follows: 0 where it is not known
  shared_bytes_per_sm INTEGER NOT NULL DEFAULT 0,
  max_threads_per_sm INTEGER NOT NULL DEFAULT 0,
  max_shared_bytes_per_block INTEGER NOT NULL DEFAULT 0  -- static + dynamic, after opting in
) STRICT;
CREATE UNIQUE INDEX device_model ON device (kind, name, target, compute_capability, iif(kind = 'host', 0, sm_count));

CREATE TABLE template (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  name TEXT NOT NULL,
  body_hash TEXT NOT NULL,                   -- an edited body is a new row: old results keep the body that they had
  UNIQUE (op, name, body_hash)
) STRICT;

CREATE TABLE variant (
  id INTEGER PRIMARY KEY,
  template_id INTEGER NOT NULL REFERENCES template,
  target TEXT NOT NULL,
  source_hash TEXT NOT NULL,                 -- SHA-256 of what the compiler sees of the text: identifies a kernel.
  config TEXT NOT NULL,                      -- 'BLOCK_X=32 BLOCK_Y=8'
  compiled_in TEXT NOT NULL,                 -- the part of the problem that is in the text: 'dtype=f32 mask_width=3'
  entry TEXT NOT NULL,                       -- name of the first kernel in the binary
  UNIQUE (target, source_hash)
) STRICT;
CREATE INDEX variant_by_template ON variant (template_id);

CREATE TABLE problem (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  text TEXT NOT NULL,                        -- canonical: 'batch=1 height=1000 width=2000 dtype=f32'
  UNIQUE (op, text)
) STRICT;

CREATE TABLE session (
  -- One run of a command that measures.
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,                  -- random; however often files are merged, a session is one row
  device_id INTEGER NOT NULL REFERENCES device,
  command TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  budget TEXT NOT NULL,                      -- as given: '10min', '500 variants'; '' if none
  tunesmith_version TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  driver TEXT NOT NULL,
  host_facts TEXT NOT NULL,                  -- 'cores=16 memory_gib=128'
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
  started_at TEXT NOT NULL,
  ended_at TEXT,
  process TEXT,                              -- while it runs: boot, namespace, pid, start time; tells whether it is alive
  device_uuid TEXT NOT NULL DEFAULT '',      -- which GPU of the model; '' if its driver does not tell
  generation INTEGER NOT NULL DEFAULT 0,     -- 1 + the largest in the file when it began: it follows all that it could know
  CONSTRAINT "a session has an end unless it runs" CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_device ON session (device_id);

CREATE TABLE measurement (
  -- One verdict. Append-only: per (variant, problem, device, caches, launches) the newest row is current, older ones are
  -- history. The newest is the last by (generation, session's uid, sequence), in every file and whatever a clock said.
  -- Times are compared only with times of the same caches and launches; a verdict other than ok counts for all.
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,                 -- 1, 2, … in its session
  variant_id INTEGER NOT NULL REFERENCES variant,
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  is_base INTEGER NOT NULL CHECK (is_base IN (0, 1)),  -- 1: this variant was the op's base when it was measured
  verdict TEXT NOT NULL CHECK (verdict IN ('ok', 'compile_error', 'resource_limit', 'launch_error', 'wrong_result',
                                           'out_of_bounds', 'timeout', 'crash')),
  reason TEXT NOT NULL,                      -- a sentence; '' when ok
  median_us REAL,
  min_us REAL,
  spread REAL,                               -- interquartile range of the samples / their median
  samples_us TEXT,                           -- JSON array, one number per sample, in the order taken
  registers INTEGER,                         -- per thread
  static_shared_bytes INTEGER,               -- per block
  dynamic_shared_bytes INTEGER,              -- per block
  spill_bytes INTEGER,                       -- per thread
  max_error REAL,                            -- largest |error| / the error the op permits: above 1 is wrong
  compile_ms REAL,                           -- wall time
  toolchain TEXT NOT NULL,                   -- compiler and version that made the binary
  driver TEXT NOT NULL,                      -- '' on the host
  measured_at TEXT NOT NULL,
  caches TEXT NOT NULL DEFAULT 'warm' CHECK (caches IN ('warm', 'cold')),  -- their state at launch
  launches TEXT NOT NULL DEFAULT 'apart' CHECK (launches IN ('apart', 'chained')),  -- of a sample: between ordinary
                                             -- kernels, or behind each other
  low_us REAL,                               -- 95 % interval of the median over loads of the binary;
  high_us REAL CHECK (high_us >= low_us),    -- NULL where there was one load
  loads INTEGER CHECK (loads > 0),           -- how often the binary was loaded for these samples
  energy_uj REAL CHECK (energy_uj > 0),      -- per launch, in microjoules
  clock_mhz INTEGER CHECK (clock_mhz > 0),   -- lowest clock of the multiprocessors that was seen
  throttled TEXT NOT NULL DEFAULT '',        -- why the clock was held down, in words; '' if it was not
  generation INTEGER NOT NULL DEFAULT 0,     -- its session's, or 1 + that of another session's row on the same kernel
  stage TEXT NOT NULL DEFAULT '' CHECK (stage IN ('', 'search', 'finals', 'table')),  -- of its run; '' where not known
  wall_ms REAL CHECK (wall_ms > 0),          -- that loading, checking and timing took; NULL where nothing was loaded
  space_variants INTEGER CHECK (space_variants > 0),  -- of a base: legal variants of the problem on the device, all templates
  UNIQUE (session_id, sequence),
  CONSTRAINT "an ok measurement has a median above 0" CHECK (verdict <> 'ok' OR ifnull(median_us > 0, 0)),
  CONSTRAINT "a verdict other than ok has a reason" CHECK (verdict = 'ok' OR reason <> ''),
  CONSTRAINT "samples_us is a JSON array" CHECK (samples_us IS NULL OR samples_us GLOB '[[]*]')
) STRICT;
CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, caches, launches, generation);
CREATE INDEX measurement_base ON measurement (device_id, problem_id) WHERE is_base = 1 AND verdict = 'ok';
CREATE INDEX measurement_by_variant ON measurement (variant_id);
CREATE INDEX measurement_by_problem ON measurement (problem_id);

CREATE TRIGGER measurement_never_changes BEFORE UPDATE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never changed: record a new one'); END;
CREATE TRIGGER measurement_never_goes BEFORE DELETE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never deleted: its newest successor is the current one'); END;

CREATE TABLE choice (
  -- What finals named, or dropped, or what an interrupted run had found. Append-only: the winners follow from these rows
  -- and the verdicts alone.
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,                 -- increases in its session
  generation INTEGER NOT NULL,               -- its session's, or 1 + that of another session's row on the same problem
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  alignment_bytes INTEGER NOT NULL CHECK (alignment_bytes > 0),  -- that the variant needs of every pointer
  measurement_id INTEGER REFERENCES measurement,  -- NULL: from here on there is no winner
  objective TEXT NOT NULL CHECK (objective IN ('time', 'energy', 'edp')),  -- edp: energy x time
  chosen_at TEXT NOT NULL,
  provisional INTEGER NOT NULL DEFAULT 0 CHECK (provisional IN (0, 1)),  -- 1: there were no finals, the run was
                                             -- interrupted; it counts only where finals have named nothing
  UNIQUE (session_id, sequence, alignment_bytes)
) STRICT;
CREATE INDEX choice_by_problem ON choice (problem_id, device_id, generation);
CREATE INDEX choice_by_device ON choice (device_id);
CREATE INDEX choice_by_measurement ON choice (measurement_id);

CREATE TRIGGER choice_never_changes BEFORE UPDATE ON choice
BEGIN SELECT raise(ABORT, 'a choice is never changed: a later one replaces it'); END;
CREATE TRIGGER choice_never_goes BEFORE DELETE ON choice
BEGIN SELECT raise(ABORT, 'a choice is never deleted: a later one replaces it'); END;

CREATE TABLE finalist (
  -- What the finals saw that named a winner: each finalist beside it. Append-only.
  winner_id INTEGER NOT NULL REFERENCES measurement,
  measurement_id INTEGER NOT NULL REFERENCES measurement,
  ratio REAL NOT NULL CHECK (ratio > 0),     -- its time / the winner's, paired over rounds
  ratio_low REAL,                            -- 99 % interval of the ratio: it decides, and is looked at after each round;
  ratio_high REAL,                           -- NULL where the two were in too few rounds
  tied INTEGER NOT NULL CHECK (tied IN (0, 1)),  -- 1: it could not be told from the best
  PRIMARY KEY (winner_id, measurement_id)
) STRICT;
CREATE INDEX finalist_by_measurement ON finalist (measurement_id);

CREATE TRIGGER finalist_never_changes BEFORE UPDATE ON finalist
BEGIN SELECT raise(ABORT, 'a finalist is never changed: the finals of later measurements add rows'); END;
CREATE TRIGGER finalist_never_goes BEFORE DELETE ON finalist
BEGIN SELECT raise(ABORT, 'a finalist is never deleted: the finals of later measurements add rows'); END;

CREATE TABLE winner (
  -- Follows from choice and measurement, by the rule in docs/database.md. All of a problem on a device have the same
  -- caches, launches and objective.
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  alignment_bytes INTEGER NOT NULL CHECK (alignment_bytes > 0),  -- that the variant needs of every pointer
  measurement_id INTEGER NOT NULL REFERENCES measurement,
  since TEXT NOT NULL,
  objective TEXT NOT NULL DEFAULT 'time' CHECK (objective IN ('time', 'energy', 'edp')),
  other_gpus INTEGER NOT NULL DEFAULT 0,     -- GPUs of the same model on which others were named at the same time: their
                                             -- times do not compare; finals on one GPU settle it
  provisional INTEGER NOT NULL DEFAULT 0 CHECK (provisional IN (0, 1)),  -- as in its choice
  PRIMARY KEY (problem_id, device_id, alignment_bytes)
) STRICT;
CREATE INDEX winner_by_device ON winner (device_id);
CREATE INDEX winner_by_measurement ON winner (measurement_id);

CREATE TABLE anchor_table (
  -- What dispatch chooses from where there is no winner: a few variants of an op, each measured on many problems.
  -- Append-only: of an op, device, caches and launches the last by (generation, session's uid, sequence) counts.
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES session,
  sequence INTEGER NOT NULL,                 -- 1, 2, … in its session
  generation INTEGER NOT NULL,               -- its session's, or 1 + that of another session's row of the same kind
  op TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES device,
  caches TEXT NOT NULL CHECK (caches IN ('warm', 'cold')),
  launches TEXT NOT NULL CHECK (launches IN ('apart', 'chained')),
  text TEXT NOT NULL,                        -- CSV: variants, and a line per problem with the time of each (docs/choosing.md)
  factors BLOB,                              -- what the model of times finds from the text (docs/choosing.md), and of what text; null: not yet
  made_at TEXT NOT NULL,
  UNIQUE (session_id, sequence)
) STRICT;
CREATE INDEX anchor_table_by_device ON anchor_table (device_id, op, generation);

CREATE TRIGGER anchor_table_never_changes BEFORE UPDATE ON anchor_table
BEGIN SELECT raise(ABORT, 'an anchor table is never changed: a later one replaces it'); END;
CREATE TRIGGER anchor_table_never_goes BEFORE DELETE ON anchor_table
BEGIN SELECT raise(ABORT, 'an anchor table is never deleted: a later one replaces it'); END;

CREATE TABLE trial (
  -- A variant that an application tried when it first used a problem (DispatcherOptions::tune_on_first_use). No verdict: it was
  -- compared with no reference, and timed for moments beside the application's own kernels. No winner follows from it.
  -- Append-only: of a problem, device and driver the last first use by (generation, first_use) counts.
  id INTEGER PRIMARY KEY,
  first_use TEXT NOT NULL,                   -- random: of all that were tried together
  place INTEGER NOT NULL CHECK (place > 0),  -- 1: the fastest, which is used
  generation INTEGER NOT NULL,               -- 1 + the largest on its problem and device when it was written
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  template TEXT NOT NULL,
  config TEXT NOT NULL,
  source_hash TEXT NOT NULL,                 -- as a variant's: another kernel of that config is not what was tried
  us REAL CHECK (us > 0),                    -- of a launch; NULL: it could not be loaded or launched
  toolchain TEXT NOT NULL,                   -- that compiled it then; else where its binary was from, in words
  driver TEXT NOT NULL,                      -- '' on the host
  tunesmith_version TEXT NOT NULL,
  tried_at TEXT NOT NULL,
  UNIQUE (first_use, place)
) STRICT;
CREATE INDEX trial_by_problem ON trial (problem_id, device_id, generation);
CREATE INDEX trial_by_device ON trial (device_id);

CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT raise(ABORT, 'a trial is never changed: a later first use adds rows'); END;
CREATE TRIGGER trial_never_goes BEFORE DELETE ON trial
BEGIN SELECT raise(ABORT, 'a trial is never deleted: a later first use adds rows'); END;

CREATE TABLE binary (
  -- What dispatch loads, so that an application needs no compiler. Kept only for winners.
  variant_id INTEGER PRIMARY KEY REFERENCES variant,
  toolchain TEXT NOT NULL,
  hash TEXT NOT NULL,                        -- of bytes, computed by their writer
  bytes BLOB NOT NULL,                       -- cubin, or shared object for the host
  made_at TEXT NOT NULL
) STRICT;

CREATE VIEW current_measurement AS
SELECT m.* FROM measurement m JOIN session s ON s.id = m.session_id
WHERE NOT EXISTS (SELECT 1 FROM measurement n JOIN session o ON o.id = n.session_id
                  WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                    AND n.caches = m.caches AND n.launches = m.launches
                    AND (n.generation, o.uid, n.sequence) > (m.generation, s.uid, m.sequence));

CREATE VIEW kernel AS  -- each measurement, and whether it is of the kernel that its template and config stand for now
-- An edited body is another kernel: what its older text measured is not its own. Of a template on a problem and device the
-- body that was measured last counts, and of a config of that body the text that was measured last.
SELECT id AS measurement_id, template_id <> newest_template_id OR variant_id <> newest_variant_id AS is_stale
FROM (SELECT m.id, v.template_id, m.variant_id,
             first_value(v.template_id) OVER (PARTITION BY m.device_id, m.problem_id, t.op, t.name
                                              ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC) AS newest_template_id,
             first_value(m.variant_id) OVER (PARTITION BY m.device_id, m.problem_id, v.template_id, v.config
                                             ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC) AS newest_variant_id
      FROM measurement m
      JOIN session s ON s.id = m.session_id
      JOIN variant v ON v.id = m.variant_id
      JOIN template t ON t.id = v.template_id);

CREATE VIEW results AS  -- every verdict, with names in place of ids
SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, v.compiled_in, v.target,
       m.verdict, m.reason, m.caches, m.launches, m.median_us, m.low_us, m.high_us, m.loads, m.min_us, m.spread,
       m.samples_us, m.energy_uj, m.clock_mhz, m.throttled, m.is_base,
       NOT k.is_stale AND
       NOT EXISTS (SELECT 1 FROM measurement n JOIN session o ON o.id = n.session_id
                   WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                     AND n.caches = m.caches AND n.launches = m.launches
                     AND (n.generation, o.uid, n.sequence) > (m.generation, s.uid, m.sequence)) AS is_current, k.is_stale,
       m.registers, m.static_shared_bytes, m.dynamic_shared_bytes, m.spill_bytes, m.max_error, m.compile_ms,
       m.stage, m.wall_ms, ifnull(length(m.samples_us) - length(replace(m.samples_us, ',', '')) + (length(m.samples_us) > 2), 0) AS samples, m.space_variants,
       m.toolchain, m.driver, m.measured_at, v.source_hash, m.session_id, m.id AS measurement_id
FROM measurement m
JOIN kernel k ON k.measurement_id = m.id
JOIN session s ON s.id = m.session_id
JOIN variant v ON v.id = m.variant_id
JOIN template t ON t.id = v.template_id
JOIN problem p ON p.id = m.problem_id
JOIN device d ON d.id = m.device_id;

CREATE VIEW axes AS  -- the config of each measurement, one row per axis; a value with blanks stands in quotes in the text
WITH RECURSIVE part (variant_id, axis, value, rest) AS (
  SELECT id, '', '', config || ' ' FROM variant
  UNION ALL
  SELECT variant_id, substr(rest, 1, instr(rest, '=') - 1),
         iif(substr(rest, instr(rest, '=') + 1, 1) = '"',
             substr(rest, instr(rest, '=') + 2, instr(substr(rest, instr(rest, '=') + 2), '"') - 1),
             substr(rest, instr(rest, '=') + 1, instr(substr(rest, instr(rest, '=') + 1), ' ') - 1)),
         iif(substr(rest, instr(rest, '=') + 1, 1) = '"',
             substr(substr(rest, instr(rest, '=') + 2), instr(substr(rest, instr(rest, '=') + 2), '"') + 2),
             substr(substr(rest, instr(rest, '=') + 1), instr(substr(rest, instr(rest, '=') + 1), ' ') + 1))
  FROM part WHERE instr(rest, '=') > 0)
SELECT m.id AS measurement_id, part.axis, part.value FROM part JOIN measurement m USING (variant_id) WHERE part.axis <> '';

CREATE VIEW parameters AS  -- each problem, one row per parameter; a value with blanks stands in quotes in the text
WITH RECURSIVE part (problem_id, name, value, rest) AS (
  SELECT id, '', '', text || ' ' FROM problem
  UNION ALL
  SELECT problem_id, substr(rest, 1, instr(rest, '=') - 1),
         iif(substr(rest, instr(rest, '=') + 1, 1) = '"',
             substr(rest, instr(rest, '=') + 2, instr(substr(rest, instr(rest, '=') + 2), '"') - 1),
             substr(rest, instr(rest, '=') + 1, instr(substr(rest, instr(rest, '=') + 1), ' ') - 1)),
         iif(substr(rest, instr(rest, '=') + 1, 1) = '"',
             substr(substr(rest, instr(rest, '=') + 2), instr(substr(rest, instr(rest, '=') + 2), '"') + 2),
             substr(substr(rest, instr(rest, '=') + 1), instr(substr(rest, instr(rest, '=') + 1), ' ') + 1))
  FROM part WHERE instr(rest, '=') > 0)
SELECT problem_id, name AS parameter, value FROM part WHERE name <> '';

CREATE VIEW failures AS  -- what fails now, and why
SELECT op, device, problem, template, config, target, verdict, reason, caches, launches, toolchain, driver, measured_at,
       source_hash, measurement_id
FROM results WHERE verdict <> 'ok' AND is_current;

CREATE VIEW winners AS  -- what dispatch uses, and how much faster it is
SELECT op, device, problem, template, config, alignment_bytes, caches, launches, objective, median_us, low_us, high_us,
       loads, spread, energy_uj, clock_mhz, throttled,
       base_us, base_us / median_us AS speedup_over_base, worst_us, worst_us / median_us AS speedup_over_worst,
       tied, runner_up, runner_up_ratio, newest_verdict, has_binary, other_gpus, provisional, target, compiled_in, toolchain, driver,
       measured_at, since, source_hash, measurement_id, variant_id, problem_id, device_id
FROM (SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, w.alignment_bytes, m.caches,
             m.launches, w.objective, m.median_us, m.low_us, m.high_us, m.loads, m.spread, m.energy_uj, m.clock_mhz,
             m.throttled,
             -- base: from the winner's own session if it was measured there, so that both ran at the same clocks
             coalesce((SELECT b.median_us FROM measurement b
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                         AND b.caches = m.caches AND b.launches = m.launches AND b.session_id = m.session_id
                       ORDER BY b.sequence DESC LIMIT 1),
                      (SELECT b.median_us FROM measurement b JOIN session s ON s.id = b.session_id
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                         AND b.caches = m.caches AND b.launches = m.launches
                       ORDER BY b.generation DESC, s.uid DESC, b.sequence DESC LIMIT 1)) AS base_us,
             (SELECT max(c.median_us) FROM current_measurement c JOIN kernel k ON k.measurement_id = c.id AND NOT k.is_stale
              WHERE c.device_id = w.device_id AND c.problem_id = w.problem_id AND c.verdict = 'ok'
                AND c.caches = m.caches AND c.launches = m.launches) AS worst_us,
             -- of the finalists beside it: those that could not be told from the best, itself included, and the next
             (SELECT count(*) FROM finalist f WHERE f.winner_id = m.id AND f.tied) AS tied,
             (SELECT rt.name || ' ' || rv.config FROM finalist f JOIN measurement r ON r.id = f.measurement_id
              JOIN variant rv ON rv.id = r.variant_id JOIN template rt ON rt.id = rv.template_id
              WHERE f.winner_id = m.id AND f.measurement_id <> m.id
              ORDER BY f.ratio, rv.source_hash LIMIT 1) AS runner_up,
             (SELECT min(f.ratio) FROM finalist f
              WHERE f.winner_id = m.id AND f.measurement_id <> m.id) AS runner_up_ratio,
             -- not ok: it failed when it was last measured, and dispatch does not use it
             (SELECT n.verdict FROM current_measurement n JOIN session s ON s.id = n.session_id
              WHERE n.device_id = w.device_id AND n.problem_id = w.problem_id AND n.variant_id = m.variant_id
                AND (n.verdict <> 'ok' OR (n.caches = m.caches AND n.launches = m.launches))
              ORDER BY n.generation DESC, s.uid DESC, n.sequence DESC LIMIT 1) AS newest_verdict,
             EXISTS (SELECT 1 FROM binary x WHERE x.variant_id = m.variant_id) AS has_binary, w.other_gpus, w.provisional,
             v.target, v.compiled_in, m.toolchain, m.driver, m.measured_at, w.since, v.source_hash,
             m.id AS measurement_id, m.variant_id, w.problem_id, w.device_id
      FROM winner w
      JOIN measurement m ON m.id = w.measurement_id
      JOIN variant v ON v.id = m.variant_id
      JOIN template t ON t.id = v.template_id
      JOIN problem p ON p.id = w.problem_id
      JOIN device d ON d.id = w.device_id);

CREATE VIEW trials AS  -- what applications tried at first uses, the fastest of each first
SELECT p.op, d.name AS device, p.text AS problem, t.place, t.us, t.template, t.config,
       -- 0: a later one with this driver counts in its place
       NOT EXISTS (SELECT 1 FROM trial n WHERE n.problem_id = t.problem_id AND n.device_id = t.device_id AND n.driver = t.driver
                     AND (n.generation, n.first_use) > (t.generation, t.first_use)) AS is_current,
       -- 1: the problem has a winner, which dispatch uses in its place
       EXISTS (SELECT 1 FROM winner w WHERE w.problem_id = t.problem_id AND w.device_id = t.device_id) AS is_tuned,
       -- of a tuner on this kernel and problem; NULL: there is none
       (SELECT m.verdict FROM variant v JOIN measurement m ON m.variant_id = v.id JOIN session s ON s.id = m.session_id
        WHERE v.target = d.target AND v.source_hash = t.source_hash AND m.problem_id = t.problem_id AND m.device_id = t.device_id
        ORDER BY m.generation DESC, s.uid DESC, m.sequence DESC LIMIT 1) AS newest_verdict,
       t.source_hash, d.target, t.toolchain, t.driver, t.tunesmith_version, t.tried_at, t.first_use, t.problem_id, t.device_id
FROM trial t
JOIN problem p ON p.id = t.problem_id
JOIN device d ON d.id = t.device_id;

CREATE VIEW sessions AS
SELECT s.id, s.state, s.started_at, s.ended_at, d.name AS device, s.command, s.strategy, s.seed, s.budget,
       count(m.id) AS measurements, count(m.id) FILTER (WHERE m.verdict = 'ok') AS ok,
       count(DISTINCT m.problem_id) AS problems,
       s.tunesmith_version, s.toolchain, s.driver, s.host_facts
FROM session s
JOIN device d ON d.id = s.device_id
LEFT JOIN measurement m ON m.session_id = s.id
GROUP BY s.id;
