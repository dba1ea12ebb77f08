#include "bench/bench_crawl.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/temporary_folder.h"

namespace nephila::bench {
namespace {

TEST(BenchCrawlTest, CountsTheSitesPagesByItsServer) {
  const auto folder = cli::TemporaryFolder::Make();
  ASSERT_TRUE(folder.has_value());
  BenchCrawlOptions options;
  options.pages = 200;
  options.crawlers = {"nephila", "wget"};
  options.directory = (*folder)->path();
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchCrawl(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::istringstream lines(out.str());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto row = nlohmann::json::parse(line);
  EXPECT_EQ(row["crawler"], "nephila");
  EXPECT_EQ(row["pages"], 200) << line;
  EXPECT_EQ(row["requests"], 201) << "and its robots.txt";
  EXPECT_GT(row["pages_per_s"], 0);
  EXPECT_GT(row["pages_per_cpu_s"], 0);
  EXPECT_GT(row["rss_bytes"], 1'000'000);
}

TEST(BenchCrawlTest, ABroadCrawlIsMeasuredFromOutside) {
  const auto folder = cli::TemporaryFolder::Make();
  ASSERT_TRUE(folder.has_value());
  BenchCrawlOptions options;
  options.broad = true;
  options.broad_options.hosts = 500;
  options.broad_options.addresses = 100;
  options.broad_options.time = std::chrono::seconds(6);
  options.broad_options.memory = "256MiB";
  options.settings = {
      "politeness.host_delay=10ms", "politeness.host_delay_floor=10ms",
      "politeness.server_delay=1ms", "politeness.server_delay_floor=1ms"};
  options.directory = (*folder)->path();
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchCrawl(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  std::string last;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) last = line;
  const auto row = nlohmann::json::parse(last);
  EXPECT_EQ(row["work"], "broad");
  EXPECT_GT(row["pages"], 0) << out.str();
  EXPECT_TRUE(row["cpu_share"].contains("downloader")) << last;
  EXPECT_TRUE(row["cpu_share"].contains("frontier")) << last;
}

}  // namespace
}  // namespace nephila::bench
