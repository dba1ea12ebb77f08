#include "control/metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/source_path_testing.h"

namespace nephila::control {
namespace {

LiveFacts SomeFacts() {
  LiveFacts facts;
  facts.version = "1.2.3 \"quoted\" \\ and\nbroken";
  facts.status.pages = 123'456'789'012;
  facts.status.elapsed = std::chrono::milliseconds(1500);
  facts.status.outcomes = {{"response", 7}, {"timeout", 2}};
  facts.status.statuses = {{"2xx", 7}};
  crawl::CrawlStatus::Stage stage;
  stage.name = "scope";
  stage.totals.in = 10;
  stage.totals.held = -1;
  stage.dropped = {{"out-of-scope", 3}};
  facts.status.stages.push_back(stage);
  facts.budget.emplace();
  facts.budget->current = 9;
  facts.checkpoint_age = std::chrono::seconds(2);
  return facts;
}

// By the rules of the exposition format; the samples by their line's begin.
std::map<std::string, std::string> ReadMetrics(const std::string& text) {
  static const std::regex help(R"(# HELP ([a-z_]+) [^\n]+)");
  static const std::regex type(R"(# TYPE ([a-z_]+) (counter|gauge))");
  static const std::regex sample(
      R"(([a-z_]+)(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? (-?[0-9.e+]+))");
  EXPECT_TRUE(text.ends_with("\n"));
  std::map<std::string, std::string> samples;
  std::set<std::string> known;
  std::string current;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, help)) {
      current = match[1];
      EXPECT_TRUE(known.insert(current).second) << "twice: " << line;
    } else if (std::regex_match(line, match, type)) {
      EXPECT_EQ(match[1], current) << line;
      EXPECT_EQ(match[2] == "counter", current.ends_with("_total")) << line;
    } else if (std::regex_match(line, match, sample)) {
      EXPECT_EQ(match[1], current) << line;
      const std::string name = line.substr(0, line.rfind(' '));
      EXPECT_TRUE(samples.emplace(name, match[5]).second) << line;
    } else {
      ADD_FAILURE() << "no line of the format: " << line;
    }
  }
  return samples;
}

TEST(MetricsTest, AreInTheFormatOfPrometheus) {
  const auto samples = ReadMetrics(MetricsText(SomeFacts()));
  EXPECT_EQ(samples.at("nephila_pages_total"), "123456789012");
  EXPECT_EQ(samples.at("nephila_fetches_total{outcome=\"timeout\"}"), "2");
  EXPECT_EQ(samples.at("nephila_stage_dropped_total{stage=\"scope\","
                       "reason=\"out-of-scope\"}"),
            "3");
  EXPECT_EQ(samples.at("nephila_stage_held{stage=\"scope\"}"), "-1");
  EXPECT_EQ(samples.at("nephila_state{state=\"running\"}"), "1");
  EXPECT_EQ(samples.at("nephila_state{state=\"paused\"}"), "0");
  EXPECT_EQ(samples.at("nephila_run_seconds"), "1.5");
  EXPECT_EQ(samples.at("nephila_budget_queue"), "9");
}

TEST(MetricsTest, WhatThereIsNotHasNoSample) {
  const auto samples = ReadMetrics(MetricsText(LiveFacts()));
  EXPECT_FALSE(samples.contains("nephila_budget_queue"));
  EXPECT_FALSE(samples.contains("nephila_checkpoint_age_seconds"));
  EXPECT_EQ(samples.at("nephila_pages_total"), "0");
}

// A row of docs/metrics.md for each, and none for others.
TEST(MetricsTest, AreListedInTheDocs) {
  std::ifstream file(SourcePath("docs/metrics.md"));
  ASSERT_TRUE(file);
  std::set<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `nephila_")) rows.insert(line);
  }
  std::set<std::string> expected;
  for (const MetricRow& row : MetricRows()) {
    expected.insert("| `" + std::string(row.name) + "` | " +
                    (row.type == MetricType::kCounter ? "counter" : "gauge") +
                    " | " + std::string(row.labels) + " | " +
                    std::string(row.help) + " |");
  }
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace nephila::control
