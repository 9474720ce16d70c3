// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "hub/http.h"
#include "hub/route_list.h"

namespace fathom {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kLines = "application/x-ndjson application/json text/plain";
constexpr const char* kFrames = "application/x-fathom-frames";

// One line a route.
constexpr std::array kRoutes = {
    Route{"GET", "/", nullptr, Route::kOpen, show_start},
    Route{"GET", "/healthz", nullptr, Route::kOpen, show_health},
    Route{"GET", "/readyz", nullptr, Route::kOpen | Route::kBlocks, show_ready},
    Route{"GET", "/metrics", nullptr, Route::kPlain, show_metrics},
    Route{"GET", "/api/v1/jobs", nullptr, Route::kBlocks, list_jobs},
    Route{"POST", "/api/v1/jobs", kJson, Route::kBlocks, create_job},
    Route{"GET", "/api/v1/jobs/{job}", nullptr, Route::kBlocks, show_job},
    Route{"DELETE", "/api/v1/jobs/{job}", nullptr, Route::kBlocks, remove_job},
    Route{"GET", "/api/v1/jobs/{job}/runs", nullptr, Route::kBlocks, list_runs},
    Route{"GET", "/api/v1/jobs/{job}/runs/{run}", nullptr, Route::kBlocks, show_run},
    Route{"GET", "/api/v1/jobs/{job}/gauges", nullptr, Route::kBlocks, list_gauges},
    Route{"GET", "/api/v1/jobs/{job}/marks", nullptr, Route::kBlocks, list_marks},
    Route{"GET", "/api/v1/jobs/{job}/profile", nullptr, Route::kBlocks, dump_profile},
    Route{"GET", "/api/v1/jobs/{job}/rows", nullptr, Route::kBlocks, dump_rows},
    Route{"DELETE", "/api/v1/jobs/{job}/rows", nullptr, Route::kBlocks, clear_rows},
    Route{"POST", "/api/v1/jobs/{job}/batches", kFrames, Route::kParses, take_batches},
    Route{"POST", "/api/v1/jobs/{job}/lines", kLines, Route::kParses, take_lines},
    Route{"GET", "/api/v1/jobs/{job}/events", nullptr, Route::kBlocks, watch_job},
    Route{"GET", "/api/v1/events", nullptr, Route::kPlain, watch_all},
    Route{"POST", "/api/v1/commands", kLines, Route::kBlocks, take_commands},
};

}  // namespace

std::span<const Route> all_routes() { return kRoutes; }

}  // namespace fathom
