#include "cli/report_cmd.h"

#include <fmt/core.h>

#include <optional>
#include <ostream>
#include <utility>

#include "base/text.h"
#include "cli/file_limit.h"
#include "cli/job_files.h"
#include "cli/temporary_folder.h"
#include "job/job_folder.h"
#include "report/html_report.h"
#include "report/job_reader.h"
#include "report/json_report.h"
#include "report/text_report.h"

namespace nephila::cli {
namespace {

// Of crawl.log, about three seconds: who stops a larger crawl asks for the
// report when there is time.
constexpr uint64_t kMostLogAtEnd = uint64_t{256} << 20;
constexpr uint64_t kMemoryAtEnd = uint64_t{32} << 20;
constexpr std::string_view kStandardOutput = "-";

Result<report::Figures> Read(FileSystem& fs, const std::string& job,
                             const config::Settings& settings,
                             const std::string& scratch, uint64_t memory) {
  NEPHILA_TRY(const auto folder, TemporaryFolder::Make(scratch));
  report::ReportOptions options;
  options.dir = job;
  options.settings = settings;
  options.scratch = folder->path();
  // For hosts and for domains.
  options.memory_bytes = memory / 2;
  return report::ReadFigures(fs, options);
}

std::string PathOf(const std::string& job) {
  return fmt::format("{}/{}", job, kReportName);
}

}  // namespace

Status PrepareReport(const ReportCmdOptions& options, SetupOptions* setup) {
  setup->profile = config::Profile::kSite;
  const auto fs = MakeGuardedFileSystem(options.job);
  // One that is damaged is for the report to name.
  auto file = job::JobFolder::Read(*fs, options.job);
  if (!file.has_value()) return {};
  setup->profile = file->profile;
  setup->adjust = [job = *std::move(file)](config::Settings* settings) {
    ApplyFixed(job, settings);
  };
  return {};
}

Status RunReport(const Setup& setup, const ReportCmdOptions& options,
                 std::ostream& out, bool* is_unsound) {
  if (options.json && options.text) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            "report: --json or --text, not both"});
  }
  const auto fs = OpenJobFiles(options.job, setup.settings);
  // Each run of a sort is a file.
  RaiseFileLimit();
  NEPHILA_TRY(const uint64_t memory, ParseSize(options.memory));
  NEPHILA_TRY(const report::Figures figures,
              Read(*fs, options.job, setup.settings, options.scratch, memory));
  const bool is_html = !options.json && !options.text;
  std::string text = options.json   ? JsonReport(figures) + "\n"
                     : options.text ? TextReport(figures)
                                    : HtmlReport(figures);
  std::string output = options.output;
  if (output.empty() && is_html) output = PathOf(options.job);
  if (output.empty() || output == kStandardOutput) {
    out << text;
  } else {
    // A file that the user names gets his own umask.
    std::optional<JobUmask> mask;
    if (options.output.empty()) mask.emplace(options.job);
    NEPHILA_RETURN_IF_ERROR(PublishFile(*fs, output, text));
    out << "report: " << EscapeForTerminal(output) << '\n';
  }
  if (figures.damages.empty()) return {};
  *is_unsound = true;
  return Unexpected(Error{
      ErrorCode::kCorruption,
      fmt::format("{}: {} damages; the report is without them: {}", options.job,
                  figures.damages.size(), figures.damages.front())});
}

void ReportAtEnd(FileSystem& fs, const std::string& job,
                 const config::Settings& settings, std::ostream& out,
                 std::ostream& err) {
  if (!settings.crawl.report) return;
  const std::string shown = EscapeForTerminal(job);
  const auto make = [&]() -> Result<bool> {
    NEPHILA_TRY(const uint64_t bytes, report::LogBytes(fs, job));
    if (bytes > kMostLogAtEnd) return false;
    NEPHILA_TRY(const report::Figures figures,
                Read(fs, job, settings, /*scratch=*/job, kMemoryAtEnd));
    NEPHILA_RETURN_IF_ERROR(PublishFile(fs, PathOf(job), HtmlReport(figures)));
    return true;
  };
  const auto made = make();
  if (!made.has_value()) {
    // The crawl is whole without it.
    err << "nephila: no report: " << EscapeForTerminal(made.error().message)
        << '\n';
  } else if (*made) {
    out << "report: " << EscapeForTerminal(PathOf(job)) << '\n';
  } else {
    out << "report: this crawl is large; `nephila report --job " << shown
        << "` makes one\n";
  }
}

}  // namespace nephila::cli
