// Reports of jobs that a real crawl of a web in memory made: they say what is
// there, never change the job, and never trust what the web said.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file_testing.h"
#include "check/job_testing.h"
#include "job/flip_testing.h"
#include "report/html_report.h"
#include "report/job_reader.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "report/well_formed_testing.h"

namespace nephila::report {
namespace {

using check::TestJob;
using config::Profile;
using Json = nlohmann::json;

class ReportTest : public testing::Test {
 protected:
  explicit ReportTest(Profile profile = Profile::kBroad) : job_(profile) {}

  void Finish() {
    job_.Open();
    ASSERT_TRUE(job_.Run());
    job_.Close();
  }
  Result<Figures> TryRead() {
    ReportOptions options;
    options.dir = "job";
    options.settings = job_.settings;
    options.scratch = "scratch";
    return ReadFigures(job_.fs, options);
  }
  Figures Read() { return Must(TryRead()); }
  static uint64_t CountOf(const std::vector<NamedCount>& list,
                          std::string_view name) {
    const auto found = std::ranges::find(list, name, &NamedCount::name);
    return found == list.end() ? 0 : found->count;
  }
  // All three reports can be read by those they are for.
  static void ExpectWhole(const Figures& figures) {
    EXPECT_EQ(WhyNotWellFormed(HtmlReport(figures)), "");
    const Json json = Json::parse(JsonReport(figures), nullptr, false);
    EXPECT_TRUE(json.is_object());
    const std::string text = TextReport(figures);
    size_t line = 0;
    for (const char c : text) {
      line = c == '\n' ? 0 : line + 1;
      EXPECT_LE(line, 80U) << text;
      EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F));
    }
  }

  TestJob job_;
};

class SiteReportTest : public ReportTest {
 protected:
  SiteReportTest() : ReportTest(Profile::kSite) {}
};

TEST_F(ReportTest, SaysWhatWasCrawled) {
  Finish();
  const Figures figures = Read();
  ASSERT_TRUE(figures.status.has_value());
  EXPECT_EQ(figures.status->end, crawl::CrawlEnd::kFinished);
  EXPECT_TRUE(figures.notes.empty() && figures.damages.empty());
  EXPECT_EQ(figures.pages, figures.status->pages);
  EXPECT_EQ(figures.page_bytes, figures.status->bytes);
  EXPECT_EQ(figures.hosts, 3U);
  EXPECT_EQ(figures.domains, 3U);
  EXPECT_EQ(figures.runs, 1U);
  EXPECT_GT(figures.elapsed_s, 0);
  ASSERT_EQ(figures.seed_count, 1U);
  EXPECT_EQ(figures.seeds[0].name, "http://a.com/");
  EXPECT_EQ(CountOf(figures.statuses, "404"), 1U);
  EXPECT_EQ(CountOf(figures.statuses, "500"), 1U);
  EXPECT_GT(CountOf(figures.media_types, "text/html"), 5U);
  EXPECT_EQ(CountOf(figures.failures, "timeout"), 1U);
  EXPECT_EQ(CountOf(figures.robots, "200"), 2U);
  EXPECT_EQ(CountOf(figures.depths, "0"), 1U);
  EXPECT_EQ(figures.revisits, 1U);
  ExpectWhole(figures);
}

TEST_F(ReportTest, RanksDomainsByWhoLinksToThem) {
  Finish();
  const Figures figures = Read();
  EXPECT_TRUE(figures.has_budgets);
  // c.com has links from a.com and b.com, b.com from a.com; nobody links to
  // the seed.
  ASSERT_EQ(figures.top_by_degree.size(), 2U);
  EXPECT_EQ(figures.top_by_degree[0].name, "c.com");
  EXPECT_EQ(figures.top_by_degree[0].in_degree, 2U);
  EXPECT_EQ(figures.top_by_degree[0].pages, 2U);
  EXPECT_GT(figures.top_by_degree[0].budget, 0U);
  EXPECT_EQ(figures.top_by_degree[1].name, "b.com");
  EXPECT_EQ(figures.top_by_degree[1].in_degree, 1U);
  ASSERT_FALSE(figures.top_by_pages.empty());
  EXPECT_EQ(figures.top_by_pages[0].name, "a.com");
  EXPECT_EQ(figures.known_domains, 3U);
  ASSERT_EQ(figures.degrees.size(), 3U);
  EXPECT_EQ(figures.degrees[2].from, 2U);
  EXPECT_EQ(figures.degrees[2].to, 3U);
  EXPECT_EQ(figures.degrees[2].Mean(), 2);
  EXPECT_EQ(figures.largest_hosts[0].name, "a.com");
  EXPECT_EQ(figures.largest_hosts[0].failures, 1U);
  const std::string text = TextReport(figures);
  EXPECT_NE(text.find("1 c.com"), std::string::npos) << text;
  EXPECT_NE(text.find("forbidden by robots.txt"), std::string::npos) << text;
}

TEST_F(SiteReportTest, ACrawlWithoutBudgetsHasNoInDegrees) {
  job_.settings.crawl.budgets = false;
  Finish();
  const Figures figures = Read();
  EXPECT_FALSE(figures.has_budgets);
  EXPECT_TRUE(figures.top_by_degree.empty());
  EXPECT_EQ(figures.top_by_pages[0].name, "a.com");
  EXPECT_EQ(HtmlReport(figures).find("in-degree"), std::string::npos);
  ExpectWhole(figures);
}

TEST_F(ReportTest, RatesAreOverTheTimeOfCrawlingAndStopsAreMarked) {
  job_.Open();
  EXPECT_FALSE(job_.Run(900));
  job_.Kill();
  job_.clock.Advance(std::chrono::hours(5));
  job_.Open();
  EXPECT_TRUE(job_.Run());
  job_.Close();
  const Figures figures = Read();
  EXPECT_EQ(figures.runs, 2U);
  EXPECT_LT(figures.elapsed_s, 3600);
  EXPECT_GT(*figures.last - *figures.began, std::chrono::hours(5));
  const std::string html = HtmlReport(figures);
  EXPECT_NE(html.find("in 2 runs"), std::string::npos);
  EXPECT_NE(html.find("class=\"stop\""), std::string::npos);
  ExpectWhole(figures);
}

TEST_F(ReportTest, NothingOfTheJobIsChanged) {
  Finish();
  const auto before = job_.Files();
  Read();
  EXPECT_EQ(job_.Files(), before);
}

// At every twentieth turn of a crawl that has checkpoints all the time.
TEST_F(ReportTest, ARunningJobCanBeReportedAtAnyMoment) {
  job_.settings.crawl.checkpoint_interval = std::chrono::milliseconds(20);
  job_.Open();
  uint64_t pages = 0;
  bool is_over = false;
  while (!is_over) {
    is_over = job_.Run(20);
    const Figures figures = Read();
    EXPECT_TRUE(figures.damages.empty());
    if (!figures.status) continue;
    EXPECT_GE(figures.status->pages, pages);
    EXPECT_EQ(figures.status->end.has_value(), is_over);
    pages = figures.status->pages;
  }
  EXPECT_GT(pages, 10U);
}

TEST_F(ReportTest, AJobThatNeverEndedSaysSo) {
  job_.Open();
  EXPECT_FALSE(job_.Run(1500));
  job_.Kill();
  const Figures figures = Read();
  EXPECT_NE(TextReport(figures).find("not ended"), std::string::npos);
  ExpectWhole(figures);
}

TEST_F(ReportTest, AJobWithoutACheckpointHasAReportToo) {
  job_.Open();
  job_.Kill();
  const Figures figures = Read();
  EXPECT_FALSE(figures.status.has_value());
  ASSERT_EQ(figures.notes.size(), 1U);
  EXPECT_NE(figures.notes[0].find("No checkpoint"), std::string::npos);
  ExpectWhole(figures);
}

TEST_F(ReportTest, AFolderWithoutAJobIsAnError) {
  EXPECT_EQ(CodeOf(TryRead()), "not found");
}

TEST_F(ReportTest, ADamagedHistoryIsSaidAndLeftOut) {
  Finish();
  const std::string history = Get(job_.fs, "job/history");
  const size_t points = Read().history.size();
  Put(job_.fs, "job/history", job::Flipped(history, history.size() / 2, 3));
  const Figures figures = Read();
  EXPECT_LT(figures.history.size(), points);
  ASSERT_EQ(figures.damages.size(), 1U);
  EXPECT_TRUE(figures.damages[0].starts_with("history: "));
  ExpectWhole(figures);
  Put(job_.fs, "job/history", "something else");
  EXPECT_EQ(Read().damages.size(), 1U);
  ExpectWhole(Read());
}

TEST_F(ReportTest, LinesThatAreNoneAreSaidAndLeftOut) {
  Finish();
  const std::string log = Get(job_.fs, "job/archive/crawl.log");
  const uint64_t lines = Read().log_lines;
  Put(job_.fs, "job/archive/crawl.log", "no line\n" + log + "2026-01-");
  const Figures figures = Read();
  EXPECT_EQ(figures.log_lines, lines);
  // The last one may be about to be written.
  ASSERT_EQ(figures.damages.size(), 1U);
  EXPECT_NE(figures.damages[0].find("the first is line 1"), std::string::npos);
}

TEST_F(ReportTest, AManifestThatIsDamagedIsPassedOver) {
  Finish();
  const auto files = job_.Files();
  std::string newest;
  for (const auto& [path, contents] : files) {
    if (path.find("/manifest-") != std::string::npos) newest = path;
  }
  Put(job_.fs, newest, job::Flipped(files.at(newest), 100, 1));
  const Figures figures = Read();
  EXPECT_TRUE(figures.status.has_value());
  EXPECT_FALSE(figures.damages.empty());
}

// Of the web, or of somebody who edits a log.
TEST_F(ReportTest, HostileTextsAreEscaped) {
  Finish();
  Figures figures = Read();
  const std::string evil =
      "\"><script src=http://evil.test/></script>&amp\x01\x1b[2J'\xff";
  for (auto* rows : {&figures.top_by_degree, &figures.top_by_pages}) {
    for (DomainRow& row : *rows) row.name = evil;
  }
  for (auto* rows : {&figures.largest_hosts, &figures.slowest_hosts}) {
    for (HostRow& row : *rows) row.name = evil;
  }
  for (auto* list : {&figures.seeds, &figures.statuses, &figures.failures,
                     &figures.robots, &figures.media_types}) {
    for (NamedCount& one : *list) one.name = evil;
  }
  for (auto& [name, value] : figures.settings) value = evil;
  figures.dir = evil;
  figures.version = evil;
  figures.notes = {evil};
  figures.damages = {evil};
  // Those are of JSON, which is UTF-8.
  const std::string name = evil.substr(0, evil.size() - 1);
  for (auto& stage : figures.status->stages) {
    stage.name = name;
    stage.dropped = {{name, 1}};
  }
  const std::string html = HtmlReport(figures);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
  EXPECT_EQ(WhyNotWellFormed(html), "");
  const std::string text = TextReport(figures);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(Json::parse(JsonReport(figures), nullptr, false).is_object());
}

TEST_F(ReportTest, ThePageNeedsNothingFromElsewhere) {
  Finish();
  const std::string html = HtmlReport(Read());
  for (const std::string_view part :
       {" src=", " href=", "url(", "@import", "<script", "<link", "<img",
        "<iframe", "<form"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
}

// The same memory however many hosts there are: 300 times the lines, and the
// counts of hosts go by way of scratch files.
TEST_F(ReportTest, ManyHostsFitIntoLittleMemory) {
  Finish();
  std::string lines;
  for (int i = 0; i < 5000; ++i) {
    lines += "2026-01-02T03:04:06.000Z   200         10 http://h" +
             std::to_string(i) + ".d" + std::to_string(i % 1000) +
             ".com/ L - text/html #000 20260102030405678+5 - - -\n";
  }
  Put(job_.fs, "job/archive/crawl-1.log", lines);
  ReportOptions options;
  options.dir = "job";
  options.settings = job_.settings;
  options.scratch = "scratch";
  const Figures all = Must(ReadFigures(job_.fs, options));
  EXPECT_EQ(all.hosts, 5003U);
  EXPECT_EQ(all.domains, 1003U);
  options.memory_bytes = 64 << 10;
  const Figures same = Must(ReadFigures(job_.fs, options));
  EXPECT_EQ(JsonReport(same), JsonReport(all));
  EXPECT_TRUE(Names(job_.fs, "scratch").empty());
}

}  // namespace
}  // namespace nephila::report
