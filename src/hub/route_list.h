// SPDX-License-Identifier: Apache-2.0
// The handlers behind the table in routes.cpp. Each answers exactly once. Any thread.
#pragma once

#include "hub/http.h"
#include "hub/hub.h"

namespace fathom {

// route_jobs.cpp
void list_jobs(Hub& hub, const HttpCall& call, const Answer& answer);
void create_job(Hub& hub, const HttpCall& call, const Answer& answer);
void show_job(Hub& hub, const HttpCall& call, const Answer& answer);
void remove_job(Hub& hub, const HttpCall& call, const Answer& answer);
void list_runs(Hub& hub, const HttpCall& call, const Answer& answer);
void show_run(Hub& hub, const HttpCall& call, const Answer& answer);
void list_gauges(Hub& hub, const HttpCall& call, const Answer& answer);
void list_marks(Hub& hub, const HttpCall& call, const Answer& answer);

// route_dumps.cpp
void dump_profile(Hub& hub, const HttpCall& call, const Answer& answer);
void dump_rows(Hub& hub, const HttpCall& call, const Answer& answer);
void clear_rows(Hub& hub, const HttpCall& call, const Answer& answer);

// route_ingest.cpp
void take_batches(Hub& hub, const HttpCall& call, const Answer& answer);
void take_lines(Hub& hub, const HttpCall& call, const Answer& answer);

// Whether take_batches or take_lines needs little time for this body.
bool is_short_body(const HttpCall& call);

// route_commands.cpp
void take_commands(Hub& hub, const HttpCall& call, const Answer& answer);

// route_service.cpp
void show_health(Hub& hub, const HttpCall& call, const Answer& answer);
void show_ready(Hub& hub, const HttpCall& call, const Answer& answer);
void show_metrics(Hub& hub, const HttpCall& call, const Answer& answer);
void watch_job(Hub& hub, const HttpCall& call, const Answer& answer);
void watch_all(Hub& hub, const HttpCall& call, const Answer& answer);
void show_start(Hub& hub, const HttpCall& call, const Answer& answer);

// Shared.
Result<int64_t> job_in(const HttpCall& call);
std::string job_json(const Job& job);
// The seed's lines of one page: {"NODE":{"execname":"…","cache-misses":17}}.
std::string seed_lines(const SumPage& page);
// Dumps, page by page; an empty text is the end. The hub must outlive them. They may block.
enum class ProfileForm { kLines, kCsv };
std::function<Result<std::string>()> profile_pages(Hub& hub, int64_t id, ProfileForm form);
std::function<Result<std::string>()> row_pages(Hub& hub, int64_t id);

}  // namespace fathom
