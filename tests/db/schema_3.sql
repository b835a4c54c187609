-- A Tunesmith database as text.
BEGIN;
PRAGMA application_id = 1414745428;
PRAGMA user_version = 3;
CREATE TABLE device (
  -- A model of device: two identical GPUs are one row.
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('cuda', 'host')),
  name TEXT NOT NULL,                        -- as its driver reports it
  target TEXT NOT NULL,                      -- what code is compiled for: sm_90a, host
  compute_capability TEXT NOT NULL,          -- '9.0'; '' on the host
  sm_count INTEGER NOT NULL,                 -- multiprocessors; cores on the host
  memory_bytes INTEGER NOT NULL,
  UNIQUE (kind, name, target, compute_capability, sm_count, memory_bytes)
) STRICT;
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
                                             -- text:HASH is of the whole text, as schema 2 had it, and
                                             -- stale:HASH likewise, of a text that is no longer rendered
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
  CONSTRAINT "a session has an end unless it runs" CHECK ((state = 'running') = (ended_at IS NULL))
) STRICT;
CREATE INDEX session_by_device ON session (device_id);
CREATE TABLE measurement (
  -- One verdict. Append-only: per (variant, problem, device, caches) the newest row is current, older ones are history.
  -- Times are compared only with times of the same caches; a verdict other than ok counts for both.
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
  UNIQUE (session_id, sequence),
  CONSTRAINT "an ok measurement has a median above 0" CHECK (verdict <> 'ok' OR ifnull(median_us > 0, 0)),
  CONSTRAINT "a verdict other than ok has a reason" CHECK (verdict = 'ok' OR reason <> ''),
  CONSTRAINT "samples_us is a JSON array" CHECK (samples_us IS NULL OR samples_us GLOB '[[]*]')
) STRICT;
CREATE INDEX measurement_newest ON measurement (device_id, problem_id, variant_id, caches, measured_at);
CREATE INDEX measurement_base ON measurement (device_id, problem_id) WHERE is_base = 1 AND verdict = 'ok';
CREATE INDEX measurement_by_variant ON measurement (variant_id);
CREATE INDEX measurement_by_problem ON measurement (problem_id);
CREATE TRIGGER measurement_never_changes BEFORE UPDATE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never changed: record a new one'); END;
CREATE TRIGGER measurement_never_goes BEFORE DELETE ON measurement
BEGIN SELECT raise(ABORT, 'a measurement is never deleted: its newest successor is the current one'); END;
CREATE TABLE winner (
  -- Replaced only by a measurement that is ok: of a faster variant, of the same variant again, or of any variant if the
  -- winner is stale. Never by a failure.
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  alignment_bytes INTEGER NOT NULL CHECK (alignment_bytes > 0),  -- that the variant needs of every pointer
  measurement_id INTEGER NOT NULL REFERENCES measurement,
  since TEXT NOT NULL,
  PRIMARY KEY (problem_id, device_id, alignment_bytes)
) STRICT;
CREATE INDEX winner_by_device ON winner (device_id);
CREATE INDEX winner_by_measurement ON winner (measurement_id);
CREATE TABLE binary (
  -- What dispatch loads, so that an application needs no compiler. Kept only for winners.
  variant_id INTEGER PRIMARY KEY REFERENCES variant,
  toolchain TEXT NOT NULL,
  hash TEXT NOT NULL,                        -- of bytes, computed by their writer
  bytes BLOB NOT NULL,                       -- cubin, or shared object for the host
  made_at TEXT NOT NULL
) STRICT;
CREATE VIEW current_measurement AS
SELECT m.* FROM measurement m
WHERE NOT EXISTS (SELECT 1 FROM measurement n
                  WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                    AND n.caches = m.caches AND (n.measured_at, n.id) > (m.measured_at, m.id));
CREATE VIEW results AS  -- every verdict, with names in place of ids
SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, v.compiled_in, v.target,
       m.verdict, m.reason, m.caches, m.median_us, m.min_us, m.spread, m.samples_us, m.is_base,
       NOT EXISTS (SELECT 1 FROM measurement n
                   WHERE n.device_id = m.device_id AND n.problem_id = m.problem_id AND n.variant_id = m.variant_id
                     AND n.caches = m.caches AND (n.measured_at, n.id) > (m.measured_at, m.id)) AS is_current,
       m.registers, m.static_shared_bytes, m.dynamic_shared_bytes, m.spill_bytes, m.max_error, m.compile_ms,
       m.toolchain, m.driver, m.measured_at, v.source_hash, m.session_id, m.id AS measurement_id
FROM measurement m
JOIN variant v ON v.id = m.variant_id
JOIN template t ON t.id = v.template_id
JOIN problem p ON p.id = m.problem_id
JOIN device d ON d.id = m.device_id;
CREATE VIEW failures AS  -- what fails now, and why
SELECT op, device, problem, template, config, target, verdict, reason, caches, toolchain, driver, measured_at, source_hash,
       measurement_id
FROM results WHERE verdict <> 'ok' AND is_current;
CREATE VIEW winners AS  -- what dispatch uses, and how much faster it is
SELECT op, device, problem, template, config, alignment_bytes, caches, median_us, spread,
       base_us, base_us / median_us AS speedup_over_base, worst_us, worst_us / median_us AS speedup_over_worst,
       newest_verdict, has_binary, target, compiled_in, toolchain, driver, measured_at, since, source_hash,
       measurement_id, variant_id, problem_id, device_id
FROM (SELECT p.op, d.name AS device, p.text AS problem, t.name AS template, v.config, w.alignment_bytes, m.caches,
             m.median_us, m.spread,
             -- base: from the winner's own session if it was measured there, so that both ran at the same clocks
             coalesce((SELECT b.median_us FROM measurement b
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                         AND b.caches = m.caches AND b.session_id = m.session_id ORDER BY b.id DESC LIMIT 1),
                      (SELECT b.median_us FROM measurement b
                       WHERE b.device_id = w.device_id AND b.problem_id = w.problem_id AND b.is_base = 1 AND b.verdict = 'ok'
                         AND b.caches = m.caches
                       ORDER BY b.measured_at DESC, b.id DESC LIMIT 1)) AS base_us,
             (SELECT max(c.median_us) FROM current_measurement c
              WHERE c.device_id = w.device_id AND c.problem_id = w.problem_id AND c.verdict = 'ok'
                AND c.caches = m.caches) AS worst_us,
             -- not ok: it failed when it was last measured, and dispatch does not use it
             (SELECT n.verdict FROM current_measurement n
              WHERE n.device_id = w.device_id AND n.problem_id = w.problem_id AND n.variant_id = m.variant_id
                AND (n.caches = m.caches OR n.verdict <> 'ok')
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
INSERT INTO device VALUES(1,'cuda','NVIDIA H200','sm_90a','9.0',132,150109880320);
INSERT INTO device VALUES(2,'host','AMD EPYC','host','',2,25276502016);
INSERT INTO template VALUES(1,'conv2d','base','f941eab5df4a4893d73ea38520f7b42fec9e689900e26a6d72ec2286dc878d1d');
INSERT INTO template VALUES(2,'conv2d','tiled','d5d6f341e6da3d3d3214b9396244d06f887af67c11e581a202d85b88c533499b');
INSERT INTO template VALUES(3,'conv_covariance','factored','44f537e8bd146a2000132186ee72a03beb43ac125950ca1a1406a7bd99053807');
INSERT INTO template VALUES(4,'transpose','base','1ed6b89f369b6b07d0578a91a59105ab19c48148dfb0296891f934a4ae83c76e');
INSERT INTO template VALUES(5,'conv1d','base','5c105c2777bbf74328e31de2d1e98fcdcb37815408dd89282c5f3a6e2879c288');
INSERT INTO template VALUES(6,'conv1d','tiled','78d5a22260700b268549003ac1c361bec850470148345f6984432360222e5c86');
INSERT INTO template VALUES(7,'conv1d','chunked','808b3abbc60890d898b74ed31d47d381750dfaca5f1cdab282b7e5d90517d1e9');
INSERT INTO template VALUES(8,'elementwise','base','d0c9fe4dce8a4b0dc9e69d4df7178f07e63926fa87fd9d7549f95aaf5167012e');
INSERT INTO template VALUES(9,'reduce','base','b09d915d8f5338e7ff7e97a71d255b253d603979a727696a87d6049038593e7d');
INSERT INTO template VALUES(10,'reduce','rows','ee22481c6f85701c4ba09cf2ac2ff07ca9a230caf20573c2c044ff9c077412e2');
INSERT INTO template VALUES(11,'reduce','all','19117f53b8f2bd07c395b85be06e25c325f6c82a9386b91f9a2ea792b13a1fb4');
INSERT INTO template VALUES(12,'reduce','columns','09e044667d587d24266512038a5c3b8c8e911d7a898441188dec6a717aee72cf');
INSERT INTO template VALUES(13,'conv1d','tensor','438a145b2885bafed6011e2b84964e9a0dce60ab8c9315fa33a97b7deb69385b');
INSERT INTO template VALUES(14,'conv2d','warpgroup','ee61b3b82239a09695c495d847e16eee98aa1438f616524dc0b6cbb807a6e530');
INSERT INTO template VALUES(15,'transpose','tiled','9f02a4803090d7dd343957045b9a39fb3ebc1d7b1db5abbabf03b1863bfcf3c2');
INSERT INTO template VALUES(16,'transpose','shifted','b7ae21626bd43fa8c895919d46bcd586e36528aede30ea3915619e47e8e6256b');
INSERT INTO template VALUES(17,'histogram','base','4a4166743dabfec3d31c89d0e8c0f5349ee2fe952e43ad7287d0991219f3e37f');
INSERT INTO template VALUES(18,'histogram','shared','0462154827af083636581b48b0ec4a6ea9372a54c7faa9946e6725e812c01d89');
INSERT INTO template VALUES(19,'elementwise','contiguous','11ae982285ac7c1854f047de6492f7f325dca269909cc75b652f8e346f9487f9');
INSERT INTO template VALUES(20,'elementwise','broadcast','29975dc534f667cdb74e2deb7881de12a199e1540d1d052bc241cd010ba450da');
INSERT INTO template VALUES(21,'conv2d','base','510d127a98d6ae61316bacc850e4a600761c5cc110375b605cb2516b8a3ca534');
INSERT INTO template VALUES(22,'conv2d','tiled','f64741e97b5e5cd9adeeb5c067c8d3529a45844dc13598650ab6b8ed5d5786f7');
INSERT INTO template VALUES(23,'conv_covariance','factored','84e119e61e3278098220de7c93c8a427d49ea3488b96ba8eff9653e0bd862143');
INSERT INTO template VALUES(24,'conv1d','base','4198ba65d02abdd7e9cea9b3a85202c601c238d84148e8d00c0ab03f5bdcbc4e');
INSERT INTO template VALUES(25,'conv1d','tiled','bd0a125f6ac015d64d58d3829629084b6736eb8112076a391746b10f17fccfe8');
INSERT INTO template VALUES(26,'conv1d','chunked','f47d411e121fdef8e6d1b1ffbca7ff0930698a112b9c50ad4f9de300800e0f76');
INSERT INTO template VALUES(27,'elementwise','base','3f30e60d6f8ad13d9213b23c9f4f7e1a2c85870abc0cf1c3d08d9669ca73164d');
INSERT INTO template VALUES(28,'reduce','base','74d0392602d533567e3f4da8b9426429c77a6ac7b0189c21b9f67229ac3f82b3');
INSERT INTO template VALUES(29,'reduce','all','4f2c9599f055f476eb367267bd974d5fba551325a5045e4d960364e0e35be72e');
INSERT INTO template VALUES(30,'reduce','rows','aabc1aa0397a1749a087f495c52fb7638532b9315a76a5b7a5c74eaa7aad7377');
INSERT INTO template VALUES(31,'reduce','columns','7a3b56ab6fbfdac5878f5e7e7f33693a4999754dd1a6ae2038577c26ad987938');
INSERT INTO template VALUES(32,'transpose','base','1693c11e9b94abf6418727922480413f03598fc95f4ec6960c856a19269bab14');
INSERT INTO template VALUES(33,'conv1d','tensor','c145375eb6252e4898ec384234b944f1663ddb58f7346f14aeee903de214a93f');
INSERT INTO template VALUES(34,'conv2d','warpgroup','20be87fc1b454969467533e5e1c43c45915a5b0aa9ff5036b41ed1585ed64ad5');
INSERT INTO template VALUES(35,'transpose','shifted','9497b1316e4359d1ed1e21bdde48124df9d2cad77caa9078860e0a930348cd00');
INSERT INTO template VALUES(36,'transpose','tiled','19dc262924587635ae321303b69e3b57eba46f9fd710d7e8f243f7793d36e64f');
INSERT INTO template VALUES(37,'histogram','base','ab989b490c77973788fe7fa833d5368c7a3bf411cd03323032ed3d96a1475e8a');
INSERT INTO template VALUES(38,'histogram','shared','e80520d084944e28bd4ab70f8b618e2d96c846305faef998457e9ca6aeda22ec');
INSERT INTO template VALUES(39,'elementwise','contiguous','6d9e657f27187b8499c1079bde91adff0eccab4669cd16ff8d2b1713716fc199');
INSERT INTO template VALUES(40,'elementwise','broadcast','100168bc8057f302affe5418869c26374d95bac598f6a5041ede60afcbfc6975');
INSERT INTO variant VALUES(1,21,'sm_90a','549e58b6c854ac36a6bd0104d840c4451c4adf82c08bacc6598fdf8379695312','BLOCK_X=32 BLOCK_Y=8','dtype=f32','conv2d_base_312c5d57');
INSERT INTO variant VALUES(2,22,'sm_90a','ca9bc11873ecd57061c69292d7c45312dc708ef6e3d865e6875e06b30673a3d6','SMEM_LAYOUT=flat MASK_IN=global COPY=async SMEM_ALLOC=dynamic LOOP_ORDER=image UNROLL=0 VECTOR=1 OUT_X=2 OUT_Y=4 BLOCK_X=16 BLOCK_Y=8 AHEAD=0 STORE=plain START=plain RESIDENT_WARPS=24','mask_height=3 mask_width=3 mode=correlation dtype=f32','conv2d_tiled_1fae4f2e');
INSERT INTO variant VALUES(3,22,'sm_90a','786ae791892d212596be470d7f4a12e9ccbe99efd59aa5c4e190d72bcbb8bfe5','SMEM_LAYOUT=none MASK_IN=global COPY=sync SMEM_ALLOC=dynamic LOOP_ORDER=image UNROLL=0 VECTOR=4 OUT_X=4 OUT_Y=4 BLOCK_X=32 BLOCK_Y=4 AHEAD=2 STORE=plain START=overlapped RESIDENT_WARPS=24','mask_height=3 mask_width=3 mode=correlation dtype=f32','conv2d_tiled_c996bb41');
INSERT INTO variant VALUES(4,23,'sm_90a','650e56c9d7dddd34f9d6c9a7e3379f76b7d45993ab7fe7412dadd888ec156cec','MARCH=8 STAGING=none BLOCK_X=16 VECTOR=2 BLOCK_D=2 BLOCK_J=4 OUT_J=2 BOX=window GAMMA_VECTOR=1 AHEAD=0 START=plain MU_IN=global UNROLL=4 FAN=4 INPUT=early STORE=plain INDEX_BITS=64 RESIDENT_WARPS=16','channels_in=3 mask_height=3 mask_width=3 dtype=f32','conv_covariance_factored_3a2a6231');
INSERT INTO variant VALUES(5,24,'sm_90a','c16661fa12f618436305431a2e49aa6216c7f0f39732b5daa5c953fca0aed2d2','BLOCK_X=128','dtype=f32','conv1d_base_7bf78eab');
INSERT INTO variant VALUES(6,25,'sm_90a','31134c4222246ecac25ac9486b909b3fdc8fc61cc60a6cd212846ab2124fbecc','SMEM_LAYOUT=flat TAPS_IN=registers COPY=sync SEGMENT=16 UNROLL=0 VECTOR=1 STORE_VECTOR=1 OUT_X=1 ITEMS=8 BLOCK_X=64 BLOCK_Y=1 STORE=plain START=plain RESIDENT_WARPS=32','taps=5 function=convolve dtype=f32 PHASE=0','conv1d_tiled_c3fae62a');
INSERT INTO variant VALUES(7,25,'sm_90a','f4610783567d64a9a71c47f9987f679787816a648ab7070b259d99778b6cb56b','SMEM_LAYOUT=none TAPS_IN=registers COPY=sync SEGMENT=16 UNROLL=0 VECTOR=4 STORE_VECTOR=4 OUT_X=4 ITEMS=1 BLOCK_X=512 BLOCK_Y=1 STORE=streaming START=overlapped RESIDENT_WARPS=32','taps=5 function=convolve dtype=f32 PHASE=0','conv1d_tiled_f714b686');
INSERT INTO variant VALUES(8,26,'sm_90a','34b33f93175cba3f02aa40580245c3fdd0d5e56462514fb392b16b4ebb0cc0d6','SMEM_LAYOUT=padded COPY=async SEGMENT=16 UNROLL=2 VECTOR=1 OUT_X=16 BLOCK_X=128 SPLIT=1 SHARE=128 START=plain RESIDENT_WARPS=16','function=convolve dtype=f32','conv1d_chunked_6598d4de');
INSERT INTO variant VALUES(9,27,'sm_90a','7356b9487d8951db0f8c209c855e1617b6a999412dcb177b926d5f3eb16dc45e','BLOCK=256 BLOCKS=4096','function=add dtype=f32','elementwise_base_78d70290');
INSERT INTO variant VALUES(10,28,'sm_90a','7b129df6b320996bb6551522c7c90130879e97d9d7a44edf46dca6cf882cb415','BLOCK=256','dtype=f32','reduce_base_9fd364f3');
INSERT INTO variant VALUES(11,29,'sm_90a','6d409f2124fca2e58cbd5ad93206bf0ee24810a026b008207215c43451c92352','BLOCK=512 ITEMS=8 VECTOR=4 BLOCKS=64 WALK=strided FINISH=last TREE=shuffle AHEAD=0 LOAD=plain START=overlapped','function=sum order=deterministic dtype=f32','reduce_all_968ab04a');
INSERT INTO variant VALUES(12,29,'sm_90a','5ea23b7588a2af17b8ea311146c77523cc52c48488cbb7f7ae83f7bfe0671ce6','BLOCK=128 ITEMS=16 VECTOR=1 BLOCKS=528 WALK=strided FINISH=mail TREE=shuffle AHEAD=0 LOAD=plain START=plain','function=sum order=deterministic dtype=f32','reduce_all_50bc134c');
INSERT INTO variant VALUES(13,30,'sm_90a','e23a455d891b816aa26170713a29769a9b094b698419524684e167386ab19561','BLOCK=512 TEAM=512 ITEMS=4 VECTOR=1 LOAD=plain START=overlapped','function=sum dtype=f32','reduce_rows_03dfcfc4');
INSERT INTO variant VALUES(14,30,'sm_90a','4abe738866b1ebc415a2eb9da12dd1f508e4996487bcbc8af0dd3a46db477aa8','BLOCK=256 TEAM=8 ITEMS=4 VECTOR=4 LOAD=plain START=overlapped','function=sum dtype=f32','reduce_rows_5a1ec7b7');
INSERT INTO variant VALUES(15,31,'sm_90a','29e21a38a250aa047bd3ae1b6421ca72008287f259b3a3d9cf02f1f2ccd20d28','BLOCK_X=32 BLOCK_Y=16 VECTOR=2 ITEMS=16 SPLIT=4 FINISH=last LOAD=plain START=overlapped','function=sum order=deterministic dtype=f32','reduce_columns_662f358d');
INSERT INTO variant VALUES(16,31,'sm_90a','cfac687f92acc872a8f59952d181cc9fdc3b9453e5acc1507211e38e86ec0ac0','BLOCK_X=64 BLOCK_Y=4 VECTOR=1 ITEMS=16 SPLIT=16 FINISH=launch LOAD=plain START=overlapped','function=sum order=deterministic dtype=f32','reduce_columns_5dace777');
INSERT INTO variant VALUES(17,32,'sm_90a','b5c8d79fa3e447f0b8ed342ca2ce227bf680a626eab17a34e62ec05fb94949f1','BLOCK_X=8 BLOCK_Y=16','dtype=b128','transpose_base_6d30be1f');
INSERT INTO variant VALUES(18,23,'sm_90a','928bb684a117766fbca910e8284d9912b27d71f78a8b156ee6f2b507502cc69e','MARCH=32 STAGING=none BLOCK_X=16 VECTOR=1 BLOCK_D=4 BLOCK_J=4 OUT_J=2 BOX=window GAMMA_VECTOR=1 AHEAD=0 START=plain MU_IN=shared UNROLL=4 FAN=4 INPUT=early STORE=plain INDEX_BITS=32 RESIDENT_WARPS=16','channels_in=3 mask_height=3 mask_width=3 dtype=f64','conv_covariance_factored_0f55508c');
INSERT INTO variant VALUES(19,33,'sm_90a','671f48c3605f14c03f5c09b1fb3a248d186bbc7be594fc5862e6276f911ac6ab','WARPS=4 PRODUCTS=4 HELD=2 START=plain RESIDENT_WARPS=24','taps=63 function=correlate dtype=f32','conv1d_tensor_cef32d9c');
INSERT INTO variant VALUES(20,33,'sm_90a','5821306a3f7a53e1878d3870545d51c5ead6c863a436e537294151941524a317','WARPS=8 PRODUCTS=6 HELD=4 START=overlapped RESIDENT_WARPS=16','taps=1023 function=convolve dtype=f32','conv1d_tensor_cd29af58');
INSERT INTO variant VALUES(21,34,'sm_90a','10d706c509a3807950336cf2b357feee6a3e66269bb03f843a6d88b32492d75c','VECTOR=1 GROUPS=2 TEAMS=1 ROWS=8 TILES=1 AHEAD=0 RESIDENT_WARPS=16','mask_height=13 mask_width=13 mode=correlation dtype=f32','conv2d_warpgroup_e051afee');
INSERT INTO variant VALUES(22,34,'sm_90a','4f15c88124adc36c2ebf88139081c15f033250c7943686b70e2e4de1188415ab','VECTOR=4 GROUPS=1 TEAMS=4 ROWS=8 TILES=8 AHEAD=0 RESIDENT_WARPS=16','mask_height=13 mask_width=13 mode=correlation dtype=f32','conv2d_warpgroup_b627c112');
INSERT INTO variant VALUES(23,35,'sm_90a','4aaba5cf3f45e87c7a04a79bac7a5d74d612aec1d479b9ddc3667fb5d332096c','VECTOR_OUT=4 WINDOW=16 TILE_X=32 TILE_Y=64 ROWS=8 BLOCK_ORDER=row LOAD=plain STORE=plain START=overlapped RESIDENT_WARPS=48','dtype=b32','transpose_shifted_36f2bff9');
INSERT INTO variant VALUES(24,35,'sm_90a','526da303218a37af384009bb75017f161ac24196b5330d5d2789319982db0fb9','VECTOR_OUT=2 WINDOW=32 TILE_X=64 TILE_Y=32 ROWS=8 BLOCK_ORDER=column LOAD=plain STORE=plain START=plain RESIDENT_WARPS=48','dtype=b32','transpose_shifted_b788e6d8');
INSERT INTO variant VALUES(25,36,'sm_90a','ff7a2bf25093affa80a4a31706bb71c1ba031fccfe3ed408ac962f38f957ac57','VECTOR_IN=2 VECTOR_OUT=4 TURN=4 TILE_X=32 TILE_Y=32 ROWS=1 TILES=1 SMEM_LAYOUT=padded BLOCK_ORDER=row LOAD=plain STORE=plain START=overlapped RESIDENT_WARPS=48','dtype=b32','transpose_tiled_a88ab6f4');
INSERT INTO variant VALUES(26,36,'sm_90a','75d841145726506f41db43b7ad2a601560bf887e8d30aa2aa76ae2a5dbc01fd9','VECTOR_IN=2 VECTOR_OUT=2 TURN=2 TILE_X=64 TILE_Y=32 ROWS=8 TILES=1 SMEM_LAYOUT=padded BLOCK_ORDER=row LOAD=plain STORE=plain START=overlapped RESIDENT_WARPS=32','dtype=b32','transpose_tiled_599af535');
INSERT INTO variant VALUES(27,37,'sm_90a','3c9ec86de12e59bb92f713f64fd679bdd729537a8a5dd760c1c8cc97359009ca','BLOCK=256','function=bincount dtype=u8','histogram_base_4e6a2347');
INSERT INTO variant VALUES(28,38,'sm_90a','06b6cbd4c83996228dec54976ccaf643db0957f62602467a851131e37ca65385','COUNTER_BITS=32 OWNER=warp COPIES=2 MERGE=none VECTOR=1 INCREMENT=constant ITEMS=4 AHEAD=0 LOAD=plain BLOCK=1024 BLOCKS=1 START=overlapped','function=bincount dtype=u8 CONTIGUOUS=1','histogram_shared_8ad31eb6');
INSERT INTO variant VALUES(29,38,'sm_90a','1f20f77f72c5f7b1b4f84715079687ffe5f3ed543d61851481e233b969bee8f9','COUNTER_BITS=32 OWNER=lane COPIES=16 MERGE=none VECTOR=1 INCREMENT=constant ITEMS=8 AHEAD=0 LOAD=plain BLOCK=512 BLOCKS=528 START=plain','function=bincount dtype=u8 CONTIGUOUS=1','histogram_shared_0ad58478');
INSERT INTO variant VALUES(30,39,'sm_90a','2a030bc3daf5a039bf260e89c9752703c8eb8675eb92da4377e0aab3379b180a','INDEX=64 TILES=1 VECTOR=1 ITEMS=2 BLOCK=256 LOAD=plain STORE=plain START=overlapped RESIDENT_THREADS=2048','function="a * b + c" dtype=f32 SCALARS=0','elementwise_contiguous_da006d17');
INSERT INTO variant VALUES(31,39,'sm_90a','3aa6dcfecf0052dfa22cd04e57f25c68df7d20e15ac7db516f8bfb5a219a2bb3','INDEX=64 TILES=1 VECTOR=2 ITEMS=4 BLOCK=512 LOAD=plain STORE=plain START=plain RESIDENT_THREADS=1024','function=add dtype=bf16 SCALARS=0','elementwise_contiguous_bb88c681');
INSERT INTO variant VALUES(32,40,'sm_90a','82950dc5b32395621153c6d5f12bbd7750633be5d84af9c98f37d7330d30b09a','INDEX=32 VECTOR_IN=row VECTOR=1 ITEMS=4 BLOCK=512 LOAD=no_allocate STORE=streaming START=overlapped RESIDENT_THREADS=2048','function=add dtype=f32 RANK=2 INPUT_A=67 INPUT_B=67 INPUT_C=0 INPUT_D=0 INPUT_E=0 INPUT_F=0','elementwise_broadcast_862afae7');
INSERT INTO variant VALUES(33,40,'sm_90a','4ee2a0cbb6b24499a19d5c7e37a8e97e367067b76b1b48b88aee645c9b1ceb6e','INDEX=32 VECTOR_IN=row VECTOR=1 ITEMS=8 BLOCK=256 LOAD=plain STORE=streaming START=overlapped RESIDENT_THREADS=2048','function=add dtype=f32 RANK=2 INPUT_A=195 INPUT_B=65 INPUT_C=0 INPUT_D=0 INPUT_E=0 INPUT_F=0','elementwise_broadcast_4e5dbd7c');
INSERT INTO variant VALUES(34,32,'host','998b03542461b77dbfe4093095753471f9b98b96bcdd06b3828d0c5f478f6c8e','BLOCK_X=32 BLOCK_Y=8','dtype=b32','transpose_base_998b0354');
INSERT INTO variant VALUES(35,36,'host','14e70d8709f36e9726031c594294c39ae613f91ac83128662691fdba1bd8d23e','VECTOR_IN=4 VECTOR_OUT=2 TURN=1 TILE_X=64 TILE_Y=64 ROWS=2 TILES=2 SMEM_LAYOUT=padded BLOCK_ORDER=row LOAD=plain STORE=streaming START=plain RESIDENT_WARPS=32','dtype=b32','transpose_tiled_14e70d87');
INSERT INTO variant VALUES(36,36,'host','74ee5fb2ad12af83b8574229c4654549e398b89ebeb249a1b4fffd722c5cdb68','VECTOR_IN=4 VECTOR_OUT=2 TURN=2 TILE_X=32 TILE_Y=64 ROWS=1 TILES=1 SMEM_LAYOUT=padded BLOCK_ORDER=column LOAD=plain STORE=plain START=plain RESIDENT_WARPS=32','dtype=b32','transpose_tiled_74ee5fb2');
INSERT INTO problem VALUES(1,'conv2d','batch=1 height=1000 width=2000 mask_height=3 mask_width=3 mode=correlation boundary=zero dtype=f32');
INSERT INTO problem VALUES(2,'conv2d','batch=1 height=4096 width=4096 mask_height=13 mask_width=13 mode=correlation boundary=zero dtype=f32');
INSERT INTO problem VALUES(3,'conv_covariance','batch=4 channels_out=3 channels_in=3 height=34 width=34 mask_height=3 mask_width=3 dtype=f32');
INSERT INTO problem VALUES(4,'transpose','batch=1 height=100000 width=64 input_pitch=0 output_pitch=0 dtype=b32');
INSERT INTO problem VALUES(5,'transpose','batch=1 height=200 width=200 input_pitch=0 output_pitch=0 dtype=b32');
INSERT INTO problem VALUES(6,'conv1d','batch=1 length=1000000 taps=5 function=convolve mode=valid dtype=f32');
INSERT INTO problem VALUES(7,'conv1d','batch=1 length=10000000 taps=5 function=convolve mode=valid dtype=f32');
INSERT INTO problem VALUES(8,'conv1d','batch=1 length=100000000 taps=9 function=convolve mode=valid dtype=f32');
INSERT INTO problem VALUES(9,'reduce','outer=1 length=10000 inner=1 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32');
INSERT INTO problem VALUES(10,'reduce','outer=1 length=16777216 inner=1 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32');
INSERT INTO problem VALUES(11,'reduce','outer=1 length=268435456 inner=1 outer_stride=0 stride=0 function=max order=deterministic dtype=f32');
INSERT INTO problem VALUES(12,'reduce','outer=65536 length=128 inner=1 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32');
INSERT INTO problem VALUES(13,'reduce','outer=1 length=4096 inner=4096 outer_stride=0 stride=0 function=sum order=deterministic dtype=f32');
INSERT INTO problem VALUES(14,'conv1d','batch=1 length=100000000 taps=9 function=convolve mode=same dtype=f32');
INSERT INTO problem VALUES(15,'conv1d','batch=1 length=10000000 taps=1023 function=convolve mode=same dtype=f32');
INSERT INTO problem VALUES(16,'conv1d','batch=1 length=1000000 taps=63 function=correlate mode=same dtype=f32');
INSERT INTO problem VALUES(17,'histogram','function=bincount length=268435456 bins=256 stride=1 lo="0" hi="1" dtype=u8');
INSERT INTO problem VALUES(18,'histogram','function=bincount length=10000 bins=256 stride=1 lo="0" hi="1" dtype=u8');
INSERT INTO problem VALUES(19,'transpose','batch=1 height=4097 width=4097 input_pitch=0 output_pitch=0 dtype=b32');
INSERT INTO problem VALUES(20,'transpose','batch=1 height=4096 width=4096 input_pitch=0 output_pitch=0 dtype=b128');
INSERT INTO problem VALUES(21,'elementwise','function=add dtype=f32 shape=4096x4096 a=dense b="4096" c=dense d=dense e=dense f=dense');
INSERT INTO problem VALUES(22,'elementwise','function=add dtype=f32 shape=4096x4000 a=4096x4000:4096x1 b=4096x4000:4096x1 c=dense d=dense e=dense f=dense');
INSERT INTO problem VALUES(23,'elementwise','function="a * b + c" dtype=f32 shape="16777216" a=dense b=dense c=dense d=dense e=dense f=dense');
INSERT INTO problem VALUES(24,'elementwise','function=add dtype=bf16 shape="134217728" a=dense b=dense c=dense d=dense e=dense f=dense');
INSERT INTO problem VALUES(25,'conv_covariance','batch=4 channels_out=3 channels_in=3 height=34 width=34 mask_height=3 mask_width=3 dtype=f64');
INSERT INTO problem VALUES(26,'transpose','batch=1 height=64 width=48 input_pitch=0 output_pitch=0 dtype=b32');
INSERT INTO session VALUES(1,'d9fddfc3a7272b491ccda5623c983428',1,'tunesmith tune conv2d --device cuda:0 --db h200.db --seed 1 --problems small.txt --budget 20s','random',1,'20s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T08:11:38.068Z','2026-11-21T08:12:52.151Z',NULL);
INSERT INTO session VALUES(2,'22fe21bfd2aee7e2924e03677e3f04ef',1,'tunesmith tune reduce --device cuda:0 --problems reduce.txt --budget 7s','random',1,'7s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T11:13:11.792Z','2026-11-21T11:15:54.219Z',NULL);
INSERT INTO session VALUES(3,'8b18efb16cb0146d9243e5bfb2e719fc',1,'tunesmith tune conv1d --device cuda:0 --problems conv1d.txt --budget 8s','random',1,'8s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T11:15:54.918Z','2026-11-21T11:18:48.431Z',NULL);
INSERT INTO session VALUES(4,'bee7780c1fa799b8618922a121d397fa',1,'tunesmith tune reduce --device cuda:0 --seed 2 --problems reduce.txt --budget 6s','random',2,'6s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T11:34:32.093Z','2026-11-21T11:35:45.354Z',NULL);
INSERT INTO session VALUES(5,'de28f9d1368af92b602008f12a8164c4',1,'tunesmith tune conv_covariance --device cuda:0 --seed 2 --problems conv_covariance.txt --budget 10s','random',2,'10s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T11:37:15.674Z','2026-11-21T11:37:52.469Z',NULL);
INSERT INTO session VALUES(6,'f8f14dc1749bfaae38c60517b51c171d',1,'tunesmith tune conv1d --problems conv1d.txt --budget 7s --device cuda:0 --db h.db','random',1,'7s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:49:59.515Z','2026-11-21T23:51:05.292Z',NULL);
INSERT INTO session VALUES(7,'ca4fc5d14546447f9fa45e5a88e524d8',1,'tunesmith tune conv2d --template warpgroup --template tensor --problem "height=4096 width=4096 mask_height=13 mask_width=13" --budget 16s --device cuda:0 --db h.db','random',1,'16s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:51:07.876Z','2026-11-21T23:51:22.953Z',NULL);
INSERT INTO session VALUES(8,'c0c858da83ffc7e89e3023b8b976bd36',1,'tunesmith tune transpose --problems transpose_cold.txt --caches cold --budget 9s --device cuda:0 --db h.db','random',1,'9s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:52:30.471Z','2026-11-21T23:53:04.512Z',NULL);
INSERT INTO session VALUES(9,'4f9ba98037168a42c1715591334b91f1',1,'tunesmith tune transpose --problems transpose_warm.txt --budget 4s --device cuda:0 --db h.db','random',1,'4s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:53:05.132Z','2026-11-21T23:54:18.783Z',NULL);
INSERT INTO session VALUES(10,'9451acaca253573e6f5d38f1ea00ef12',1,'tunesmith tune histogram --problems histogram.txt --budget 2s --device cuda:0 --db h.db','random',1,'2s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:54:45.363Z','2026-11-21T23:56:04.423Z',NULL);
INSERT INTO session VALUES(11,'b1f4c80ea91aaa26be8104802013d9c2',1,'tunesmith tune elementwise --problems elementwise.txt --budget 1s --device cuda:0 --db h.db','random',1,'1s','0.1.0','NVRTC 13.0','580.159.04 (CUDA 13.0)','cores=16','finished','2026-11-21T23:56:05.373Z','2026-11-21T23:58:35.321Z',NULL);
INSERT INTO session VALUES(12,'c980cd907a33287d4efefa24257c4c1e',2,'tunesmith tune transpose --device host --db s3.db --seed 1 --budget 3 --problem "height=64 width=48"','random',1,'3','0.1.0','c++ (Debian 12.2.0-14+deb12u1) 12.2.0 -std=c++20 -O2 -ffp-contract=off -fno-strict-aliasing','Linux 6.1.0','cores=2','finished','2026-11-22T13:03:48.062Z','2026-11-22T13:03:49.036Z',NULL);
INSERT INTO measurement VALUES(1,1,1780,3,1,1,0,'ok','',3.2507,3.2429,0.003815,'[3.3157,3.296,3.2911,3.2837,3.2911,3.2862,3.28,3.2935,3.2825,3.2985,3.296,3.256,3.248,3.244,3.2504,3.244,3.2464,3.244,3.2432,3.2464,3.2504,3.244,3.2657,3.245,3.2493,3.2441,3.2458,3.2528,3.2484,3.2554,3.2467,3.2458,3.2502,3.2747,3.2525,3.2517,3.2574,3.2542,3.2583,3.2501,3.2583,3.2574,3.2517,3.2583,3.2593,3.2578,3.2492,3.246,3.2507,3.25,3.25,3.2429,3.2453,3.246,3.25]',72,0,0,0,0.354099,128.6,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T08:11:50.542Z','warm');
INSERT INTO measurement VALUES(2,1,1788,2,1,1,0,'ok','',5.59,5.3973,0.006091,'[5.4272,5.4112,5.4165,5.4229,5.4101,5.3973,5.4059,5.4176,5.4112,5.4048,5.4325,5.6113,5.5605,5.5944,5.5896,5.5784,5.584,5.5906,5.5595,5.584,5.5765,5.5746,5.6766,5.6251,5.6057,5.5989,5.5977,5.616,5.5874,5.6046,5.6286,5.608,5.5806,5.606,5.609,5.583,5.592,5.604,5.597,5.62,5.583,5.581,5.621,5.618,5.59,5.592,5.592,5.587,5.603,5.624,5.587,5.604,5.569,5.617,5.614]',54,0,4896,0,0.354099,17.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T08:11:50.550Z','warm');
INSERT INTO measurement VALUES(3,2,2387,11,9,1,0,'ok','',1.2598,1.2408,0.01278,'[1.2589,1.245,1.2408,1.2408,1.2444,1.245,1.2444,1.245,1.2444,1.2414,1.2414,1.2568,1.2442,1.2486,1.2486,1.2486,1.2442,1.2486,1.248,1.2442,1.2486,1.2436,1.2811,1.2646,1.2646,1.2646,1.2646,1.2651,1.2651,1.2646,1.264,1.2646,1.2651,1.2729,1.2621,1.2616,1.2621,1.2626,1.2621,1.2621,1.2616,1.2616,1.2621,1.2621,1.2626,1.2598,1.2598,1.2598,1.2593,1.2607,1.2593,1.2602,1.2626,1.2598,1.2598]',40,129,0,0,0.029369,19.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:13:40.672Z','warm');
INSERT INTO measurement VALUES(4,2,2392,13,9,1,0,'ok','',1.4791,1.4703,0.00338,'[1.4939,1.4791,1.4803,1.4797,1.4791,1.4797,1.4797,1.4791,1.4797,1.4797,1.4803,1.4852,1.4744,1.4776,1.4748,1.4781,1.4744,1.4748,1.4776,1.4786,1.4753,1.4776,1.4971,1.4883,1.4845,1.4852,1.4845,1.4839,1.4852,1.4776,1.4814,1.4883,1.4845,1.4874,1.4777,1.4817,1.4811,1.4737,1.4703,1.4731,1.4777,1.4777,1.4817,1.4754,1.4862,1.4767,1.4762,1.4799,1.4804,1.4762,1.4767,1.4762,1.4767,1.4767,1.4767]',32,128,0,0,0.021549,74.9,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:13:40.677Z','warm');
INSERT INTO measurement VALUES(5,2,5084,14,12,1,0,'ok','',5.0832,5.0528,0.004564,'[5.1584,5.0912,5.08,5.096,5.08,5.0816,5.0672,5.0752,5.0704,5.08,5.1008,5.168,5.072,5.0976,5.0832,5.0688,5.0896,5.0688,5.0672,5.088,5.072,5.0704,5.1184,5.0528,5.0704,5.0544,5.1008,5.0752,5.0688,5.08,5.0912,5.072,5.072,5.1264,5.096,5.0912,5.0768,5.0976,5.0896,5.0848,5.0992,5.0752,5.0864,5.1088,5.1808,5.0992,5.08,5.1072,5.0768,5.0832,5.0912,5.0832,5.0928,5.1008,5.0816]',34,0,0,0,0.065138,20.6,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:14:58.603Z','warm');
INSERT INTO measurement VALUES(6,2,7442,15,13,1,0,'ok','',17.9808,17.8286,0.003857,'[18.0183,17.9749,18.0549,17.9406,17.9703,17.9154,18.0823,17.9429,17.9794,17.968,18.0183,18.0663,17.9497,18.096,18,18.1143,17.9634,17.9931,17.9086,18.1257,17.9909,18.0823,17.9337,17.952,17.9703,18.0251,17.9291,18.0571,17.9611,18.0594,17.8286,18.0823,17.9886,17.9952,17.8752,18.0064,17.8864,18.04,18,17.8976,18.0064,17.9424,18.0208,17.9808,17.9968,18.0256,17.9632,17.976,17.9568,17.9984,17.9552,17.9664,17.9632,18.056,17.8992]',64,8193,0,0,0.040775,181.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:15:13.306Z','warm');
INSERT INTO measurement VALUES(7,2,7445,16,13,1,0,'ok','',18.3138,18.1303,0.005179,'[18.5477,18.3065,18.3311,18.5477,18.1686,18.1465,18.3286,18.3286,18.3089,18.2105,18.3138,18.3817,18.1303,18.3223,18.3771,18.3017,18.4,18.288,18.32,18.2514,18.336,18.464,18.272,18.2606,18.2423,18.272,18.224,18.2149,18.2491,18.3269,18.2903,18.4,18.2286,18.3657,18.1989,18.3291,18.2377,18.3497,18.3977,18.2766,18.3063,18.3383,18.4457,18.4023,18.3825,18.3156,18.2836,18.4553,18.4698,18.3098,18.3156,18.3011,18.368,18.3127,18.272]',40,2048,0,0,0.065506,143.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:15:13.307Z','warm');
INSERT INTO measurement VALUES(8,3,1440,7,6,1,0,'ok','',2.0468,2.0271,0.012874,'[2.0401,2.0327,2.0327,2.0369,2.0271,2.0364,2.0341,2.0336,2.0369,2.0299,2.0313,2.0506,2.0391,2.0412,2.037,2.0464,2.0338,2.0417,2.0323,2.0443,2.0386,2.0323,2.048,2.0575,2.0367,2.0409,2.0391,2.0456,2.0486,2.0468,2.0504,2.045,2.0433,2.0679,2.0644,2.08,2.0705,2.0748,2.0722,2.0722,2.0696,2.0852,2.0739,2.0696,2.0828,2.0565,2.0523,2.0715,2.0601,2.0608,2.0608,2.053,2.0644,2.0622,2.0594]',34,0,0,0,0.439798,95.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:16:11.386Z','warm');
INSERT INTO measurement VALUES(9,3,3031,6,7,1,0,'ok','',22.8578,22.4187,0.0133,'[22.5452,22.4788,22.6215,22.6388,22.528,22.624,22.5477,22.5969,22.6117,22.5182,22.528,22.8209,22.8578,22.8997,22.88,22.8578,22.9194,22.9785,22.9145,22.7594,22.9637,22.9366,22.9637,22.8135,23.0055,23.0597,22.9342,22.8357,22.8775,22.9637,22.9194,22.8677,22.9169,22.9265,23.0749,22.9585,23.1884,22.8218,23.1535,22.976,23.136,22.8771,23.0836,22.9033,22.8747,22.536,22.6987,22.72,22.4187,22.704,22.5467,22.4267,22.7013,22.664,22.664]',56,0,2080,0,0.467838,99.4,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:16:28.044Z','warm');
INSERT INTO measurement VALUES(10,3,6879,8,8,1,0,'ok','',230.368,228.96,0.005765,'[230.048,230.496,231.872,229.824,230.08,230.016,231.264,228.96,230.624,231.328,229.408,232.896,229.888,232.032,230.272,230.048,232.16,229.12,230.272,230.432,230.912,229.472,231.776,230.048,230.656,231.68,229.76,230.368,229.952,229.472,229.312,229.184,230.848,232.32,231.168,230.56,230.944,229.92,230.24,232.128,229.568,231.264,232.224,231.552,231.264,230.048,230.976,230.336,230.208,232.192,229.856,230.336,231.552,229.888,230.944]',70,0,11424,0,0.410963,20.9,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:17:21.143Z','warm');
INSERT INTO measurement VALUES(11,3,7802,5,14,1,1,'ok','',684.256,683.04,0.000491,'[684.768,683.552,684.448,684.032,684.256,684.416,683.04,684,684.384,684.096,684,684.576,684.416,683.648,684.416,684.416,684.736,684.256,684.256,683.552,684.064,684.32,686.528,684.224,684.384,684.096,684.224,683.424,684.032,684.288,684.064,684.032,684.352,683.424,684.256,684.32,684.256,684.416,684.448,683.296,684.32,684.16,684.256,684.064,684.416,684.16,683.392,684.32,684.064,684.224,684.192,684.288,683.296,684.096,684.384]',40,0,0,0,0.410963,11.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:17:31.309Z','warm');
INSERT INTO measurement VALUES(12,3,7811,8,14,1,0,'ok','',233.632,231.776,0.005136,'[236.192,233.312,234.528,236.352,234.72,233.536,234.304,233.888,235.008,233.632,232.64,233.248,233.632,235.328,232.928,232.96,234.976,232.192,233.6,234.784,231.776,233.28,232.96,233.984,232.128,232.704,233.696,233.632,232.928,233.952,233.344,233.472,234.432,236.288,233.888,233.888,234.56,233.824,233.28,235.808,233.28,233.376,235.488,232.608,235.104,234.208,233.568,233.472,233.792,232.96,234.432,233.472,232.32,235.072,233.984]',70,0,11424,0,0.410963,30.8,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:17:31.321Z','warm');
INSERT INTO measurement VALUES(13,4,25,10,11,1,1,'ok','',58155.3268,58069.3436,0.001411,'[58194.3054,58119.5526,58097.5685,58243.9346,58129.0245,58145.0577,58317.1501,58154.6898,58361.2175,58366.8785,58155.3268,58178.9436,58069.3436,58177.3109,58147.583]',40,0,1024,0,0.0,17.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:35:00.935Z','warm');
INSERT INTO measurement VALUES(14,4,269,10,10,1,1,'ok','',3839.1681,3815.968,0.006372,'[3827.424,3817.4081,3825.1841,3851.6159,3815.968,3823.2639,3852.5119,3839.1681,3829.248,3849.92,3854.496,3842.72,3854.656,3834.6241,3840.2879]',40,0,2048,0,0.030442,17.9,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:35:38.805Z','warm');
INSERT INTO measurement VALUES(15,4,280,12,10,1,0,'ok','',22.0849,21.8831,0.005683,'[21.9249,22.0751,22.0972,21.9692,22.0135,22.0923,22.2055,21.9914,22.1268,22.1858,22.016,22.208,22.1538,22.0209,22.0308,22.1465,22.0677,22.0431,22.0258,22.0849,22.1317,22.0234,22.1834,22.0652,22.1095,22.0111,22.2375,22.0283,22.1932,22.0505,22.0308,22.0382,22.1932,22.1467,21.9627,22.2053,22.024,22.1387,22.2827,22.12,22.2,22.2907,22.064,22.04,22.0702,22.1022,22.1563,22.0874,22.048,22.1145,22.1809,22.0603,21.9348,21.8831,22.1612]',32,32,0,0,0.008211,86.8,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:35:38.817Z','warm');
INSERT INTO measurement VALUES(16,5,890,4,3,1,0,'ok','',51.3792,50.8992,0.005543,'[51.3792,51.1424,51.3088,51.3984,51.5776,51.2576,50.8992,51.4752,51.328,51.6864,51.0336,51.8464,51.2896,51.5136,51.3792,51.2704,51.2896,51.2384,51.52,51.2064,51.36,51.4816,52.1856,51.0784,51.5008,51.3792,51.3856,51.328,51.6736,51.0336,51.4176,51.7568,51.1424,51.5584,51.7568,51.136,51.4752,51.2256,51.7504,51.1488,51.3664,51.36,51.3216,51.6096,51.5456,51.6544,51.52,51.1872,51.5968,51.232,51.4368,51.552,51.2576,51.3792,51.232]',128,0,0,8,0.036583,199.5,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:37:37.824Z','warm');
INSERT INTO measurement VALUES(17,5,955,18,25,1,0,'ok','',96.832,95.872,0.004958,'[96.8427,96.7147,97.5147,96.7467,96.8533,96.7787,96.8853,97.0347,96.9707,96.512,96.512,96.9067,97.216,96.8853,95.8827,95.8933,96.5653,97.4293,97.0347,96.7147,97.3333,96.8213,95.872,97.3867,97.6,96.768,96.544,96.832,97.1947,97.472,96.8533,96.8747,96.5653,96.9067,96.3733,96.7253,96.416,96.8,98.272,96.2133,97.0667,96.864,96.032,96.5867,96.192,97.7813,96.5333,96.9493,96.7893,96.032,96.96,97.472,96.5333,97.312,96.5653]',122,0,27744,0,0.087201,168.3,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T11:37:51.118Z','warm');
INSERT INTO measurement VALUES(18,6,322,19,16,1,0,'ok','',4.3962,4.35,0.005618,'[4.383,4.354,4.35,4.352,4.354,4.357,4.351,4.356,4.354,4.362,4.353,4.3973,4.3813,4.3876,4.3804,4.3893,4.3813,4.3796,4.3751,4.3796,4.3796,4.3804,4.435,4.4041,4.4101,4.4113,4.4172,4.4124,4.403,4.4089,4.4065,4.4053,4.416,4.424,4.408,4.397,4.406,4.399,4.401,4.394,4.397,4.393,4.401,4.401,4.4188,4.3962,4.3953,4.3915,4.3962,4.3962,4.3906,4.3972,4.4066,4.3962,4.3981]',80,64,9216,0,0.037769,327.3,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:50:07.101Z','warm');
INSERT INTO measurement VALUES(19,6,525,20,15,1,0,'ok','',129.632,129.152,0.008702,'[134.592,131.264,131.104,131.136,130.88,131.2,130.688,130.848,131.296,130.656,130.464,131.2,129.84,129.824,129.936,129.648,129.296,129.2,129.2,129.616,129.264,129.536,130.992,129.552,129.36,129.456,129.616,129.52,129.44,129.632,129.232,129.68,129.552,132.08,129.936,129.712,129.792,129.392,129.44,129.248,129.152,129.152,129.232,129.2,131.104,129.888,129.808,129.872,129.504,129.584,129.712,129.488,129.552,129.328,129.424]',128,128,37120,0,0.007124,734.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:50:15.532Z','warm');
INSERT INTO measurement VALUES(20,7,294,1,2,1,1,'ok','',1036.544,1034.112,0.003782,'[1039.52,1034.784,1034.176,1041.024,1037.536,1036.544,1040.192,1036.064,1037.728,1037.12,1034.624,1035.424,1040.8,1034.144,1034.112]',32,0,0,8,0.037085,165.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:51:22.378Z','warm');
INSERT INTO measurement VALUES(21,7,296,22,2,1,0,'ok','',74.9653,74.432,0.00626,'[76.3307,75.072,75.36,75.0507,75.2,74.9333,75.1787,75.104,74.624,74.9653,75.2427,75.9787,74.7413,74.9653,74.784,74.7093,74.4853,74.656,74.5067,74.6987,74.432,74.528,75.84,74.9547,75.2213,75.3173,75.04,74.688,74.8907,74.6667,75.168,75.2853,74.9013,75.52,74.7093,74.5493,74.6987,74.592,75.264,75.104,74.5493,75.0827,75.168,74.7733,76.1707,75.04,74.9867,74.6773,75.0507,74.592,74.8053,75.0187,74.8373,74.9867,74.7413]',117,256,118016,0,0.032598,498.8,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:51:22.380Z','warm');
INSERT INTO measurement VALUES(22,7,303,21,2,1,0,'ok','',103.664,103.136,0.003859,'[104.288,103.824,104.032,104.096,103.456,103.84,103.92,103.552,103.504,103.584,103.344,104.272,103.664,103.424,103.408,103.504,103.264,103.36,104.048,103.888,103.616,103.68,103.84,103.744,103.632,103.776,103.728,103.856,103.6,103.136,103.264,103.264,104.096,104.32,103.952,103.728,103.92,103.696,103.28,103.52,103.376,103.344,103.664,103.44,104.336,103.664,103.728,103.648,103.856,103.84,103.808,103.616,103.376,103.376,103.504]',128,128,64512,0,0.033914,848.3,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:51:22.385Z','warm');
INSERT INTO measurement VALUES(23,8,674,26,4,1,0,'ok','',18.208,17.28,0.02812,'[18.08,17.856,17.472,18.496,18.368,17.984,17.728,18.08,18.144,18.4,18.24,19.84,17.888,18.336,17.92,18.304,19.392,18.304,18.144,18.624,18.144,18.112,17.92,18.464,18.08,19.744,17.824,18.176,18.176,18.496,19.2,18.208,17.76,18.112,18.24,19.808,18.08,18.272,17.952,18.592,18.144,18.24,18.112,18.4,19.2,18.112,18.016,17.6,18.176,17.504,17.472,19.456,17.76,17.728,18.176,18.08,19.296,17.824,18.4,17.728,18.624,19.872,18.208,18.496,18.624,17.664,18.24,18.176,18.496,18.176,19.168,17.792,18.4,18.016,18.4,19.328,18.368,18.336,18.272,17.92,19.68,17.856,18.56,17.728,18.56,18.048,19.008,17.984,18.752,19.776,18.56,17.696,18.624,18.176,19.648,17.664,18.304,18.208,17.792,18.208,17.28,17.888,17.984,17.728,18.56,18.528,19.712,17.952,18.24,18.848,17.632,19.456,18.016,18.752,17.792,18.336,18.112,18.016,17.888,18.24,19.552,18.432,18.624,18.208,17.92,19.648,17.888,18.848,18.56,18.176,19.424,18.272,17.824,18.368,17.92,18.944,18.08,18.368,18.144,20.608,17.984,18.336,18.4,18.368,19.2,18.464,17.824,18.4,18.016,18.016,18.112,17.408,17.632,17.984,18.976,17.504,18.24,18.016,18.304,20,18.368,17.728,18.368,17.792,18.24,17.952,18.304,17.984,19.104,17.696,18.624,18.016,18.176,19.104,18.336,17.728,18.56,18.144,18.24,18.048,18.432,18.016,19.232,18.016,18.272,18.016,18.304,19.328,18.496,17.888,17.92,18.144,19.52,17.632,17.984,18.112,18.24,18.08,18.016,18.176,18.08,19.744,17.6,17.632,18.08,18.912,17.504,18.496,18.144,17.792,19.296,18.272,18.176,18.144,18.08,18.208,18.336,18.048,18.016,20,18.112,18.272,17.952,18.08,19.264,18.368,18.336,18.24,18.336,18.432,18.24,18.176,18.272,19.104,17.792,18.496,17.984,18.592,19.296,18.56,18.208,18.272,18.112,19.488,17.696,18.048,18.176,18.496,17.792,18.656,18.016,17.6,19.104,17.376,17.888]',64,8440,0,0,0.0,319.3,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:52:40.126Z','cold');
INSERT INTO measurement VALUES(24,8,682,23,4,1,0,'ok','',18.432,17.568,0.03125,'[18.528,18.944,17.984,18.4,18.944,18.24,19.616,18.336,17.952,18.624,18.304,18.624,18.016,18.752,18.272,20.352,18.304,18.048,18.24,19.392,19.232,18.304,18.336,18.432,18.464,18.592,18.528,18.304,18.336,19.904,18.048,18.272,18.272,18.528,19.52,19.008,18.144,18.688,18.272,19.872,18.4,18.464,17.952,18.528,18.112,18.208,18.048,17.888,19.456,18.272,17.568,18.208,19.04,17.92,18.24,18.56,18.272,18.112,18.976,18.912,18.72,19.264,18.88,18.08,18.4,18.4,20.512,18.304,18.304,18.24,18.624,20.032,18.592,18.592,18.656,17.984,18.72,18.432,18.752,18.432,20.32,17.92,19.008,18.432,19.072,20.32,19.488,18.144,18.56,18.464,19.744,17.984,18.72,18.016,18.56,19.616,18.112,18.24,18.112,19.584,17.952,17.632,18.144,17.856,19.104,18.624,18.656,18.688,17.952,19.52,17.952,18.656,18.464,18.656,20,18.752,18.176,18.784,17.792,18.752,18.304,18.432,17.984,20.128,18.24,18.752,18.752,18.24,19.712,18.624,18.272,18.272,18.368,18.656,18.048,18.464,18.144,20.032,17.92,18.368,17.888,18.368,19.136,18.208,18.496,18.432,18.112,18.336,17.92,18.144,18.272,19.072,17.632,20.064,17.696,17.728,18.176,18.496,18.368,18.176,18.72,18.08,19.776,18.24,18.624,18.336,18.304,19.936,18.848,17.952,18.368,18.272,19.872,17.92,18.656,18.336,18.784,17.824,18.72,18.304,18.272,19.776,18.624,18.24,18.688,18.112,20.288,18.016,18.432,17.984,18.944,18.272,18.464,18.08,18.432,20,18.656,18.208,18.24,18.08,19.008,18.016,18.24,18.432,18.4,17.6,17.76,18.56,18.272,18.624,18.176,20.096,18.464,18.72,18.048,18.528,18.784,18.688,18.016,18.432,19.328,18.848,18.432,19.072,17.856,19.712,17.984,18.72,17.984,18.496,17.856,18.368,18.112,18.464,19.584,18.56,17.984,18.688,17.824,20.064,18.464,18.816,18.272,18.72,19.264,18.784,18.432,18.592,18.24,19.04,17.952,18.432,18.24,19.072,17.76]',38,8576,0,0,0.0,231.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:52:40.128Z','cold');
INSERT INTO measurement VALUES(25,9,2857,25,5,1,0,'ok','',1.0566,1.0201,0.023046,'[1.074,1.0646,1.063,1.0638,1.0661,1.0646,1.0661,1.0661,1.063,1.0669,1.0669,1.0695,1.0548,1.0554,1.0542,1.0585,1.0548,1.0548,1.0566,1.0542,1.0548,1.0542,1.056,1.0381,1.059,1.0545,1.0426,1.0441,1.0515,1.0389,1.0605,1.059,1.0396,1.0408,1.024,1.0274,1.0285,1.024,1.0425,1.024,1.0234,1.024,1.0234,1.0201,1.14,1.096,1.092,1.091,1.092,1.091,1.093,1.091,1.092,1.091,1.092]',38,4336,0,0,0.0,26.5,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:53:17.915Z','warm');
INSERT INTO measurement VALUES(26,9,3084,17,20,1,0,'ok','',158.304,156.512,0.011118,'[159.584,158.464,156.512,158.144,156.768,158.208,156.736,157.152,158.304,156.736,158.752,159.52,156.832,158.4,156.512,158.24,158.368,156.96,158.336,156.8,158.496,156.864,160.32,158.624,156.608,158.4,156.64,158.4,156.832,158.24,158.656,156.64,158.304,159.616,156.96,158.528,158.4,157.024,158.688,156.704,158.336,156.768,158.592,158.464,160.288,156.928,158.816,157.056,158.784,158.752,156.896,158.624,156.96,158.624,156.8]',40,0,0,0,0.0,67.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:53:21.010Z','warm');
INSERT INTO measurement VALUES(27,9,5611,24,19,1,0,'ok','',36.0137,35.7067,0.005967,'[36.48,36.0907,36.08,35.9733,36.3733,36.112,36.112,36.16,35.7067,35.888,36.2667,36.1829,35.904,35.9543,35.9771,36.1646,35.9086,36.0457,35.7897,35.9954,35.8583,36.1691,36.2331,35.7211,36.0137,35.7943,36.064,35.776,36.1189,35.8309,36.0823,35.9543,36.1417,36.416,35.9131,36.0731,35.7989,36,35.9131,36.1783,35.9634,36.0046,35.9314,36.0777,36.1326,36.1463,35.9726,36.0731,36.0823,35.8309,36.224,35.8766,35.9771,35.8857,36.0914]',40,9984,0,0,0.0,32.0,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:53:47.668Z','warm');
INSERT INTO measurement VALUES(28,10,134,27,18,1,1,'ok','',4.552,4.3787,0.036555,'[5.236,5.128,4.884,4.804,4.716,4.696,4.676,4.712,4.676,4.68,4.676,4.668,4.4507,4.4,4.4027,4.3787,4.3867,4.412,4.3973,4.388,4.4147,4.4173,4.759,4.6003,4.5389,4.5645,4.5568,4.5555,4.5542,4.5325,4.5363,4.5363,4.5363,4.9296,4.6864,4.6112,4.5392,4.5104,4.5072,4.5168,4.4912,4.5088,4.52,4.5072,5.0896,4.6736,4.5568,4.5712,4.552,4.5536,4.5536,4.5184,4.5152,4.5136,4.5152]',16,0,0,0,0.0,68.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:54:47.537Z','warm');
INSERT INTO measurement VALUES(29,10,135,28,18,1,0,'ok','',2.3319,2.3021,0.017025,'[2.3463,2.3215,2.3226,2.3174,2.3215,2.3164,2.3164,2.3174,2.3267,2.3319,2.3205,2.3573,2.3021,2.3069,2.3127,2.3176,2.3176,2.3127,2.3166,2.3069,2.3069,2.3176,2.4029,2.3505,2.3593,2.3505,2.3491,2.3505,2.3607,2.3607,2.3505,2.3593,2.3505,2.435,2.3573,2.3558,2.3573,2.3573,2.3573,2.3558,2.3573,2.3573,2.3573,2.3467,2.3779,2.336,2.3294,2.3217,2.3294,2.3128,2.3217,2.3294,2.336,2.3217,2.3283]',22,0,2048,0,0.0,121.4,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:54:47.538Z','warm');
INSERT INTO measurement VALUES(30,10,391,27,17,1,1,'ok','',52507.7744,52501.4381,0.000113,'[52512.3825,52506.5918,52510.1128,52516.0942,52507.7744,52504.4785,52511.8065,52510.1433,52501.4381,52509.5024,52505.8556,52505.5695,52516.5443,52502.5597,52503.8719]',16,0,0,0,0.0,20.7,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:54:54.890Z','warm');
INSERT INTO measurement VALUES(31,10,395,29,17,1,0,'ok','',144.128,142.848,0.007882,'[147.04,143.36,144.608,143.36,143.584,145.152,143.968,143.904,144.064,144.16,144.256,144.8,142.848,144.544,143.712,145.056,144.192,144,144.224,144.896,143.904,143.68,154.08,144.896,145.6,144.288,144.736,145.152,145.312,144.032,144.448,143.552,143.264,145.92,143.616,144.16,143.552,144.352,143.968,143.168,145.632,144.64,144.032,144.032,146.496,143.648,143.968,145.792,143.36,145.088,143.808,144.128,143.712,143.616,144.096]',32,0,16384,0,0.0,29.8,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:54:54.892Z','warm');
INSERT INTO measurement VALUES(32,11,150,30,23,1,0,'ok','',62.192,61.736,0.008104,'[62.184,62.448,61.84,62.392,61.824,62.288,61.848,62.312,61.808,62.192,61.776,62.608,61.896,62.536,61.784,62.472,61.8,62.216,61.824,61.992,62.424,61.808,62.24,62.288,61.784,62.336,61.744,62.288,61.784,62.432,61.856,62.44,61.992,62.8,61.92,62.36,61.912,62.352,61.864,62.208,61.936,62.352,61.968,62.392,62.848,61.928,62.224,61.736,62.424,61.784,62.488,61.92,62.352,61.928,62.28]',20,0,0,0,0.995803,209.3,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:56:07.534Z','warm');
INSERT INTO measurement VALUES(33,11,281,31,24,1,0,'ok','',187.072,184.736,0.004704,'[187.616,187.744,187.68,186.976,186.912,185.664,186.336,186.944,186.624,186.496,186.784,187.648,187.168,185.44,187.296,187.072,187.168,187.68,187.136,188.096,185.568,186.048,187.2,187.776,187.136,186.816,186.688,184.896,186.688,188.256,186.688,187.712,187.776,187.392,186.304,186.816,186.528,184.736,187.2,186.848,187.232,186.496,187.008,187.232,187.52,188.32,187.52,186.848,188.48,185.44,187.68,187.488,186.912,187.968,187.008]',26,0,0,0,0.996094,88.5,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:56:14.517Z','warm');
INSERT INTO measurement VALUES(34,11,1948,32,22,1,0,'ok','',46.6507,46.0533,0.004973,'[46.8352,47.0336,46.56,46.7072,46.9696,46.624,46.5728,46.944,46.6176,46.6112,47.072,46.848,46.5973,46.6347,46.7573,46.0533,46.6987,46.7307,46.768,46.7253,46.3307,46.5547,46.464,46.5867,46.6773,46.656,46.608,46.384,46.656,46.72,46.6507,46.3093,46.4053,47.0656,46.6304,46.6176,46.8992,46.6624,46.5728,46.9568,46.6944,46.5984,47.0656,46.5088,46.8992,46.5152,46.9376,46.528,46.656,46.944,46.624,46.5664,46.912,46.5536,46.5152]',32,0,0,0,0.999999,93.5,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:56:48.693Z','warm');
INSERT INTO measurement VALUES(35,11,2129,9,21,1,1,'ok','',68.8427,68.5653,0.004183,'[69.5253,68.992,68.7573,68.864,68.7467,69.1093,68.8107,68.8107,68.864,68.928,68.8427,69.8453,69.2373,69.152,69.408,69.056,68.7253,68.96,68.928,69.1093,68.9813,68.9387,69.1627,69.216,68.832,68.6933,68.7893,68.6933,68.6507,68.7253,68.6187,68.736,68.768,69.5253,69.0027,69.0773,69.088,68.9813,68.768,68.8853,68.5653,68.992,68.8213,68.704,69.952,68.832,68.8427,68.8747,68.8427,68.736,68.8107,68.7253,68.672,68.6613,68.576]',32,0,0,0,0.999999,25.5,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:56:51.145Z','warm');
INSERT INTO measurement VALUES(36,11,2139,33,21,1,0,'ok','',33.5947,33.2937,0.006736,'[33.8933,33.5787,33.696,33.728,33.632,33.552,33.5947,33.5573,33.4613,33.5787,33.7227,33.8651,33.5771,33.4171,33.5726,33.3806,33.6229,33.696,33.4857,33.6091,33.6274,33.4309,33.792,33.632,33.76,33.4987,33.888,33.7227,33.472,33.504,33.5787,33.6747,33.6853,33.5909,33.6549,33.3851,33.3897,33.7783,33.4217,33.3394,33.7966,33.4537,33.6549,33.7554,33.6823,33.3943,33.7326,33.6686,33.2937,33.7006,33.5131,33.472,33.7189,33.4217,33.4446]',32,0,0,0,0.999999,128.1,'NVRTC 13.0','580.159.04 (CUDA 13.0)','2026-11-21T23:56:51.148Z','warm');
INSERT INTO measurement VALUES(37,12,1,34,26,2,1,'ok','',30.2103,30.2014,0.000442,'[30.2103,30.2281,30.2014]',0,0,0,0,0.0,279.0,'c++ (Debian 12.2.0-14+deb12u1) 12.2.0 -std=c++20 -O2 -ffp-contract=off -fno-strict-aliasing','Linux 6.1.0','2026-11-22T13:03:48.370Z','warm');
INSERT INTO measurement VALUES(38,12,2,35,26,2,0,'ok','',47.3085,44.6062,0.057121,'[44.6062,50.0108]',0,16504,0,0,0.0,295.2,'c++ (Debian 12.2.0-14+deb12u1) 12.2.0 -std=c++20 -O2 -ffp-contract=off -fno-strict-aliasing','Linux 6.1.0','2026-11-22T13:03:48.690Z','warm');
INSERT INTO measurement VALUES(39,12,3,36,26,2,0,'ok','',36.7733,36.6844,2.8769999999999997832e-03,'[36.6844,36.7733,36.896]',0,8248,0,0,0.0,302.8,'c++ (Debian 12.2.0-14+deb12u1) 12.2.0 -std=c++20 -O2 -ffp-contract=off -fno-strict-aliasing','Linux 6.1.0','2026-11-22T13:03:49.013Z','warm');
INSERT INTO measurement VALUES(40,12,4,34,26,2,1,'ok','',30.451,30.1031,0.010446,'[30.4992,30.451,30.3892,30.2306,30.1031,30.136,30.6053,30.6888,30.5487]',0,0,0,0,0.0,279.0,'c++ (Debian 12.2.0-14+deb12u1) 12.2.0 -std=c++20 -O2 -ffp-contract=off -fno-strict-aliasing','Linux 6.1.0','2026-11-22T13:03:49.018Z','warm');
INSERT INTO winner VALUES(1,1,4,2,'2026-11-21T08:11:50.595Z');
INSERT INTO winner VALUES(1,1,16,1,'2026-11-21T08:11:50.593Z');
INSERT INTO winner VALUES(2,1,4,22,'2026-11-21T23:51:22.950Z');
INSERT INTO winner VALUES(2,1,16,21,'2026-11-21T23:51:22.948Z');
INSERT INTO winner VALUES(3,1,8,16,'2026-11-21T11:37:38.994Z');
INSERT INTO winner VALUES(4,1,4,24,'2026-11-21T23:52:40.300Z');
INSERT INTO winner VALUES(4,1,8,23,'2026-11-21T23:52:40.299Z');
INSERT INTO winner VALUES(5,1,16,25,'2026-11-21T23:53:17.928Z');
INSERT INTO winner VALUES(6,1,16,8,'2026-11-21T11:16:11.413Z');
INSERT INTO winner VALUES(7,1,4,9,'2026-11-21T11:16:28.231Z');
INSERT INTO winner VALUES(8,1,4,10,'2026-11-21T11:17:22.877Z');
INSERT INTO winner VALUES(9,1,4,4,'2026-11-21T11:13:40.687Z');
INSERT INTO winner VALUES(9,1,16,3,'2026-11-21T11:13:40.685Z');
INSERT INTO winner VALUES(10,1,4,15,'2026-11-21T11:35:39.014Z');
INSERT INTO winner VALUES(11,1,4,13,'2026-11-21T11:35:03.043Z');
INSERT INTO winner VALUES(12,1,16,5,'2026-11-21T11:14:58.687Z');
INSERT INTO winner VALUES(13,1,4,7,'2026-11-21T11:15:13.460Z');
INSERT INTO winner VALUES(13,1,8,6,'2026-11-21T11:15:13.459Z');
INSERT INTO winner VALUES(14,1,4,12,'2026-11-21T11:17:32.963Z');
INSERT INTO winner VALUES(15,1,4,19,'2026-11-21T23:50:16.440Z');
INSERT INTO winner VALUES(16,1,4,18,'2026-11-21T23:50:07.135Z');
INSERT INTO winner VALUES(17,1,1,31,'2026-11-21T23:54:56.969Z');
INSERT INTO winner VALUES(18,1,1,29,'2026-11-21T23:54:47.549Z');
INSERT INTO winner VALUES(19,1,4,27,'2026-11-21T23:53:48.056Z');
INSERT INTO winner VALUES(20,1,8,26,'2026-11-21T23:53:22.039Z');
INSERT INTO winner VALUES(21,1,4,36,'2026-11-21T23:56:51.610Z');
INSERT INTO winner VALUES(22,1,4,34,'2026-11-21T23:56:49.306Z');
INSERT INTO winner VALUES(23,1,4,32,'2026-11-21T23:56:08.193Z');
INSERT INTO winner VALUES(24,1,4,33,'2026-11-21T23:56:19.266Z');
INSERT INTO winner VALUES(25,1,8,17,'2026-11-21T11:37:52.465Z');
INSERT INTO winner VALUES(26,2,4,40,'2026-11-22T13:03:49.032Z');
COMMIT;
