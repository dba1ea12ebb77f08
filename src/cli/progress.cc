#include "cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/clock.h"
#include "base/text.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string Bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace

Progress::Progress(bool quiet, std::ostream& err)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), err_(err) {}

std::string ProgressLine(const crawl::CrawlStatus& status, double rate) {
  std::string line = fmt::format(
      "{} pages, {:.1f}/s, {}; {} failed; {} in flight, {} ready, {} waiting",
      status.pages, rate, Bytes(static_cast<double>(status.bytes)),
      status.failed, status.in_flight, status.ready, status.waiting);
  if (!status.disk.empty()) line.append("; ").append(status.disk);
  return line;
}

void Progress::ShowDisk(const crawl::CrawlStatus& status) {
  const bool waits = !status.disk.empty();
  if (waits == disk_waits_ || (status.end && !waits)) return;
  disk_waits_ = waits;
  End();
  err_ << "nephila: "
       << (waits ? status.disk : "disk: there is room again; going on") << '\n'
       << std::flush;
}

void Progress::Show(const crawl::CrawlStatus& status) {
  ShowDisk(status);
  if (quiet_ || (status.elapsed < next_ && !status.end)) return;
  if (before_.count() == 0) pages_before_ = status.pages_before;
  const auto span = status.elapsed - before_;
  if (span >= seconds(1) || status.end) {
    const double now =
        span.count() > 0
            ? static_cast<double>(status.pages - pages_before_) / Seconds(span)
            : 0;
    // Of the last seconds, without jumps.
    rate_ = before_.count() == 0 ? now : 0.7 * rate_ + 0.3 * now;
    before_ = status.elapsed;
    pages_before_ = status.pages;
  }
  const std::string line = ProgressLine(status, rate_);
  if (terminal_) {
    // To the end of the line, which may have been longer.
    err_ << '\r' << line << "\033[K" << std::flush;
    open_ = true;
    next_ = status.elapsed + milliseconds(250);
  } else {
    if (status.elapsed < seconds(1) && !status.end) return;
    err_ << line << '\n' << std::flush;
    next_ = status.elapsed + seconds(10);
  }
}

void Progress::End() {
  if (open_) err_ << '\n' << std::flush;
  open_ = false;
}

void PrintSummary(const crawl::CrawlStatus& status, const std::string& job,
                  const std::vector<std::string>& folders, std::ostream& out) {
  out << fmt::format(
      "{}: {} pages ({} in this run), {}, in {:.1f} s: {:.1f} pages/s\n",
      status.end ? crawl::CrawlEndName(*status.end) : "running", status.pages,
      status.pages - status.pages_before,
      Bytes(static_cast<double>(status.bytes)), Seconds(status.elapsed),
      status.rate());
  out << fmt::format(
      "{} URLs failed, {} retries, {} robots.txt; {} URLs wait\n",
      status.failed, status.retries, status.robots, status.waiting);
  for (const crawl::CrawlStatus::Stage& stage : status.stages) {
    out << fmt::format("  {:<11} in {:>9}  made {:>9}  out {:>9}  held {:>7}",
                       stage.name, stage.totals.in, stage.totals.made,
                       stage.totals.out, stage.totals.held);
    for (const auto& [reason, count] : stage.dropped) {
      out << fmt::format("  {} {}", reason, count);
    }
    out << '\n';
  }
  for (const std::string& folder : folders) {
    const std::string path =
        folder.starts_with('/') ? folder : job + "/" + folder;
    out << fmt::format("archive: {}\n", EscapeForTerminal(path));
  }
}

Status PrintStatus(std::string_view json, std::ostream& out) {
  const Json status = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!status.is_object()) {
    return Unexpected(
        Error{ErrorCode::kCorruption, "the counters of the job are damaged"});
  }
  for (const auto& [name, value] : status.items()) {
    if (value.is_object()) continue;
    out << fmt::format("{:<12} {}\n", name, value.dump());
  }
  for (const char* group : {"outcomes", "statuses"}) {
    if (!status.contains(group)) continue;
    for (const auto& [name, value] : status[group].items()) {
      out << fmt::format("  {:<22} {}\n", name, value.dump());
    }
  }
  if (!status.contains("stages")) return {};
  for (const auto& [name, stage] : status["stages"].items()) {
    out << fmt::format("  {:<11} {}\n", name, stage.dump());
  }
  return {};
}

}  // namespace nephila::cli
