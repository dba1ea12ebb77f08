#include "cli/progress.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/clock.h"
#include "base/text.h"

namespace nephila::cli {
namespace {

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

std::string Length(seconds length) {
  const int64_t count = length.count();
  if (count >= 86400) {
    return fmt::format("{}d {}h", count / 86400, count % 86400 / 3600);
  }
  if (count >= 3600) {
    return fmt::format("{}h {}m", count / 3600, count % 3600 / 60);
  }
  if (count >= 60) return fmt::format("{}m {}s", count / 60, count % 60);
  return fmt::format("{}s", count);
}

// Of standard error, if that is a terminal.
size_t TerminalWidth() {
  constexpr size_t kUsual = 80;
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) {
    return kUsual;
  }
  return size.ws_col;
}

}  // namespace

Progress::Progress(bool quiet, std::ostream& err)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), err_(err) {}

std::optional<seconds> TimeLeft(const crawl::CrawlStatus& status, double rate,
                                const config::CrawlSettings& limits) {
  constexpr double kNever = 1e9;  // thirty years: no guess worth telling
  double left = kNever;
  const auto at_most = [&left](double length) {
    left = std::min(left, std::max(0.0, std::ceil(length)));
  };
  if (limits.max_time.count() > 0) {
    at_most(Seconds(limits.max_time - status.elapsed));
  }
  if (limits.max_pages > 0 && rate > 0) {
    at_most((static_cast<double>(limits.max_pages) -
             static_cast<double>(status.pages)) /
            rate);
  }
  if (limits.max_bytes > 0 && rate > 0 && status.pages > 0) {
    const double a_page =
        static_cast<double>(status.bytes) / static_cast<double>(status.pages);
    const double bytes_left = static_cast<double>(limits.max_bytes) -
                              static_cast<double>(status.bytes);
    if (a_page > 0) at_most(bytes_left / (a_page * rate));
  }
  if (left >= kNever) return std::nullopt;
  return seconds(static_cast<int64_t>(left));
}

// What matters most comes first: a narrow terminal shows no more.
std::string ProgressLine(const crawl::CrawlStatus& status, double rate,
                         std::optional<seconds> left) {
  std::string line = fmt::format("{} pages, {:.1f}/s, {}", status.pages, rate,
                                 Bytes(static_cast<double>(status.bytes)));
  if (left) line += fmt::format(", at most {} left", Length(*left));
  if (!status.disk.empty()) line.append("; ").append(status.disk);
  return line + fmt::format("; {} failed; {} in flight, {} ready, {} waiting",
                            status.failed, status.in_flight, status.ready,
                            status.waiting);
}

void Progress::ShowDisk(const crawl::CrawlStatus& status) {
  const bool waits = !status.disk.empty();
  if (waits == disk_waits_ || (status.end && !waits)) return;
  disk_waits_ = waits;
  Say(waits ? status.disk : "disk: there is room again; going on");
}

void Progress::ShowSeeds(uint64_t seeds) {
  constexpr uint64_t kMillion = 1'000'000;
  if (quiet_ || seeds == 0 || seeds % kMillion != 0) return;
  Say(fmt::format("{} million seeds taken", seeds / kMillion));
}

void Progress::Say(const std::string& line) {
  End();
  err_ << "nephila: " << line << '\n' << std::flush;
}

void Progress::Show(const crawl::CrawlStatus& status,
                    const config::CrawlSettings& limits) {
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
  const auto left = status.end ? std::nullopt : TimeLeft(status, rate_, limits);
  const std::string line = ProgressLine(status, rate_, left);
  if (terminal_) {
    // To the end of the line, which may have been longer; one that is wider
    // than the terminal could not be written over.
    err_ << '\r' << line.substr(0, TerminalWidth() - 1) << "\033[K"
         << std::flush;
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
        folder.starts_with('/') ? folder : fmt::format("{}/{}", job, folder);
    out << fmt::format("archive: {}\n", EscapeForTerminal(path));
  }
}

}  // namespace nephila::cli
