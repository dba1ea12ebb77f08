// GoldenJob: a job folder of an earlier build of nephila, kept in
// testdata/golden_job, that every later build must resume. For tests only.
//
//   In: a folder of testdata/golden_job   Out: the job on a MemoryFileSystem,
//   the log of the web that it crawled, and the time when the crawl was killed
//   Threads: any.
//
// The webs that the jobs were crawled from are GoldenBroadPlan and
// GoldenSitePlan. They belong to the stored folders: an answer or a setting
// that changes here changes what the folders mean. Add pages to a new plan and
// store a new folder instead (testdata/golden_job/README.md).
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory_file_system.h"
#include "base/result.h"
#include "crawl/crawl_testing.h"
#include "crawl/twin_plan.h"

namespace nephila::crawl {

// Profile `broad`: budgets, caps, parked hosts, robots.txt that are redirected,
// a blocked host, a quarantined page, failures and retries.
TwinPlan GoldenBroadPlan();
// Profile `site`: the redirect of a seed widens the scope.
TwinPlan GoldenSitePlan();

struct GoldenJob {
  MonoTime now{};                // when the process was killed
  std::vector<FakeContact> log;  // of the web, up to then
};

// Writes the folder "job" of `fs`, and `golden`, to the folder `dir` of `to`.
// Trailing zeros of files are not stored.
Status SaveGolden(FileSystem& fs, const GoldenJob& golden, FileSystem& to,
                  const std::string& dir);
// The reverse. Everything is durable in `fs`.
Result<GoldenJob> LoadGolden(FileSystem& from, const std::string& dir,
                             FileSystem& fs);

}  // namespace nephila::crawl
