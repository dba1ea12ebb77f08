#include "report/text_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/table.h"
#include "report/words.h"

namespace nephila::report {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kNameWidth = 38;

std::string Number(uint64_t number) {
  return Grouped(number, Grouping::kSpace);
}

// Of what comes from the web, at most so many bytes.
std::string Shown(std::string_view text, size_t width) {
  std::string shown = EscapeForTerminal(text);
  if (shown.size() > width) {
    shown.resize(width - 3);
    shown += "...";
  }
  return shown;
}

// "200 81.2 %, 404 10.1 %".
std::string Shares(const std::vector<NamedCount>& list, uint64_t of,
                   size_t most) {
  std::string text;
  for (const NamedCount& one : list) {
    if (most-- == 0) break;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", Shown(one.name, kNameWidth),
                        Percent(one.count, of));
  }
  return text;
}

void AddCrawled(const Figures& figures, std::string* out) {
  const crawl::CrawlStatus& status = *figures.status;
  const double seconds =
      figures.elapsed_s > 0 ? figures.elapsed_s : Seconds(status.elapsed);
  *out += fmt::format("Crawled  {} pages, {}, in {}: {} pages/s\n",
                      Number(status.pages), HumanSize(status.bytes),
                      HumanDuration(std::chrono::milliseconds(
                          static_cast<int64_t>(seconds * 1000))),
                      Rounded(figures.PagesPerSecond(), Grouping::kSpace));
  *out += fmt::format("         {} hosts in {} domains; {} robots.txt\n",
                      Number(figures.hosts), Number(figures.domains),
                      Number(status.robots));
  *out += fmt::format("         {}\n", EndText(figures));
  if (!figures.statuses.empty()) {
    *out += fmt::format("         status {}\n",
                        Shares(figures.statuses, figures.pages, 4));
  }
  if (!figures.media_types.empty()) {
    const auto ok =
        std::ranges::find(figures.statuses, "200", &NamedCount::name);
    *out +=
        fmt::format("         type {}\n",
                    Shares(figures.media_types,
                           ok == figures.statuses.end() ? 0 : ok->count, 2));
  }
  const uint64_t links = figures.LinksFound();
  *out +=
      fmt::format("Found    {} links, {} different URLs; {} wait\n",
                  Number(links), Number(status.seen), Number(status.waiting));
}

// What stages dropped, but for what is known already.
void AddRefused(const Figures& figures, size_t most, std::string* out) {
  std::vector<std::pair<uint64_t, std::string>> reasons;
  for (const crawl::CrawlStatus::Stage& stage : figures.status->stages) {
    if (stage.name == "reputation") continue;
    for (const auto& [reason, count] : stage.dropped) {
      if (reason == "duplicate" || reason == "repeated" || count == 0) continue;
      reasons.emplace_back(count, ReasonText(stage.name, reason));
    }
  }
  if (reasons.empty()) return;
  std::ranges::stable_sort(reasons, std::ranges::greater(),
                           &std::pair<uint64_t, std::string>::first);
  bool is_first = true;
  for (const auto& [count, text] : reasons) {
    if (most-- == 0) break;
    *out += fmt::format("{} {:>11}  {}\n", is_first ? "Refused " : "        ",
                        Number(count), Shown(text, 56));
    is_first = false;
  }
}

void AddDomains(const Figures& figures, size_t most, std::string* out) {
  const bool by_degree = figures.has_budgets && !figures.top_by_degree.empty();
  const auto& rows = by_degree ? figures.top_by_degree : figures.top_by_pages;
  if (rows.empty()) return;
  *out += by_degree ? fmt::format("\n{:<40} {:>10} {:>8} {:>10}\n",
                                  "Top domains by domains that link to them",
                                  "in-degree", "budget", "pages")
                    : fmt::format("\n{:<48} {:>10} {:>10}\n",
                                  "Top domains by pages", "pages", "bytes");
  size_t rank = 0;
  for (const DomainRow& row : rows) {
    if (rank++ >= most) break;
    const std::string name = row.name.empty()
                                 ? "(not fetched, its name is not known)"
                                 : Shown(row.name, kNameWidth - 4);
    *out += by_degree ? fmt::format("{:>3} {:<36} {:>10} {:>8} {:>10}\n", rank,
                                    name, Number(row.in_degree),
                                    Number(row.budget), Number(row.pages))
                      : fmt::format("{:>3} {:<44} {:>10} {:>10}\n", rank, name,
                                    Number(row.pages), HumanSize(row.bytes));
  }
}

void AddFiles(const Figures& figures, const TextOptions& options,
              std::string* out) {
  const std::string dir = EscapeForTerminal(figures.dir);
  *out += "\nFiles\n";
  for (const auto& [name, what] : figures.files) {
    *out += fmt::format("  {}/{:<18} {}\n", dir, name, what);
  }
  *out += fmt::format(
      "\nLook further\n"
      "  {0} report --job {1}    # a page with plots\n"
      "  {0} status --job {1}\n"
      "  {0} check --job {1}     # every checksum\n"
      "  {0} warc ls {1}/archive/*.warc.gz | head\n",
      options.program, dir);
}

}  // namespace

std::string TextReport(const Figures& figures, const TextOptions& options) {
  std::string text;
  if (figures.status) {
    AddCrawled(figures, &text);
    AddRefused(figures, options.reasons, &text);
  }
  AddDomains(figures, options.domains, &text);
  for (const std::string& note : figures.notes) {
    text += config::Wrap("note: " + EscapeForTerminal(note), "", kWidth);
  }
  for (const std::string& damage : figures.damages) {
    text += config::Wrap("damage: " + EscapeForTerminal(damage), "", kWidth);
  }
  if (options.files) AddFiles(figures, options, &text);
  return text;
}

}  // namespace nephila::report
