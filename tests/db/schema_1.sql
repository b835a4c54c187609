-- A Tunesmith database as text.
BEGIN;
PRAGMA application_id = 1414745428;
PRAGMA user_version = 1;
CREATE TABLE device (
  -- A model of device, never an ordinal: two equal GPUs are one row.
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('cuda', 'host')),
  name TEXT NOT NULL,                        -- as its driver reports it
  target TEXT NOT NULL,                      -- what code is made for: sm_90a, host
  compute_capability TEXT NOT NULL,          -- '9.0'; '' on the host
  sm_count INTEGER NOT NULL,                 -- multiprocessors; cores on the host
  memory_bytes INTEGER NOT NULL,
  UNIQUE (kind, name, target, compute_capability, sm_count, memory_bytes)
) STRICT;
CREATE TABLE template (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  name TEXT NOT NULL,
  body_hash TEXT NOT NULL,                   -- an edited body is a new row, so that old results stay what they were
  UNIQUE (op, name, body_hash)
) STRICT;
CREATE TABLE variant (
  id INTEGER PRIMARY KEY,
  template_id INTEGER NOT NULL REFERENCES template,
  target TEXT NOT NULL,
  source_hash TEXT NOT NULL,                 -- hash of the rendered text: the identity of a kernel
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
  uid TEXT NOT NULL UNIQUE,                  -- random; the same session has one row however often files are merged
  device_id INTEGER NOT NULL REFERENCES device,
  command TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,
  budget TEXT NOT NULL,                      -- as given: '10min', '500 variants'; '' for none
  tunesmith_version TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  driver TEXT NOT NULL,
  host_facts TEXT NOT NULL,                  -- 'cores=16 memory_gib=128'
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted')),
  started_at TEXT NOT NULL,
  ended_at TEXT,
  process TEXT,                              -- while it runs: boot, namespace, pid, start; shows whether it still lives
  CONSTRAINT "a session has an end unless it runs" CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_device ON session (device_id);
CREATE TABLE measurement (
  -- One verdict. Append-only: the newest of a (variant, problem, device) is current, older ones are its history.
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
  samples_us TEXT,                           -- JSON array, one number a sample, in the order taken
  registers INTEGER,                         -- a thread
  static_shared_bytes INTEGER,               -- a block
  dynamic_shared_bytes INTEGER,              -- a block
  spill_bytes INTEGER,                       -- a thread
  max_error REAL,                            -- largest |error| / the error the op permits: above 1 is wrong
  compile_ms REAL,                           -- wall time
  toolchain TEXT NOT NULL,                   -- compiler and version that made the binary
  driver TEXT NOT NULL,                      -- '' on the host
  measured_at TEXT NOT NULL,
  UNIQUE (session_id, sequence),
  CONSTRAINT "an ok measurement has a median above 0" CHECK (verdict <> 'ok' OR ifnull(median_us > 0, 0)),
  CONSTRAINT "a verdict other than ok has a reason" CHECK (verdict = 'ok' OR reason <> ''),
  CONSTRAINT "samples_us is a JSON array" CHECK (samples_us IS NULL OR samples_us GLOB '[[]*]')
) STRICT;
CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, measured_at);
CREATE INDEX measurement_base ON measurement (device_id, problem_id) WHERE is_base = 1 AND verdict = 'ok';
CREATE INDEX measurement_by_variant ON measurement (variant_id);
CREATE INDEX measurement_by_problem ON measurement (problem_id);
CREATE TRIGGER measurement_never_changes BEFORE UPDATE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never changed: record a new one'); END;
CREATE TRIGGER measurement_never_goes BEFORE DELETE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never deleted: its newest successor is the current one'); END;
CREATE TABLE winner (
  -- Replaced only by a better or a re-measured variant with verdict ok, never by a failure.
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  alignment_bytes INTEGER NOT NULL CHECK (alignment_bytes > 0),  -- what the variant asks of every pointer
  measurement_id INTEGER NOT NULL REFERENCES measurement,
  since TEXT NOT NULL,
  PRIMARY KEY (problem_id, device_id, alignment_bytes)
) STRICT;
CREATE INDEX winner_by_device ON winner (device_id);
CREATE INDEX winner_by_measurement ON winner (measurement_id);
CREATE TABLE binary (
  -- What dispatch loads, so that an application needs no compiler. Kept for winners.
  variant_id INTEGER PRIMARY KEY REFERENCES variant,
  toolchain TEXT NOT NULL,
  hash TEXT NOT NULL,                        -- of bytes, by their writer
  bytes BLOB NOT NULL,                       -- cubin, or shared object for the host
  made_at TEXT NOT NULL
) STRICT;
CREATE VIEW current_measurement AS
SELECT m.* FROM measurement m
WHERE NOT EXISTS (SELECT 1 FROM measurement n
                  WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                    AND (n.measured_at, n.id) > (m.measured_at, m.id));
CREATE VIEW results AS  -- every verdict, readable
SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, v.compiled_in, v.target,
       m.verdict, m.reason, m.median_us, m.min_us, m.spread, m.samples_us, m.is_base,
       NOT EXISTS (SELECT 1 FROM measurement n
                   WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                     AND (n.measured_at, n.id) > (m.measured_at, m.id)) AS is_current,
       m.registers, m.static_shared_bytes, m.dynamic_shared_bytes, m.spill_bytes, m.max_error, m.compile_ms,
       m.toolchain, m.driver, m.measured_at, v.source_hash, m.session_id, m.id AS measurement_id
FROM measurement m
JOIN variant v ON v.id = m.variant_id
JOIN template t ON t.id = v.template_id
JOIN problem p ON p.id = m.problem_id
JOIN device d ON d.id = m.device_id;
CREATE VIEW failures AS  -- what does not work now, and why
SELECT op, device, problem, template, config, target, verdict, reason, toolchain, driver, measured_at, source_hash, measurement_id
FROM results WHERE verdict <> 'ok' AND is_current;
CREATE VIEW winners AS  -- what dispatch uses, and what it gains
SELECT op, device, problem, template, config, alignment_bytes, median_us, spread,
       base_us, base_us / median_us AS speedup_over_base, worst_us, worst_us / median_us AS speedup_over_worst,
       newest_verdict, has_binary, target, compiled_in, toolchain, driver, measured_at, since, source_hash,
       measurement_id, variant_id, problem_id, device_id
FROM (SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, w.alignment_bytes, m.median_us, m.spread,
             -- base: of the winner's own session where there is one, so that both saw the same clocks
             coalesce((SELECT b.median_us FROM measurement b
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                         AND b.session_id = m.session_id ORDER BY b.id DESC LIMIT 1),
                      (SELECT b.median_us FROM measurement b
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                       ORDER BY b.measured_at DESC, b.id DESC LIMIT 1)) AS base_us,
             (SELECT max(c.median_us) FROM current_measurement c
              WHERE c.device_id = w.device_id AND c.problem_id = w.problem_id AND c.verdict = 'ok') AS worst_us,
             -- not ok: it failed when it was last measured, and dispatch should leave it alone
             (SELECT n.verdict FROM measurement n
              WHERE n.device_id = w.device_id AND n.problem_id = w.problem_id AND n.variant_id = m.variant_id
              ORDER BY n.measured_at DESC, n.id DESC LIMIT 1) AS newest_verdict,
             EXISTS (SELECT 1 FROM binary x WHERE x.variant_id = m.variant_id) AS has_binary,
             v.target, v.compiled_in, m.toolchain, m.driver, m.measured_at, w.since, v.source_hash,
             m.id AS measurement_id, m.variant_id, w.problem_id, w.device_id
      FROM winner w
      JOIN measurement m ON m.id = w.measurement_id
      JOIN variant v ON v.id = m.variant_id
      JOIN template t ON t.id = v.template_id
      JOIN problem p ON p.id = w.problem_id
      JOIN device d ON d.id = w.device_id);
CREATE VIEW sessions AS
SELECT s.id, s.state, s.started_at, s.ended_at, d.name AS device, s.command, s.strategy, s.seed, s.budget,
       count(m.id) AS measurements, count(m.id) FILTER (WHERE m.verdict = 'ok') AS ok,
       count(DISTINCT m.problem_id) AS problems,
       s.tunesmith_version, s.toolchain, s.driver, s.host_facts
FROM session s
JOIN device d ON d.id = s.device_id
LEFT JOIN measurement m ON m.session_id = s.id
GROUP BY s.id;
INSERT INTO device VALUES(1,'cuda','Test GPU','sm_90a','9.0',132,150000000000);
INSERT INTO template VALUES(1,'conv2d','conv2d_tiled','b1');
INSERT INTO variant VALUES(1,1,'sm_90a','base','BLOCK_X=base','dtype=f32','conv2d_tiled_base');
INSERT INTO variant VALUES(2,1,'sm_90a','fast','BLOCK_X=fast','dtype=f32','conv2d_tiled_fast');
INSERT INTO variant VALUES(3,1,'sm_90a','slow','BLOCK_X=slow','dtype=f32','conv2d_tiled_slow');
INSERT INTO variant VALUES(4,1,'sm_90a','bad0','BLOCK_X=bad0','dtype=f32','conv2d_tiled_bad0');
INSERT INTO variant VALUES(5,1,'sm_90a','bad1','BLOCK_X=bad1','dtype=f32','conv2d_tiled_bad1');
INSERT INTO variant VALUES(6,1,'sm_90a','bad2','BLOCK_X=bad2','dtype=f32','conv2d_tiled_bad2');
INSERT INTO variant VALUES(7,1,'sm_90a','bad3','BLOCK_X=bad3','dtype=f32','conv2d_tiled_bad3');
INSERT INTO variant VALUES(8,1,'sm_90a','bad4','BLOCK_X=bad4','dtype=f32','conv2d_tiled_bad4');
INSERT INTO variant VALUES(9,1,'sm_90a','bad5','BLOCK_X=bad5','dtype=f32','conv2d_tiled_bad5');
INSERT INTO variant VALUES(10,1,'sm_90a','bad6','BLOCK_X=bad6','dtype=f32','conv2d_tiled_bad6');
INSERT INTO problem VALUES(1,'conv2d','batch=1 height=1000 width=2000 dtype=f32');
INSERT INTO session VALUES(1,'0795aa87807977cd6acb3bdac6f88b88',1,'tune conv2d','random',7,'10min','0.1.0','nvrtc 12.9','575.1','cores=16','finished','2026-11-21T23:04:26.750Z','2026-11-21T23:04:26.758Z',NULL);
INSERT INTO measurement VALUES(1,1,1,1,1,1,1,'ok','',100.0,99.0,0.01,'[99,100,125]',32,4096,0,0,0.25,81.5,'nvrtc 12.9','575.1','2026-11-21T23:04:26.751Z');
INSERT INTO measurement VALUES(2,1,2,2,1,1,0,'ok','',25.0,24.75,0.01,'[24.75,25,31.25]',32,4096,0,0,0.25,81.5,'nvrtc 12.9','575.1','2026-11-21T23:04:26.752Z');
INSERT INTO measurement VALUES(3,1,3,3,1,1,0,'ok','',200.0,198.0,0.01,'[198,200,250]',32,4096,0,0,0.25,81.5,'nvrtc 12.9','575.1','2026-11-21T23:04:26.753Z');
INSERT INTO measurement VALUES(4,1,4,4,1,1,0,'compile_error','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.753Z');
INSERT INTO measurement VALUES(5,1,5,5,1,1,0,'resource_limit','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.754Z');
INSERT INTO measurement VALUES(6,1,6,6,1,1,0,'launch_error','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.755Z');
INSERT INTO measurement VALUES(7,1,7,7,1,1,0,'wrong_result','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.755Z');
INSERT INTO measurement VALUES(8,1,8,8,1,1,0,'out_of_bounds','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.756Z');
INSERT INTO measurement VALUES(9,1,9,9,1,1,0,'timeout','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.756Z');
INSERT INTO measurement VALUES(10,1,10,10,1,1,0,'crash','It''s a sentence;
of two lines.',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'nvrtc 12.9','575.1','2026-11-21T23:04:26.757Z');
INSERT INTO measurement VALUES(11,1,11,2,1,1,0,'ok','',26.0,25.74,0.01,'[25.74,26,32.5]',32,4096,0,0,0.25,81.5,'nvrtc 12.9','575.1','2026-11-21T23:04:26.758Z');
INSERT INTO winner VALUES(1,1,16,2,'2026-11-21T23:04:26.752Z');
INSERT INTO binary VALUES(2,'nvrtc 12.9','4706fa88228e6a60f94c93bea6cbdc50f92e784bf3be15874478c5285704256d',X'007F45FF','2026-11-21T23:04:26.752Z');
COMMIT;
