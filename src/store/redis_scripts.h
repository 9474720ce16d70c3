// SPDX-License-Identifier: Apache-2.0
// What runs inside Redis: each script is one transaction. Lua has no rollback and rounds beyond
// 2^53, so everything is checked before the first write, values stay texts, and where an addition
// is refused all those before it are taken back. Constants.
#pragma once

namespace fathom {

// KEYS: jobs, and of the job: runs, hosts, first, last, units, rows, gauges, marks; the stream.
// ARGV: job, prefix of the sums, time, event, then five counted lists:
//   runs (run, host, from, to), units (event, unit), rows (json), gauges (field, json),
//   marks (json), sums (bucket, field, delta).
// Returns an error of the engine's, or {"applied"} | {"nojob"} | {"refused", field, why} |
// {"conflict", run, stands, …}.
inline constexpr const char* kApplyScript = R"lua(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return {'nojob'} end
local at = 5
local runs = at + 1
local run_count = tonumber(ARGV[at])
local conflict = {'conflict'}
for i = 0, run_count - 1 do
  local run = ARGV[runs + i * 4]
  local stands = redis.call('HGET', KEYS[2], run) or '0'
  if stands ~= ARGV[runs + i * 4 + 2] then
    conflict[#conflict + 1] = run
    conflict[#conflict + 1] = stands
  end
end
if #conflict > 1 then return conflict end
at = runs + run_count * 4
local units, unit_count = at + 1, tonumber(ARGV[at])
at = units + unit_count * 2
local rows, row_count = at + 1, tonumber(ARGV[at])
at = rows + row_count
local gauges, gauge_count = at + 1, tonumber(ARGV[at])
at = gauges + gauge_count * 2
local marks, mark_count = at + 1, tonumber(ARGV[at])
at = marks + mark_count
local sums, sum_count = at + 1, tonumber(ARGV[at])
for i = 0, sum_count - 1 do
  local p = sums + i * 3
  local added = redis.pcall('HINCRBY', ARGV[2] .. ARGV[p], ARGV[p + 1], ARGV[p + 2])
  if type(added) == 'table' and added.err then
    for j = i - 1, 0, -1 do
      local q = sums + j * 3
      local delta = ARGV[q + 2]
      if string.sub(delta, 1, 1) == '-' then delta = string.sub(delta, 2) else delta = '-' .. delta end
      redis.call('HINCRBY', ARGV[2] .. ARGV[q], ARGV[q + 1], delta)
    end
    if string.find(added.err, 'overflow') then return {'refused', ARGV[p + 1], added.err} end
    return added
  end
end
for i = 0, unit_count - 1 do redis.call('HSETNX', KEYS[6], ARGV[units + i * 2], ARGV[units + i * 2 + 1]) end
for i = 0, row_count - 1 do redis.call('RPUSH', KEYS[7], ARGV[rows + i]) end
for i = 0, gauge_count - 1 do redis.call('HSET', KEYS[8], ARGV[gauges + i * 2], ARGV[gauges + i * 2 + 1]) end
for i = 0, mark_count - 1 do redis.call('RPUSH', KEYS[9], ARGV[marks + i]) end
if mark_count > 0 then redis.call('LTRIM', KEYS[9], -10000, -1) end
for i = 0, run_count - 1 do
  local p = runs + i * 4
  redis.call('HSET', KEYS[2], ARGV[p], ARGV[p + 3])
  redis.call('HSETNX', KEYS[3], ARGV[p], ARGV[p + 1])
  redis.call('HSETNX', KEYS[4], ARGV[p], ARGV[3])
  redis.call('HSET', KEYS[5], ARGV[p], ARGV[3])
end
if ARGV[4] ~= '' then
  redis.call('XADD', KEYS[10], 'MAXLEN', '~', '1000', '*', 'job', ARGV[1], 'event', ARGV[4])
end
return {'applied'}
)lua";

// KEYS: jobs. ARGV: id or 0, first, last, json. Returns the id; 0: it exists or none is free.
inline constexpr const char* kCreateScript = R"lua(
local id = tonumber(ARGV[1])
if id ~= 0 then
  if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[4]) == 1 then return id end
  return 0
end
for free = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  if redis.call('HSETNX', KEYS[1], tostring(free), ARGV[4]) == 1 then return free end
end
return 0
)lua";

// KEYS: jobs, the stream, then all keys of the job. ARGV: id, event. Returns whether there was such
// a job.
inline constexpr const char* kRemoveScript = R"lua(
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
for i = 3, #KEYS do redis.call('UNLINK', KEYS[i]) end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', '1000', '*', 'job', ARGV[1], 'event', ARGV[2])
return 1
)lua";

}  // namespace fathom
