// nephila report: a page about a job, running or stopped (report/).
#pragma once

#include <iosfwd>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "cli/setup.h"
#include "config/settings.h"

namespace nephila::cli {

// In the job's folder, unless the user names another file.
inline constexpr std::string_view kReportName = "report.html";

struct ReportCmdOptions {
  std::string job;
  std::string output;  // "": report.html of the job, or the standard output
  bool json = false;
  bool text = false;
  std::string memory = "128MiB";
  std::string scratch;  // "": the system's folder for such
};

// The profile and what is fixed of the job, if it can be read.
Status PrepareReport(const ReportCmdOptions& options, SetupOptions* setup);

// *is_unsound if something of the job is damaged: the report is there, without
// that, and the error says what it was.
Status RunReport(const Setup& setup, const ReportCmdOptions& options,
                 std::ostream& out, bool* is_unsound);

// At the end of a crawl, if `crawl.report` asks for it and the job is small
// enough that nobody waits for it: says in a line on `out` where the page is,
// or why there is none.
void ReportAtEnd(FileSystem& fs, const std::string& job,
                 const config::Settings& settings, std::ostream& out,
                 std::ostream& err);

}  // namespace nephila::cli
