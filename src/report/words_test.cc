#include "report/words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caps/caps.h"
#include "report/html_text.h"
#include "report/log_figures.h"
#include "report/over_time.h"
#include "report/plot.h"
#include "report/status_reader.h"
#include "scope/scope.h"

namespace nephila::report {
namespace {

using Ticks = std::vector<double>;

TEST(ReportWords, DigitsAreGrouped) {
  EXPECT_EQ(Grouped(0, Grouping::kSpace), "0");
  EXPECT_EQ(Grouped(999, Grouping::kSpace), "999");
  EXPECT_EQ(Grouped(1000, Grouping::kSpace), "1 000");
  EXPECT_EQ(Grouped(UINT64_MAX, Grouping::kSpace),
            "18 446 744 073 709 551 615");
  EXPECT_EQ(Grouped(12345, Grouping::kThinSpace),
            "12\xE2\x80\xAF"
            "345");
}

TEST(ReportWords, NumbersHaveThreeDigitsThatCount) {
  EXPECT_EQ(Rounded(0, Grouping::kSpace), "0");
  EXPECT_EQ(Rounded(0.01234, Grouping::kSpace), "0.012");
  EXPECT_EQ(Rounded(4.567, Grouping::kSpace), "4.57");
  EXPECT_EQ(Rounded(45.67, Grouping::kSpace), "45.7");
  EXPECT_EQ(Rounded(4567.8, Grouping::kSpace), "4 568");
  EXPECT_EQ(Percent(0, 10), "0 %");
  EXPECT_EQ(Percent(1, 3), "33.3 %");
  EXPECT_EQ(Percent(1, 100'000), "under 0.1 %");
  EXPECT_EQ(Percent(1, 0), "-");
  EXPECT_EQ(ShortTime(90), "90 s");
  EXPECT_EQ(ShortTime(0.25), "250 ms");
  EXPECT_EQ(ShortTime(3600), "60 min");
  EXPECT_EQ(ShortTime(90'000), "25 h");
  EXPECT_EQ(ShortNumber(1500), "1.5k");
  EXPECT_EQ(ShortNumber(2e6), "2M");
  EXPECT_EQ(ShortNumber(0.01), "0.01");
}

TEST(ReportWords, ReasonsHaveWordsOrTheirName) {
  EXPECT_EQ(ReasonText("robots", "denied"), "forbidden by robots.txt");
  EXPECT_EQ(ReasonText("robots", "new-reason"), "new-reason");
  EXPECT_EQ(StatusText("404"), "Not Found");
  EXPECT_EQ(StatusText("999"), "");
}

// What a stage drops is said in words that people know.
TEST(ReportWords, ReasonsOfTheScopeAndOfCapsHaveWords) {
  for (const std::string_view reason : scope::kScopeDropNames) {
    EXPECT_NE(ReasonText("scope", reason), reason);
    EXPECT_NE(ReasonText("politeness", reason), reason);
  }
  for (const std::string_view reason : caps::kDropReasonNames) {
    EXPECT_NE(ReasonText("caps", reason), reason);
  }
}

TEST(ReportWords, MarkupIsEscaped) {
  EXPECT_EQ(HtmlText("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(HtmlText("\x1b"), "\\x1B");
  EXPECT_EQ(HtmlText("abcdef", 3), "abc\xE2\x80\xA6");
}

TEST(ReportPlot, LinesOfAnAxisAreRoundNumbers) {
  EXPECT_EQ(LinearTicks(0, 410), (Ticks{0, 100, 200, 300, 400, 500}));
  EXPECT_EQ(LinearTicks(0, 0),
            (Ticks{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(TimeTicks(22), (Ticks{0, 5, 10, 15, 20}));
  EXPECT_EQ(TimeTicks(86'400), (Ticks{0, 21'600, 43'200, 64'800, 86'400}));
  EXPECT_EQ(LogTicks(8, 1024),
            (Ticks{5, 10, 20, 50, 100, 200, 500, 1000, 2000}));
  EXPECT_EQ(LogTicks(1, 1), (Ticks{1, 2}));
  EXPECT_EQ(LogTicks(1, 1e6), (Ticks{1, 10, 100, 1e3, 1e4, 1e5, 1e6}));
}

TEST(ReportPlot, WithoutPointsThereIsNone) {
  Plot plot;
  EXPECT_EQ(PlotHtml(plot), "");
  plot.y = Axis::kLog;
  plot.series.emplace_back();
  plot.series[0].points = {{1, 0, false}};
  EXPECT_EQ(PlotHtml(plot), "");
  plot.series[0].points = {{1, 5, false}};
  EXPECT_NE(PlotHtml(plot), "");
}

TEST(ReportPlot, ManyPointsAreThinned) {
  Plot plot;
  plot.series.emplace_back();
  for (int i = 0; i < 100'000; ++i) {
    plot.series[0].points.push_back({1.0 * i, 1.0 * (i % 7), false});
  }
  EXPECT_LT(PlotHtml(plot).size(), 20'000U);
}

// Nothing was crawled between two runs, so no line leads over a stop.
TEST(ReportOverTime, NoLineLeadsOverAStop) {
  Figures figures;
  for (uint64_t i = 0; i < 40; ++i) {
    TimePoint point;
    point.run = i < 20 ? 1 : 2;
    point.elapsed_s = static_cast<double>(i);
    point.pages = 10 * i;
    point.links = 100 * i;
    point.unique = 30 * i;
    point.waiting = i;
    figures.history.push_back(point);
  }
  for (const Plot& plot : {RatePlot(figures), BytesPlot(figures),
                           UniquePlot(figures), WaitingPlot(figures)}) {
    EXPECT_EQ(plot.stops, Ticks{20});
    for (const Series& series : plot.series) {
      const auto gaps = std::ranges::count_if(series.points, &PlotPoint::gap);
      EXPECT_EQ(gaps, 2) << plot.title << ": " << series.name;
    }
  }
  EXPECT_EQ(RatePlot(figures).series[0].points[3].y, 10);
  EXPECT_EQ(UniquePlot(figures).series[1].points.back().y, 30);
}

TEST(ReportHistogram, QuantilesAreNearTheTruth) {
  SizeHistogram sizes;
  EXPECT_EQ(sizes.Quantile(0.5), 0);
  for (uint64_t i = 1; i <= 1000; ++i) sizes.Add(i);
  EXPECT_NEAR(sizes.Quantile(0.5), 500, 60);
  EXPECT_NEAR(sizes.Quantile(0.95), 950, 110);
  SizeHistogram small;
  small.Add(1);
  EXPECT_EQ(small.Quantile(0.5), 1);
  SizeHistogram none;
  none.Add(0, 3);
  EXPECT_EQ(none.Quantile(0.5), 0);
  none.Add(UINT64_MAX, 9);
  EXPECT_GT(none.Quantile(0.5), 1e18);
}

TEST(ReportStatus, CountersAreReadBack) {
  crawl::CrawlStatus status;
  status.pages = 12;
  status.end = crawl::CrawlEnd::kMaxTime;
  status.elapsed = std::chrono::milliseconds(1500);
  status.outcomes = {{"timeout", 3}};
  crawl::CrawlStatus::Stage stage;
  stage.name = "seen";
  stage.totals.in = 10;
  stage.totals.out = 7;
  stage.totals.held = 1;
  stage.totals.dropped = {2};
  stage.dropped = {{"duplicate", 2}};
  status.stages.push_back(stage);
  const std::string json = FormatStatus(status);
  const auto read = ParseStatus(json);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(FormatStatus(*read), json);
  EXPECT_EQ(read->Imbalance(), "");
  for (const std::string_view bad : {"", "[]", "{", "3"}) {
    EXPECT_FALSE(ParseStatus(bad).has_value());
  }
  // Of a disk: what is of another kind is left out.
  EXPECT_TRUE(
      ParseStatus(R"({"pages":"x","stages":[1],"end":7,"outcomes":3})"));
}

}  // namespace
}  // namespace nephila::report
