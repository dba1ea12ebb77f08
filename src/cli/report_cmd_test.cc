// nephila report, the real program: of a crawl that ended, of one that runs, of
// what is damaged and of what is no job.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::json;

class ReportCmdTest : public CrawlCmdTest {
 protected:
  static std::string ReadAll(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static bool IsPage(const std::string& text) {
    return text.starts_with("<!DOCTYPE html>") &&
           text.find("</html>") != std::string::npos;
  }
  Ended Report(std::vector<std::string> args) {
    args.insert(args.begin(), {"report", "--job", Job()});
    return Run(args);
  }
  void CrawlSome() {
    Serve("[web]\nhosts = 20\n");
    std::vector<std::string> args = {"--profile", "broad", "--max-pages", "40"};
    for (const std::string& seed : Seeds(3)) args.push_back(seed);
    const Ended ended = Crawl(args);
    ASSERT_EQ(ended.code, kSuccess) << ended.err;
    EXPECT_NE(ended.out.find("report: " + Job() + "/report.html"),
              std::string::npos)
        << ended.out;
  }
};

TEST_F(ReportCmdTest, ACrawlLeavesItsReport) {
  CrawlSome();
  const std::string page = ReadAll(Job() + "/report.html");
  EXPECT_TRUE(IsPage(page));
  // It is no stray.
  const Ended check = Run({"check", "--job", Job()});
  EXPECT_EQ(check.code, kSuccess) << check.out;
  EXPECT_EQ(check.out.find("stray:"), std::string::npos) << check.out;
  EXPECT_NE(check.out.find("history: "), std::string::npos) << check.out;
}

TEST_F(ReportCmdTest, ACrawlIsAskedToLeaveNone) {
  Serve("[web]\nhosts = 5\n");
  const Ended ended = Crawl(
      {"--max-pages", "3", "--set", "crawl.report=false", Seeds(1).front()});
  ASSERT_EQ(ended.code, kSuccess) << ended.err;
  EXPECT_EQ(ended.out.find("report:"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(Job() + "/report.html"));
}

TEST_F(ReportCmdTest, ReportsGoWhereTheyAreAskedTo) {
  CrawlSome();
  const std::string other = Folder("other.html");
  const Ended file = Report({"--output", other});
  EXPECT_EQ(file.code, kSuccess) << file.err;
  EXPECT_EQ(file.out, "report: " + other + "\n");
  EXPECT_TRUE(IsPage(ReadAll(other)));
  EXPECT_TRUE(IsPage(Report({"--output", "-"}).out));
  const Ended text = Report({"--text"});
  EXPECT_TRUE(text.out.starts_with("Crawled  40 pages")) << text.out;
  const Json json = Json::parse(Report({"--json"}).out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["status"]["pages"], 40);
  EXPECT_EQ(json["pages"], 40);
  EXPECT_EQ(json["settings"]["crawl.max_pages"], "40");
  EXPECT_GT(json["history"].size(), 1U);
  EXPECT_EQ(Report({"--json", "--text"}).code, kUsage);
  const Ended unwritable = Report({"--output", Folder("no/such/x.html")});
  EXPECT_EQ(unwritable.code, kFailed);
  EXPECT_NE(unwritable.err.find("no/such"), std::string::npos);
}

TEST_F(ReportCmdTest, ACrawlThatRunsIsReported) {
  // A page that never comes keeps the crawl from its end.
  Serve(
      "[web]\nhosts = 200\n"
      "[[rule]]\nhost = \"slow.example\"\nbehaviour = \"hang\"\n");
  std::vector<std::string> args = {"--profile",
                                   "broad",
                                   "--set",
                                   "crawl.checkpoint_interval=50ms",
                                   "--set",
                                   "fetch.first_byte_timeout=4m",
                                   Url("slow.example", "/")};
  for (const std::string& seed : Seeds(5)) args.push_back(seed);
  const pid_t process = Start(CrawlArgs(args));
  ASSERT_TRUE(WaitForRequests(300, process));
  for (int i = 0; i < 10; ++i) {
    const Ended report = Report({"--json"});
    EXPECT_EQ(report.code, kSuccess) << report.err;
    const Json json = Json::parse(report.out, nullptr, false);
    ASSERT_TRUE(json.is_object());
    if (!json["status"].is_object()) continue;  // no checkpoint yet
    EXPECT_TRUE(json["status"]["end"].is_null());
  }
  // The second does not wait for that page.
  kill(process, SIGINT);
  kill(process, SIGTERM);
  EXPECT_EQ(Wait(process).code, kSuccess);
}

TEST_F(ReportCmdTest, DamageIsOneLineAndAnExitCode) {
  CrawlSome();
  const std::string history = ReadAll(Job() + "/history");
  std::ofstream(Job() + "/history", std::ios::binary)
      << history.substr(0, 30) << "x" << history.substr(31);
  Ended ended = Report({});
  EXPECT_EQ(ended.code, kUnsound);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_NE(ended.err.find("history"), std::string::npos) << ended.err;
  EXPECT_TRUE(IsPage(ReadAll(Job() + "/report.html")));

  std::ofstream(Job() + "/job.toml", std::ios::binary) << "nonsense";
  ended = Report({});
  EXPECT_EQ(ended.code, kUnsound);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_NE(ended.err.find("job.toml"), std::string::npos) << ended.err;
}

TEST_F(ReportCmdTest, AJobWithoutManifestsIsOneLine) {
  CrawlSome();
  std::filesystem::remove_all(Job() + "/manifests");
  const Ended ended = Report({});
  EXPECT_EQ(ended.code, kFailed);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_NE(ended.err.find("manifests"), std::string::npos) << ended.err;
}

TEST_F(ReportCmdTest, AFolderWithoutAJobIsOneLine) {
  const Ended ended = Report({});
  EXPECT_EQ(ended.code, kFailed);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_NE(ended.err.find(Job()), std::string::npos) << ended.err;
  EXPECT_EQ(Run({"report"}).code, kUsage);
}

}  // namespace
}  // namespace nephila::cli
