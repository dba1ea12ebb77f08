#include "bench/bench_frontier.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace nephila::bench {
namespace {

std::vector<std::string> UrlsOf(const crawl::FinishedVisit& visit) {
  std::vector<std::string> urls;
  ByteReader reader(visit.links);
  while (!reader.AtEnd()) {
    const auto bytes = reader.Sized();
    if (!bytes.has_value()) break;
    const auto record = item::ReadUrl(*bytes);
    if (!record.has_value()) break;
    urls.emplace_back(record->url);
  }
  return urls;
}

crawl::FinishedVisit LinksOf(FrontierWeb& web, std::string_view bytes) {
  crawl::FinishedVisit visit;
  visit.entry = 7;
  const auto page = item::ReadUrl(bytes);
  if (page.has_value()) web.AddLinks(*page, visit);
  return visit;
}

// The n-th link of a visit, encoded.
std::string LinkAt(const crawl::FinishedVisit& visit, size_t n) {
  ByteReader reader(visit.links);
  for (size_t i = 0; i < n; ++i) {
    if (!reader.Sized().has_value()) return {};
  }
  const auto bytes = reader.Sized();
  return std::string(bytes.has_value() ? *bytes : std::string_view());
}

TEST(FrontierWeb, LinksAreNewAsOftenAsAskedForAndTheSameEachTime) {
  FrontierWebShape shape;
  shape.domains = 1000;
  shape.links = 20;
  shape.new_links = 10;
  std::vector<std::string> before;
  for (int run = 0; run < 2; ++run) {
    FrontierWeb web(shape, 1);
    crawl::FinishedVisit seed;
    web.AppendSeed(3, seed.links);
    std::set<std::string> seen;
    std::vector<std::string> all;
    crawl::FinishedVisit visit = LinksOf(web, LinkAt(seed, 0));
    for (int page = 0; page < 50; ++page) {
      const std::vector<std::string> urls = UrlsOf(visit);
      ASSERT_EQ(urls.size(), 20U);
      EXPECT_FALSE(visit.edges.empty());
      for (size_t i = 0; i < urls.size(); ++i) {
        const bool is_new = seen.insert(urls[i]).second;
        if (i < 10) {
          EXPECT_TRUE(is_new) << urls[i];
        } else if (i % 2 == 0 && page > 0) {
          // A sibling, which the page before has linked to.
          EXPECT_FALSE(is_new) << urls[i];
        }
      }
      all.insert(all.end(), urls.begin(), urls.end());
      visit = LinksOf(web, LinkAt(visit, 0));
    }
    if (run == 0) before = all;
    EXPECT_EQ(all, before);
  }
}

TEST(BenchFrontier, GrowsToTheSizeThatIsAskedForInTheMemoryOfThePlan) {
  const std::string folder =
      testing::TempDir() + "bench_frontier" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  BenchFrontierOptions options;
  options.waiting = 60'000;
  options.memory_bytes = uint64_t{64} << 20;
  options.disk_bytes = uint64_t{256} << 20;
  options.checkpoint_interval = std::chrono::milliseconds(100);
  options.web.domains = 10'000;
  options.directory = folder;
  options.json = true;
  std::ostringstream out;
  const Status status = RunBenchFrontier(options, out);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);

  std::istringstream lines(out.str());
  nlohmann::json end;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    end = nlohmann::json::parse(line);
  }
  // A step may pass several of the twenty marks.
  EXPECT_GE(count, 2);
  EXPECT_LE(count, 21);
  EXPECT_EQ(end["bench"], "frontier-end");
  EXPECT_GE(end["waiting"], 60'000U);
  EXPECT_GE(end["seen"], end["waiting"]);
  EXPECT_GT(end["visits"], 1000U);
  EXPECT_GT(end["robots"], 100U);
  EXPECT_GT(end["links_per_s"], 0.0);
  EXPECT_GE(end["last_fifth_links_per_s"], 0.0);
  EXPECT_GT(end["disk_bytes"], 0U);
  EXPECT_GT(end["planned_bytes"], 0U);
  EXPECT_LT(end["planned_bytes"], end["memory_bytes"]);
}

}  // namespace
}  // namespace nephila::bench
