#include "report/html_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/html_style.h"
#include "report/html_text.h"
#include "report/over_time.h"
#include "report/plot.h"
#include "report/words.h"

namespace nephila::report {
namespace {

constexpr size_t kMostName = 80;
constexpr size_t kRows = 12;  // of statuses and media types

std::string Number(uint64_t number) {
  return Grouped(number, Grouping::kThinSpace);
}

// A number and its unit stay on one line.
std::string Unbroken(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == ' ') {
      html += "\xC2\xA0";
    } else {
      html += c;
    }
  }
  return html;
}

std::string Size(uint64_t bytes) { return Unbroken(HumanSize(bytes)); }

std::string Length(double seconds) {
  return Unbroken(HumanDuration(
      std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000))));
}

// A table, row by row. A column's class is for its head too.
class Table {
 public:
  struct Column {
    std::string_view head;
    std::string_view css;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    html_ = "<div class=\"scroll\"><table><thead><tr>";
    for (const Column& column : columns_) {
      html_ += fmt::format("<th{}>{}</th>", Class(column), column.head);
    }
    html_ += "</tr></thead><tbody>\n";
  }
  // Cells are HTML.
  void Row(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {
      html_ += fmt::format("<td{}>{}</td>", Class(columns_.at(i)), cells[i]);
    }
    html_ += "</tr>\n";
  }
  std::string Take() { return std::move(html_) + "</tbody></table></div>\n"; }

 private:
  static std::string Class(const Column& column) {
    if (column.css.empty()) return "";
    return fmt::format(" class=\"{}\"", column.css);
  }

  const std::vector<Column> columns_;
  std::string html_;
};

std::string Bar(uint64_t count, uint64_t most) {
  const double width =
      most == 0 ? 0
                : 100 * static_cast<double>(count) / static_cast<double>(most);
  return fmt::format("<i style=\"width:{:.1f}%\"></i>", width);
}

std::string DomainName(const DomainRow& row) {
  if (row.name.empty()) {
    return "<span class=\"soft\">not fetched; its name is not known</span>";
  }
  return HtmlText(row.name, kMostName);
}

uint64_t CountOf(const std::vector<NamedCount>& list) {
  uint64_t count = 0;
  for (const NamedCount& one : list) count += one.count;
  return count;
}

// A list with bars: its first rows, and the rest in one.
std::string BarTable(std::string_view head, std::string_view count_head,
                     const std::vector<NamedCount>& list, bool with_bytes,
                     const std::function<std::string(const NamedCount&)>& name,
                     size_t rows = kRows) {
  std::vector<Table::Column> columns = {
      {head, "name"}, {count_head, "n"}, {"share", "n"}};
  if (with_bytes) columns.push_back({"bytes", "n wide"});
  columns.push_back({"", "bar"});
  Table table(std::move(columns));
  const uint64_t sum = CountOf(list);
  uint64_t most = 0;
  for (const NamedCount& one : list) most = std::max(most, one.count);
  const auto add = [&](const std::string& shown, uint64_t count,
                       uint64_t bytes) {
    std::vector<std::string> cells = {shown, Number(count),
                                      Percent(count, sum)};
    if (with_bytes) cells.push_back(Size(bytes));
    cells.push_back(Bar(count, most));
    table.Row(cells);
  };
  NamedCount rest;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i < rows || list.size() == rows + 1) {
      add(name(list[i]), list[i].count, list[i].bytes);
    } else {
      rest.count += list[i].count;
      rest.bytes += list[i].bytes;
    }
  }
  if (rest.count > 0) {
    add(fmt::format("{} others", Number(list.size() - rows)), rest.count,
        rest.bytes);
  }
  return table.Take();
}

class Page {
 public:
  explicit Page(const Figures& figures) : figures_(figures) {}

  std::string Write() {
    Head();
    Notes();
    KeyFigures();
    OverTime();
    Domains();
    Answers();
    Limits();
    Hosts();
    Accounts();
    Settings();
    Foot();
    return std::move(html_);
  }

 private:
  void Add(std::string_view html) { html_ += html; }
  void Section(std::string_view title) {
    html_ += fmt::format("<h2>{}</h2>\n", title);
  }
  void Paragraph(const std::string& html) { html_ += "<p>" + html + "</p>\n"; }
  void Soft(const std::string& html) {
    html_ += "<p class=\"soft\">" + html + "</p>\n";
  }

  void Head() {
    const std::string job = HtmlText(figures_.dir, kMostName);
    Add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"referrer\" content=\"no-referrer\"/>\n");
    html_ += fmt::format("<title>Crawl report: {}</title>\n<style>{}</style>\n",
                         job, kHtmlStyle);
    html_ += fmt::format(
        "</head>\n<body>\n<main>\n<header>\n<h1>Crawl report</h1>\n");
    std::string line = fmt::format("<code>{}</code>: a {} crawl", job,
                                   HtmlText(figures_.profile));
    if (figures_.seed_count > 0) {
      line += fmt::format(" from {} {}", Number(figures_.seed_count),
                          figures_.seed_count == 1 ? "seed" : "seeds");
    }
    if (figures_.began && figures_.last) {
      line += fmt::format(", {} to {}", DateTime(*figures_.began),
                          DateTime(*figures_.last));
    }
    line += fmt::format(". {} of crawling", Length(Elapsed()));
    if (figures_.runs > 1) {
      line += fmt::format(" in {} runs", Number(figures_.runs));
    }
    line += fmt::format("; {}.", HtmlText(EndText(figures_)));
    Paragraph(line);
    Seeds();
    Add("</header>\n");
  }

  void Seeds() {
    if (figures_.seeds.empty()) return;
    std::string list;
    for (const NamedCount& seed : figures_.seeds) {
      if (!list.empty()) list += ", ";
      list += "<code>" + HtmlText(seed.name, kMostName) + "</code>";
    }
    if (figures_.seed_count > figures_.seeds.size()) {
      list += fmt::format(" and {} more",
                          Number(figures_.seed_count - figures_.seeds.size()));
    }
    Soft((figures_.seed_count == 1 ? "Seed: " : "Seeds: ") + list);
  }

  void Notes() {
    if (figures_.notes.empty() && figures_.damages.empty()) return;
    Add("<ul class=\"notes\">\n");
    for (const std::string& damage : figures_.damages) {
      html_ += "<li class=\"bad\">Damaged: " + HtmlText(damage) + "</li>\n";
    }
    for (const std::string& note : figures_.notes) {
      html_ += "<li>" + HtmlText(note) + "</li>\n";
    }
    Add("</ul>\n");
  }

  double Elapsed() const {
    if (figures_.elapsed_s > 0 || !figures_.status) return figures_.elapsed_s;
    return Seconds(figures_.status->elapsed);
  }

  void KeyFigure(const std::string& value, const std::string& name) {
    html_ += fmt::format("<div><b>{}</b><span>{}</span></div>\n", value, name);
  }

  void KeyFigures() {
    Add("<div class=\"figures\">\n");
    const uint64_t pages =
        figures_.status ? figures_.status->pages : figures_.pages;
    KeyFigure(Number(pages), "pages");
    KeyFigure(Rounded(figures_.PagesPerSecond(), Grouping::kThinSpace),
              "pages a second");
    KeyFigure(
        Size(figures_.status ? figures_.status->bytes : figures_.page_bytes),
        "of bodies");
    KeyFigure(Number(figures_.hosts), "hosts");
    KeyFigure(Number(figures_.domains), "domains");
    if (figures_.status) {
      KeyFigure(Number(figures_.LinksFound()), "links found");
      KeyFigure(Number(figures_.status->seen), "different URLs");
      KeyFigure(Number(figures_.status->waiting), "URLs wait");
    }
    Add("</div>\n");
  }

  void OverTime() {
    Section("Over time");
    const std::string rate = PlotHtml(RatePlot(figures_));
    if (rate.empty()) {
      Paragraph("The history of this job has too few records to plot.");
      return;
    }
    if (figures_.runs > 1) {
      Soft(
          "Time is that of crawling; a dashed line is where a run ended and "
          "the next began.");
    }
    Add(rate);
    Add("<div class=\"pair\">\n");
    Add(PlotHtml(UniquePlot(figures_)));
    Add(PlotHtml(BytesPlot(figures_)));
    Add(PlotHtml(WaitingPlot(figures_)));
    Add(PlotHtml(MemoryPlot(figures_)));
    Add("</div>\n");
  }

  void Domains() {
    Section("Domains");
    if (figures_.has_budgets) {
      Paragraph(fmt::format(
          "{} domains are known, {} have a page. The in-degree of a domain is "
          "how many other domains link to it; from it follows the budget, the "
          "pages that are asked for in a round.",
          Number(figures_.known_domains), Number(figures_.domains)));
      Add(PlotHtml(DegreePlot(figures_)));
    }
    if (!figures_.top_by_degree.empty()) {
      Add("<h3>Top domains by in-degree</h3>\n");
      Table table({{"", "rank"},
                   {"domain", "name"},
                   {"in-degree", "n"},
                   {"budget", "n"},
                   {"pages", "n"},
                   {"bytes", "n wide"}});
      size_t rank = 0;
      for (const DomainRow& row : figures_.top_by_degree) {
        table.Row({std::to_string(++rank), DomainName(row),
                   Number(row.in_degree), Number(row.budget), Number(row.pages),
                   row.pages > 0 ? Size(row.bytes) : ""});
      }
      Add(table.Take());
    }
    if (figures_.top_by_pages.empty()) return;
    Add("<h3>Domains with the most pages</h3>\n");
    std::vector<Table::Column> columns = {
        {"", "rank"}, {"domain", "name"}, {"pages", "n"}, {"bytes", "n"}};
    if (figures_.has_budgets) columns.push_back({"in-degree", "n"});
    Table table(std::move(columns));
    size_t rank = 0;
    for (const DomainRow& row : figures_.top_by_pages) {
      std::vector<std::string> cells = {std::to_string(++rank), DomainName(row),
                                        Number(row.pages), Size(row.bytes)};
      if (figures_.has_budgets) cells.push_back(Number(row.in_degree));
      table.Row(cells);
    }
    Add(table.Take());
  }

  void Answers() {
    Section("What came back");
    if (figures_.attempts == 0) {
      Paragraph("Nothing was asked for yet.");
      return;
    }
    Paragraph(fmt::format(
        "{} requests for pages, {} of them answered. Half of the answers took "
        "less than {}, all but one in twenty less than {}; half of the pages "
        "have less than {}. {} pages were the same as one before and are "
        "archived as a reference to it.",
        Number(figures_.attempts), Number(figures_.pages),
        Unbroken(ShortTime(figures_.median_s)),
        Unbroken(ShortTime(figures_.p95_s)), Size(figures_.median_bytes),
        Number(figures_.revisits)));
    const auto plain = [](const NamedCount& one) {
      return HtmlText(one.name, kMostName);
    };
    const auto status = [](const NamedCount& one) {
      const std::string_view words = StatusText(one.name);
      if (words.empty()) return HtmlText(one.name, kMostName);
      return fmt::format("{} <span class=\"soft\">{}</span>",
                         HtmlText(one.name), words);
    };
    const auto outcome = [](const NamedCount& one) {
      return HtmlText(ReasonText("fetch", one.name), kMostName);
    };
    Add("<div class=\"pair\"><div>\n<h3>Status of answers</h3>\n");
    Add(BarTable("status", "pages", figures_.statuses, false, status));
    Add("</div><div>\n<h3>Without an answer</h3>\n");
    if (figures_.failures.empty()) {
      Soft("None.");
    } else {
      Add(BarTable("why", "attempts", figures_.failures, false, outcome));
    }
    Add("</div></div>\n<h3>Media types</h3>\n");
    Soft(
        fmt::format("As servers declare them, of pages with status 200: {} "
                    "different.",
                    Number(figures_.media_type_count)));
    Add(BarTable("media type", "pages", figures_.media_types, true, plain));
    Add("<div class=\"pair\"><div>\n<h3>robots.txt</h3>\n");
    Add(BarTable("answer", "files", figures_.robots, false,
                 [&](const NamedCount& one) {
                   return std::isdigit(one.name.front()) != 0 ? status(one)
                                                              : outcome(one);
                 }));
    Add("</div><div>\n<h3>Hops from a seed</h3>\n");
    Add(BarTable("hops", "pages", figures_.depths, false, plain, 16));
    Add("</div></div>\n");
  }

  void Limits() {
    Section("What hit a limit");
    Soft(
        "Bounds of this crawl and how often they were met: those met often "
        "may be too tight for this part of the web, or show a trap.");
    Table table({{"bound", "name"},
                 {"setting", "wide"},
                 {"value", "wide"},
                 {"met", "n"},
                 {"share", "n"},
                 {"of", ""}});
    bool is_any_met = false;
    std::string others;
    for (const LimitRow& row : figures_.limits) {
      // A list of names is no number.
      const bool is_list = row.limit.size() > 24;
      const std::string limit = is_list ? "" : HtmlText(row.limit);
      if (row.count == 0) {
        if (!others.empty()) others += ", ";
        others += HtmlText(row.what);
        if (!limit.empty()) others += " (" + limit + ")";
        continue;
      }
      is_any_met = true;
      table.Row({HtmlText(row.what),
                 row.setting.empty()
                     ? ""
                     : "<code>" + HtmlText(row.setting) + "</code>",
                 limit, Number(row.count), Percent(row.count, row.of),
                 HtmlText(row.unit)});
    }
    if (is_any_met) Add(table.Take());
    if (!others.empty()) Soft("Not met: " + others + ".");
  }

  void HostTable(std::string_view title, const std::vector<HostRow>& rows) {
    if (rows.empty()) return;
    html_ += fmt::format("<div><h3>{}</h3>\n", title);
    Table table({{"host", "name"},
                 {"pages", "n"},
                 {"failed", "n"},
                 {"mean time", "n"}});
    for (const HostRow& row : rows) {
      table.Row({HtmlText(row.name, kMostName), Number(row.pages),
                 Number(row.failures), ShortTime(row.mean_s)});
    }
    Add(table.Take());
    Add("</div>\n");
  }

  void Hosts() {
    if (figures_.largest_hosts.empty()) return;
    Section("Hosts");
    Add("<div class=\"pair\">\n");
    HostTable("With the most pages", figures_.largest_hosts);
    HostTable("Slowest, with three pages or more", figures_.slowest_hosts);
    Add("</div>\n");
  }

  void Accounts() {
    if (!figures_.status) return;
    Section("Where every URL went");
    Paragraph(
        "No stage drops anything silently: in + made = out + dropped + held.");
    Table table({{"stage", ""},
                 {"in", "n"},
                 {"made", "n"},
                 {"out", "n"},
                 {"dropped", "n"},
                 {"held", "n"},
                 {"", "n"}});
    for (const crawl::CrawlStatus::Stage& stage : figures_.status->stages) {
      const StageTotals& totals = stage.totals;
      const bool holds = totals.Imbalance() == 0;
      table.Row({HtmlText(stage.name), Number(totals.in), Number(totals.made),
                 Number(totals.out), Number(totals.DroppedSum()),
                 totals.held < 0 ? std::to_string(totals.held)
                                 : Number(static_cast<uint64_t>(totals.held)),
                 holds ? "\xE2\x9C\x93"
                       : "<span class=\"bad\">does not add up</span>"});
    }
    Add(table.Take());
    Add("<h3>Dropped, and why</h3>\n");
    Table dropped({{"stage", ""}, {"reason", "name"}, {"URLs", "n"}});
    for (const crawl::CrawlStatus::Stage& stage : figures_.status->stages) {
      for (const auto& [reason, count] : stage.dropped) {
        const std::string words = ReasonText(stage.name, reason);
        dropped.Row({HtmlText(stage.name),
                     words == reason
                         ? HtmlText(words)
                         : fmt::format("{} <span class=\"soft\">{}</span>",
                                       HtmlText(words), HtmlText(reason)),
                     Number(count)});
      }
    }
    Add(dropped.Take());
  }

  void Settings() {
    Section("Settings and files");
    Add("<dl>\n");
    for (const auto& [name, value] : figures_.settings) {
      html_ +=
          fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n", HtmlText(name),
                      value.empty() ? "-" : HtmlText(value, 200));
    }
    Add("</dl>\n<dl>\n");
    for (const auto& [name, what] : figures_.files) {
      html_ += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n",
                           HtmlText(name), HtmlText(what));
    }
    Add("</dl>\n");
  }

  void Foot() {
    html_ += fmt::format(
        "<footer>Counters, and what is known of domains, are those of the last "
        "checkpoint; lists of hosts, answers and media types are of {} lines "
        "of crawl.log. Made by nephila; the job by version {} on "
        "{}.</footer>\n</main>\n</body>\n</html>\n",
        Number(figures_.log_lines), HtmlText(figures_.version),
        HtmlText(figures_.made));
  }

  const Figures& figures_;
  std::string html_;
};

}  // namespace

std::string HtmlReport(const Figures& figures) { return Page(figures).Write(); }

}  // namespace nephila::report
