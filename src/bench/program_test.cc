// `nephila bench` as scripts run it: what it prints with --json.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/file_testing.h"
#include "bench/child_process.h"
#include "bench/crawler_process.h"
#include "cli/temporary_folder.h"

namespace nephila::bench {
namespace {

class BenchProgramTest : public testing::Test {
 protected:
  BenchProgramTest() { setenv("NEPHILA_CORPUS", "/nonexistent", 1); }
  ~BenchProgramTest() override { unsetenv("NEPHILA_CORPUS"); }

  std::vector<nlohmann::json> Bench(std::vector<std::string> words) {
    words.insert(words.begin(), {Must(NephilaBeside()), "bench"});
    words.insert(words.end(), {"--json", "--passes", "1"});
    const ChildUse run =
        Must(RunChild(words, folder_->path(), std::chrono::seconds(120)));
    EXPECT_EQ(run.exit_status, 0) << run.last_of_output;
    std::vector<nlohmann::json> lines;
    std::istringstream in(run.last_of_output);
    for (std::string line; std::getline(in, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  std::unique_ptr<cli::TemporaryFolder> folder_ =
      Must(cli::TemporaryFolder::Make());
};

TEST_F(BenchProgramTest, LinksPrintsTheNamesThatScriptsRelyOn) {
  const auto lines = Bench({"links"});
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0]["parser"], "nephila");
  EXPECT_EQ(lines[3]["parser"], "libxml2");
  EXPECT_EQ(lines[4]["parser"], "gumbo");
  for (const auto& line : lines) {
    EXPECT_GT(line["mb_per_s"], 0);
    EXPECT_GT(line["links"], 10000);
    EXPECT_EQ(line["links"], lines[0]["links"]);
  }
}

TEST_F(BenchProgramTest, UrlPrintsTheNamesThatScriptsRelyOn) {
  const std::string file = folder_->path() + "/urls.txt";
  std::ofstream(file) << "http://a.com/\nhttp://b.com/x?y=1\nmailto:x\n";
  const auto line = Bench({"url", "--urls", file}).at(0);
  EXPECT_GT(line["ns_per_url"], 0);
  EXPECT_TRUE(line.contains("instructions_per_url"));
  EXPECT_EQ(line["urls"], 3);
  EXPECT_EQ(line["dropped"], 1);
}

TEST_F(BenchProgramTest, UrlGeneratesUrlsWhereThereIsNoCorpus) {
  EXPECT_EQ(Bench({"url"}).at(0)["source"], "generated");
}

TEST_F(BenchProgramTest, AMisspeltVerbIsAnsweredWithTheNearestOne) {
  const ChildUse run =
      Must(RunChild({Must(NephilaBeside()), "bench", "urls"}, folder_->path(),
                    std::chrono::seconds(120)));
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_NE(run.last_of_output.find("did you mean url?"), std::string::npos)
      << run.last_of_output;
}

TEST_F(BenchProgramTest, SimPrintsWhatAPageCosts) {
  const auto line = Bench({"sim"}).at(0);
  EXPECT_GT(line["us_per_page"], 0);
  EXPECT_GT(line["bytes_per_page"], 10'000);
}

}  // namespace
}  // namespace nephila::bench
