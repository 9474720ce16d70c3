// SPDX-License-Identifier: Apache-2.0
#include "report/named_queries.h"

#include "report/io_class.h"

namespace fathom {
namespace {

constexpr NamedQuery kQueries[] = {
    {"overview", "One line a run: how long, how much CPU and memory, how it ended", R"(
SELECT run, label, command, end_reason, exit_status, exit_signal,
       round((end_ns - start_ns) / 1e9, 3) AS seconds,
       round(user_ns / 1e9, 3) AS user_s, round(system_ns / 1e9, 3) AS system_s,
       round((user_ns + system_ns) / nullif(end_ns - start_ns, 0), 2) AS cores_used,
       peak_rss_bytes, processes, threads, records, dropped
FROM runs ORDER BY start_ns + real_offset_ns)"},

    {"top-processes", "Processes by CPU time, with memory, faults and disk", R"(
SELECT label, pid, name, round(cpu_ns / 1e9, 3) AS cpu_s, round(user_ns / 1e9, 3) AS user_s,
       round(system_ns / 1e9, 3) AS system_s, round(wait_ns / 1e9, 3) AS wait_s,
       round((end_ns - start_ns) / 1e9, 3) AS seconds, peak_rss_bytes, major_faults,
       disk_read_bytes, disk_written_bytes, args
FROM processes ORDER BY cpu_ns DESC NULLS LAST LIMIT 50)"},

    {"process-tree", "Who started whom, with start, length and CPU time", R"(
WITH RECURSIVE parents AS (
  SELECT c.run, c.pid, c.start_ns, p.pid AS parent_pid, max(p.start_ns) AS parent_start_ns
  FROM processes c JOIN processes p ON p.run = c.run AND p.pid = c.ppid AND p.pid <> c.pid AND p.start_ns <= c.start_ns
  GROUP BY ALL),
tree AS (
  SELECT run, pid, start_ns, 0 AS depth, [start_ns, pid] AS place
  FROM processes ANTI JOIN parents USING (run, pid, start_ns)
  UNION ALL
  SELECT c.run, c.pid, c.start_ns, t.depth + 1, list_concat(t.place, [c.start_ns, c.pid])
  FROM tree t JOIN parents c ON c.run = t.run AND c.parent_pid = t.pid AND c.parent_start_ns = t.start_ns)
SELECT p.label, repeat('  ', t.depth) || coalesce(p.name, '?') AS process, p.pid,
       round(greatest(p.start_ns - r.start_ns, 0) / 1e9, 3) AS start_s, round((p.end_ns - p.start_ns) / 1e9, 3) AS seconds,
       round(p.cpu_ns / 1e9, 3) AS cpu_s, p.exit_status, p.exit_signal, p.args
FROM tree t JOIN processes p USING (run, pid, start_ns) LEFT JOIN runs r USING (run)
ORDER BY p.run, t.place)"},

    {"timeline", "One row a second: cores, memory, processes and bytes of the tree", R"(
WITH seconds AS (
  SELECT g.run, g.label, r.start_ns, greatest(g.time_ns - r.start_ns, 0) // 1000000000 AS second, g.name,
         max(g.value) AS most, max_by(g.value, g.time_ns) AS last, max(g.time_ns) AS last_ns
  FROM gauges g JOIN runs r USING (run) WHERE g.scope = 'tree' GROUP BY ALL),
steps AS (
  SELECT *, (last - lag(last, 1, 0) OVER series)
            / nullif(greatest(last_ns - lag(last_ns, 1, start_ns) OVER series, 0), 0) AS per_ns
  FROM seconds WINDOW series AS (PARTITION BY run, name ORDER BY second))
SELECT label, second, round(sum(per_ns) FILTER (name IN ('cpu_user_total', 'cpu_system_total')), 2) AS cpu_cores,
       round(max(most) FILTER (name = 'rss') / 1e6, 3) AS rss_mb, (max(most) FILTER (name = 'processes'))::BIGINT AS processes,
       round(1e3 * any_value(per_ns) FILTER (name = 'read_chars_total'), 3) AS read_mb_per_s,
       round(1e3 * any_value(per_ns) FILTER (name = 'written_chars_total'), 3) AS written_mb_per_s
FROM steps GROUP BY run, label, second ORDER BY run, second)",
     "no gauges were recorded: they come from the resources probe"},

    {"gpu-kernels", "Kernels of CUDA by launches: how often, and what launching took the host", R"(
SELECT label, file AS kernel, count(*) AS launches, round(sum(duration_ns) / 1e6, 3) AS launch_ms,
       round(avg(duration_ns) / 1e3, 3) AS mean_us, round(max(duration_ns) / 1e3, 3) AS longest_us
FROM spans WHERE layer = 'cuda' AND name LIKE 'cuLaunch%' AND file IS NOT NULL
GROUP BY run, label, file ORDER BY launches DESC, kernel LIMIT 50)",
     "no launches were recorded: they come from the cuda probe"},

    {"gpu-copies",
     "Copies of CUDA by direction and function: bytes, host time, rate of those that wait", R"(
SELECT label, file AS direction, name, count(*) AS copies, sum(bytes)::BIGINT AS bytes,
       round(sum(duration_ns) / 1e6, 3) AS ms,
       CASE WHEN name NOT LIKE '%Async%' THEN round(sum(bytes) / nullif(sum(duration_ns), 0), 3) END AS gb_per_s
FROM spans WHERE layer = 'cuda' AND name LIKE 'cuMemcpy%'
GROUP BY run, label, file, name ORDER BY bytes DESC LIMIT 50)",
     "no copies were recorded: they come from the cuda probe"},

    {"gauges-by-second", "Every gauge, second by second; those that add up (_total) as a rate", R"(
WITH readings AS (
  SELECT g.run, g.label, g.time_ns - r.start_ns AS at_ns, at_ns // 1000000000 AS second, g.scope, g.name, g.unit, g.value,
         least(lead(at_ns) OVER (PARTITION BY g.run, g.scope, g.name ORDER BY g.time_ns), (second + 1) * 1000000000) - at_ns AS held_ns
  FROM gauges g JOIN runs r USING (run)),
seconds AS (
  SELECT run, label, second, scope, name, unit,
         coalesce(sum(value * held_ns) / nullif(sum(held_ns), 0), max_by(value, at_ns)) AS mean,
         max_by(value, at_ns) AS last, max(at_ns) AS last_ns
  FROM readings GROUP BY ALL),
steps AS (
  SELECT *, last - lag(last) OVER series AS step, (last_ns - lag(last_ns) OVER series) / 1e9 AS step_s
  FROM seconds WINDOW series AS (PARTITION BY run, scope, name ORDER BY second))
SELECT label, second, scope, name, CASE WHEN ends_with(name, '_total') THEN unit || '/s' ELSE unit END AS unit,
       round(CASE WHEN ends_with(name, '_total') THEN step / nullif(step_s, 0) ELSE mean END, 3) AS value
FROM steps ORDER BY run, scope, name, second)"},

    {"peak-memory", "The most memory of each process; of the tree and the cgroup, as looks saw it",
     R"(
SELECT label, 'process ' || pid AS what, name, peak_rss_bytes AS bytes, NULL AS at_s
FROM processes WHERE peak_rss_bytes IS NOT NULL
UNION ALL
SELECT label, 'any process', 'largest', peak_rss_bytes, NULL FROM runs WHERE peak_rss_bytes IS NOT NULL
UNION ALL
SELECT g.label, g.scope, g.name, max(g.value)::BIGINT, round((max_by(g.time_ns, g.value) - any_value(r.start_ns)) / 1e9, 3) + 0
FROM gauges g JOIN runs r USING (run)
WHERE g.unit = 'bytes' AND g.scope <> 'host' AND NOT ends_with(g.name, '_total') GROUP BY g.run, g.label, g.scope, g.name
ORDER BY bytes DESC LIMIT 50)"},

    {"exits", "Processes that failed: exit status other than 0, or ended by a signal", R"(
SELECT p.label, p.pid, p.name, p.exit_status, p.exit_signal, round((p.end_ns - r.start_ns) / 1e9, 3) AS at_s, p.args
FROM processes p LEFT JOIN runs r USING (run)
WHERE p.exit_status <> 0 OR p.exit_signal IS NOT NULL ORDER BY p.run, p.end_ns)",
     "no process is known to have failed"},

    {"calls", "Functions by time: calls, bytes, errors, a layer at a time", R"(
WITH calls AS (
  SELECT run, label, layer, name, count, time_ns, self_time_ns, bytes, errors FROM counters
  WHERE layer NOT IN ('cpu', 'cpu-thread', 'simulated')  -- those are events
  UNION ALL BY NAME
  SELECT run, label, layer, name, 1 AS count, duration_ns AS time_ns, bytes, (result < 0)::BIGINT AS errors, true AS traced FROM spans)
SELECT label, layer, name, sum(count) AS calls, round(sum(time_ns) / 1e6, 3) AS time_ms,
       CASE WHEN bool_or(traced) IS NULL THEN round(sum(self_time_ns) / 1e6, 3) END AS self_ms, round(sum(time_ns) / nullif(sum(count), 0)) AS mean_ns,
       sum(bytes) AS bytes, sum(errors) AS errors
FROM calls GROUP BY run, label, layer, name ORDER BY run, layer, sum(time_ns) DESC NULLS LAST, name)",
     "no calls were recorded: the probes that watch them are listed by fathom doctor"},

    {"files", "Files by bytes moved: calls, time, errors", R"(
WITH calls AS (
  SELECT run, label, layer, file, count, time_ns, bytes, errors FROM counters
  UNION ALL BY NAME
  SELECT run, label, layer, file, 1 AS count, duration_ns AS time_ns, bytes, (result < 0)::BIGINT AS errors FROM spans)
SELECT label, layer, file, sum(count) AS calls, sum(bytes) AS bytes, round(sum(time_ns) / 1e6, 3) AS time_ms,
       round(sum(bytes) / nullif(sum(time_ns), 0) * 1e3, 3) AS mb_per_s, sum(errors) AS errors
FROM calls WHERE file IS NOT NULL GROUP BY run, label, layer, file
ORDER BY sum(bytes) DESC NULLS LAST, sum(time_ns) DESC NULLS LAST LIMIT 100)",
     "no calls on files were recorded: the probes that watch them are listed by fathom doctor"},

    {"latencies", "How long calls took: percentiles and the longest, per function", R"(
WITH steps AS (
  SELECT run, label, layer, name, unnest(latency) AS calls,
         least((1::HUGEINT << generate_subscripts(latency, 1)) - 1, 9223372036854775807)::BIGINT AS ns, false AS exact FROM counters
  UNION ALL BY NAME
  SELECT run, label, layer, name, 1 AS calls, duration_ns AS ns, true AS exact FROM spans),
sums AS (
  SELECT run, label, layer, name, ns, sum(calls) AS calls, bool_and(exact) AS exact FROM steps WHERE calls > 0 GROUP BY ALL),
ranks AS (
  SELECT *, sum(calls) OVER (each ORDER BY ns) AS rank, sum(calls) OVER each AS of
  FROM sums WINDOW each AS (PARTITION BY run, layer, name))
SELECT label, layer, name, any_value(of) AS calls, min(ns) FILTER (rank >= 0.50 * of) AS p50_ns,
       min(ns) FILTER (rank >= 0.95 * of) AS p95_ns, min(ns) FILTER (rank >= 0.99 * of) AS p99_ns, max(ns) AS max_ns,
       CASE WHEN bool_and(exact) THEN 'exact' ELSE 'at most' END AS bound
FROM ranks GROUP BY run, label, layer, name ORDER BY run, layer, calls DESC, name)",
     "no calls with latencies were recorded: the probes that watch them are listed by fathom "
     "doctor"},

    {"calls-by-thread", "Who made the calls: time, bytes and errors of every thread, by layer", R"(
WITH calls AS (
  SELECT run, label, pid, tid, layer, count, time_ns, bytes, errors FROM counters
  UNION ALL BY NAME
  SELECT run, label, pid, tid, layer, 1 AS count, duration_ns AS time_ns, bytes, (result < 0)::BIGINT AS errors FROM spans),
names AS (SELECT run, pid, max_by(name, start_ns) AS process FROM processes GROUP BY ALL),
threads AS (SELECT run, pid, tid, max_by(name, start_ns) AS thread FROM threads GROUP BY ALL)
SELECT c.label, c.layer, c.pid, n.process, c.tid, t.thread, sum(c.count) AS calls, round(sum(c.time_ns) / 1e6, 3) AS time_ms,
       sum(c.bytes) AS bytes, sum(c.errors) AS errors
FROM calls c LEFT JOIN names n USING (run, pid) LEFT JOIN threads t USING (run, pid, tid)
GROUP BY c.run, c.label, c.layer, c.pid, n.process, c.tid, t.thread
ORDER BY c.run, c.layer, sum(c.time_ns) DESC NULLS LAST, c.tid)",
     "no calls were recorded: the probes that watch them are listed by fathom doctor"},

    {"bandwidth", "Bytes moved in each slice of time (of traced calls: second), by function", R"(
WITH moved AS (
  SELECT run, label, slice_ns, slice_length_ns, layer, name, count, bytes FROM counters
  UNION ALL BY NAME
  SELECT s.run, s.label, s.start_ns - (s.start_ns - r.start_ns) % 1000000000 AS slice_ns, 1000000000 AS slice_length_ns,
         s.layer, s.name, 1 AS count, s.bytes FROM spans s JOIN runs r USING (run))
SELECT c.label, round((c.slice_ns - r.start_ns) / 1e9, 3) AS at_s, c.layer, c.name, sum(c.count) AS calls,
       sum(c.bytes) AS bytes, round(sum(c.bytes) / nullif(max(c.slice_length_ns), 0) * 1e3, 3) AS mb_per_s
FROM moved c JOIN runs r USING (run) WHERE c.bytes > 0
GROUP BY c.run, c.label, c.slice_ns, r.start_ns, c.layer, c.name ORDER BY c.run, c.slice_ns, bytes DESC, c.layer, c.name)",
     "no calls that move bytes were recorded: the probes that watch them are listed by fathom "
     "doctor"},

    {"io-layers", "What passed through each layer: calls, files, bytes read and written, time", R"(
WITH calls AS (
  SELECT run, label, layer, name, file, count, bytes, errors, time_ns FROM counters
  WHERE layer NOT IN ('cpu', 'cpu-thread', 'simulated')  -- those are events
  UNION ALL BY NAME
  SELECT run, label, layer, name, file, 1 AS count, bytes, (result < 0)::BIGINT AS errors, duration_ns AS time_ns
  FROM spans)
SELECT c.label, c.layer, sum(c.count) AS calls, sum(c.errors) AS errors, count(DISTINCT c.file) AS files,
       sum(c.bytes) FILTER (io_class(c.layer, c.name) IN ('read', 'copy')) AS read_bytes,
       sum(c.bytes) FILTER (io_class(c.layer, c.name) IN ('write', 'copy')) AS written_bytes,
       round(sum(c.time_ns) / 1e9, 6) AS time_s, round((any_value(r.end_ns) - any_value(r.start_ns)) / 1e9, 3) AS run_s
FROM calls c JOIN runs r USING (run) GROUP BY c.run, c.label, c.layer ORDER BY c.run, calls DESC, c.layer)",
     "no calls were recorded: the probes that watch them are listed by fathom doctor"},

    {"amplification", "How much more each layer moves than system calls asked for", R"(
WITH calls AS (
  SELECT run, label, layer, name, bytes FROM counters WHERE bytes > 0
  UNION ALL BY NAME
  SELECT run, label, layer, name, bytes FROM spans WHERE bytes > 0),
moved AS (
  SELECT run, label, layer,
         sum(bytes) FILTER (io_class(layer, name) IN ('read', 'copy')) AS read_bytes,
         sum(bytes) FILTER (io_class(layer, name) IN ('write', 'copy')) AS written_bytes
  FROM calls GROUP BY ALL)
SELECT m.label, m.layer, m.read_bytes, round(m.read_bytes / s.read_bytes, 3) AS read_factor, m.written_bytes,
       round(m.written_bytes / s.written_bytes, 3) AS write_factor
FROM moved m LEFT JOIN moved s ON s.run = m.run AND s.layer = 'sys'
WHERE m.read_bytes > 0 OR m.written_bytes > 0 ORDER BY m.run, m.layer)",
     "no calls that move bytes were recorded: fathom run --probe io"},

    {"nested-calls", "Of traced calls: which lie within which, and how much of their time", R"(
SELECT o.label, o.layer AS outer_layer, o.name AS outer_name, i.layer AS inner_layer, i.name AS inner_name,
       count(*) AS calls, round(sum(i.duration_ns) / 1e6, 3) AS inner_ms,
       round(100.0 * sum(i.duration_ns) / nullif(sum(o.duration_ns), 0), 1) AS percent
FROM spans o JOIN spans i ON i.run = o.run AND i.pid = o.pid AND i.tid = o.tid AND i.start_ns >= o.start_ns
  AND i.start_ns + i.duration_ns <= o.start_ns + o.duration_ns AND i.layer <> o.layer
GROUP BY o.run, o.label, o.layer, o.name, i.layer, i.name ORDER BY o.run, inner_ms DESC, calls DESC, outer_name, inner_name)",
     "no traced calls lie within each other: fathom run --probe io --io trace"},

    {"libc-self", "Of summed calls: what functions of libc take besides their system calls", R"(
WITH names AS (
  SELECT run, label, pid, tid, layer, CASE WHEN layer <> 'c' THEN name
           WHEN name IN ('open', 'open64', 'openat64', 'creat', 'creat64', '__openat_2', '__open_2') THEN 'openat'
           WHEN name IN ('pread', '__pread_chk') THEN 'pread64' WHEN name = 'pwrite' THEN 'pwrite64'
           WHEN name IN ('stat', 'fstat', 'lstat', 'fstatat', 'stat64', 'fstat64', 'lstat64') THEN 'newfstatat'
           WHEN name = '__read_chk' THEN 'read' WHEN name = 'lseek64' THEN 'lseek' ELSE name END AS name,
         regexp_extract(coalesce(file, ''), '[^/]*$') AS file, count, time_ns, coalesce(self_time_ns, time_ns) AS self_ns
  FROM counters WHERE layer IN ('c', 'sys')),
sums AS (
  SELECT run, label, pid, tid, name, file, coalesce(sum(count) FILTER (layer = 'c'), 0) AS calls,
         coalesce(sum(count) FILTER (layer = 'sys'), 0) AS system_calls,
         sum(self_ns) FILTER (layer = 'c') AS c_ns, sum(time_ns) FILTER (layer = 'sys') AS sys_ns
  FROM names GROUP BY ALL)
SELECT label, name, sum(calls)::BIGINT AS calls, round(sum(c_ns) / 1e6, 3) AS c_ms,
       round(sum(sys_ns) / 1e6, 3) AS sys_ms, round(sum(c_ns - sys_ns) / 1e6, 3) AS self_ms
FROM sums WHERE calls > 0 AND calls = system_calls
GROUP BY run, label, name ORDER BY run, self_ms DESC, name)",
     "no calls were summed in both layers: sudo fathom run --probe io"},

    {"access-patterns", "Files by how they are read and written: small pieces, jumps", R"(
WITH steps AS (
  SELECT run, label, file, name, bytes, offset_bytes,
         lag(offset_bytes + bytes) OVER (PARTITION BY run, pid, file, name ORDER BY start_ns) AS expected
  FROM spans WHERE layer = 'sys' AND bytes > 0 AND file <> ''),
parts AS (
  SELECT run, label, file, name, count(*) AS calls, sum(bytes) AS bytes,
         count(*) FILTER (offset_bytes <> expected) AS jumps, true AS traced FROM steps GROUP BY ALL
  UNION ALL BY NAME
  SELECT run, label, file, name, sum(count) AS calls, sum(bytes) AS bytes, false AS traced FROM counters
  WHERE layer = 'sys' AND bytes > 0 AND file <> '' GROUP BY ALL),
files AS (  -- jumps are known where all calls were traced
  SELECT run, label, file, name, sum(calls) AS calls, sum(bytes) AS bytes,
         CASE WHEN bool_and(traced) THEN sum(jumps) END::BIGINT AS jumps FROM parts GROUP BY ALL)
SELECT label, file, name, calls::BIGINT AS calls, bytes, (bytes // calls)::BIGINT AS mean_bytes, jumps,
       concat_ws(', ', CASE WHEN calls >= 100 AND bytes // calls < 4096 THEN 'small' END,
                 CASE WHEN calls >= 10 AND jumps * 2 > calls THEN 'random' END) AS warning
FROM files ORDER BY run, warning = '', calls DESC, file, name LIMIT 50)",
     "no system calls that move bytes were recorded: fathom run --probe io, as root"},

    {"call-stacks",
     "Traced calls by the stack that made them: how often, how long, from the root to the leaf", R"(
WITH RECURSIVE made AS (
  SELECT run, label, layer, name, stack, count(*) AS calls, sum(duration_ns) AS time_ns, max(duration_ns) AS longest_ns,
         sum(bytes)::BIGINT AS bytes FROM spans
  WHERE stack IS NOT NULL GROUP BY run, label, layer, name, stack ORDER BY time_ns DESC LIMIT 50),
path AS (
  SELECT l.run, l.stack AS leaf, t.parent, coalesce(t.symbol, '[unknown]') AS names
  FROM (SELECT DISTINCT run, stack FROM made) l JOIN stacks t ON t.run = l.run AND t.id = l.stack
  UNION ALL
  SELECT p.run, p.leaf, t.parent, coalesce(t.symbol, '[unknown]') || ';' || p.names
  FROM path p JOIN stacks t ON t.run = p.run AND t.id = p.parent)
SELECT m.label, m.layer, m.name, m.calls, round(m.time_ns / 1e6, 3) AS ms, round(m.longest_ns / 1e3, 3) AS longest_us,
       m.bytes, p.names AS stack
FROM made m JOIN path p ON p.run = m.run AND p.leaf = m.stack AND p.parent IS NULL
ORDER BY m.run, m.time_ns DESC, stack)",
     "no traced call has a stack: fathom run --io trace --io-stacks, as root"},

    {"hot-functions", "Where samples were taken: functions by own weight", R"(
SELECT s.label, s.event, s.state, t.symbol, t.module, t.kind, count(*) AS samples, sum(s.weight) AS weight,
       round(100.0 * sum(s.weight) / sum(sum(s.weight)) OVER (PARTITION BY s.run, s.event, s.state), 2) AS percent
FROM samples s LEFT JOIN stacks t ON t.run = s.run AND t.id = s.stack
GROUP BY s.run, s.label, s.event, s.state, t.symbol, t.module, t.kind ORDER BY s.run, weight DESC LIMIT 50)",
     "no stacks were sampled: fathom doctor lists the probes, fathom import reads those of others"},

    {"hot-modules", "Where samples were taken: programs, libraries and the kernel by own weight",
     R"(
SELECT s.label, s.event, s.state, t.module, count(*) AS samples, sum(s.weight) AS weight,
       round(100.0 * sum(s.weight) / sum(sum(s.weight)) OVER (PARTITION BY s.run, s.event, s.state), 2) AS percent
FROM samples s LEFT JOIN stacks t ON t.run = s.run AND t.id = s.stack
GROUP BY s.run, s.label, s.event, s.state, t.module ORDER BY s.run, weight DESC LIMIT 50)",
     "no stacks were sampled: fathom doctor lists the probes, fathom import reads those of others"},

    {"hot-stacks", "Whole stacks by weight, from the root to the leaf", R"(
WITH RECURSIVE leaves AS (
  SELECT run, label, event, state, stack, count(*) AS samples, sum(weight) AS weight FROM samples
  WHERE stack IS NOT NULL GROUP BY ALL ORDER BY weight DESC LIMIT 50),
path AS (
  SELECT l.run, l.stack AS leaf, t.parent, t.depth, coalesce(t.symbol, '[unknown]') AS names
  FROM (SELECT DISTINCT run, stack FROM leaves) l JOIN stacks t ON t.run = l.run AND t.id = l.stack
  UNION ALL
  SELECT p.run, p.leaf, t.parent, t.depth, coalesce(t.symbol, '[unknown]') || ';' || p.names
  FROM path p JOIN stacks t ON t.run = p.run AND t.id = p.parent)
SELECT l.label, l.event, l.state, l.samples, l.weight, p.names AS stack
FROM leaves l JOIN path p ON p.run = l.run AND p.leaf = l.stack AND p.parent IS NULL
ORDER BY l.run, l.weight DESC, stack)"},

    {"samples-by-thread", "Samples and weight of every thread, and when", R"(
WITH names AS (SELECT run, pid, max_by(name, start_ns) AS process FROM processes GROUP BY ALL),
threads AS (SELECT run, pid, tid, max_by(name, start_ns) AS thread FROM threads GROUP BY ALL)
SELECT s.label, s.pid, n.process, s.tid, t.thread, s.event, s.state, count(*) AS samples, sum(s.weight) AS weight,
       round(100.0 * sum(s.weight) / sum(sum(s.weight)) OVER (PARTITION BY s.run, s.event, s.state), 2) AS percent,
       round((min(s.time_ns) - any_value(r.start_ns)) / 1e9, 3) AS first_s,
       round((max(s.time_ns) - any_value(r.start_ns)) / 1e9, 3) AS last_s
FROM samples s LEFT JOIN runs r USING (run) LEFT JOIN names n USING (run, pid) LEFT JOIN threads t USING (run, pid, tid)
WHERE s.tid IS NOT NULL
GROUP BY s.run, s.label, s.pid, n.process, s.tid, t.thread, s.event, s.state ORDER BY s.run, samples DESC, s.tid)"},

    {"node-sums", "Running sums per symbol, module and program", R"(
SELECT label, event, unit, symbol, module, program, sum(sum) AS sum,
       round(100.0 * sum(sum) / nullif(sum(sum(sum)) OVER (PARTITION BY run, event), 0), 2) AS percent
FROM node_sums GROUP BY run, label, event, unit, symbol, module, program ORDER BY run, event, sum DESC, symbol LIMIT 200)"},

    {"events", "Counted events: how often, how much of the time, or why not", R"(
SELECT label, source, name, unit, count, round(count / nullif((r.end_ns - r.start_ns) / 1e9, 0), 1) AS per_s,
       round(100.0 * running_ns / nullif(enabled_ns, 0), 1) AS counted_percent, why
FROM events e LEFT JOIN (SELECT run, start_ns, end_ns FROM runs) r USING (run) ORDER BY run, source, name)",
     "no events were counted: fathom run --probe counters -- COMMAND"},

    {"event-threads", "Counted events of every thread, and of the process it is in", R"(
WITH names AS (SELECT run, pid, max_by(name, start_ns) AS process FROM processes GROUP BY ALL)
SELECT c.label, c.name AS event, c.pid, n.process, c.tid, c.count,
       sum(c.count) OVER (PARTITION BY c.run, c.name, c.pid) AS of_process
FROM counters c LEFT JOIN names n USING (run, pid) WHERE c.layer IN ('cpu-thread', 'simulated')
ORDER BY c.run, event, of_process DESC, c.pid, c.count DESC LIMIT 500)",
     "threads are counted apart with: fathom run --per-thread -- COMMAND"},

    {"probes", "What each probe saw, lost and cost", R"(
SELECT label, probe, rung, seen, dropped, round(100.0 * dropped / nullif(seen + dropped, 0), 3) AS dropped_percent,
       round(cpu_ns / 1e6, 3) AS cpu_ms, memory_bytes, settings, why
FROM probes ORDER BY run, probe)"},
};

}  // namespace

std::span<const NamedQuery> named_queries() { return kQueries; }

Result<std::unique_ptr<SqlSession>> open_query_session(std::vector<Recording> recordings) {
  TRY_ASSIGN(auto session, SqlSession::open(std::move(recordings)));
  TRY(session->query(io_class_sql()));
  return session;
}

const NamedQuery* find_named_query(std::string_view name) {
  for (const NamedQuery& query : kQueries) {
    if (name == query.name) return &query;
  }
  return nullptr;
}

}  // namespace fathom
