#include "cli/robots_cmd.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace nephila::cli {
namespace {

class RobotsCmdTest : public testing::Test {
 protected:
  RobotsCmdTest()
      : path_(testing::TempDir() + "robots_cmd_" + std::to_string(getpid())) {
    options_.file = path_;
  }
  ~RobotsCmdTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
  }

  std::vector<nlohmann::json> Run(const std::string& input = "",
                                  const SetupOptions& setup_options = {}) {
    auto setup = LoadSetup(setup_options);
    EXPECT_TRUE(setup.has_value());
    std::istringstream in(input);
    std::ostringstream out;
    Status status = RunRobots(*setup, options_, in, out);
    error_ = status ? "" : status.error().message;
    std::vector<nlohmann::json> lines;
    std::istringstream text(out.str());
    for (std::string line; std::getline(text, line);) {
      lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
  }

  std::string path_;
  RobotsOptions options_;
  std::string error_;
};

TEST_F(RobotsCmdTest, PrintsALineOfJsonPerUrl) {
  Write(
      "User-agent: *\nDisallow: /\n"
      "User-agent: Nephila\nCrawl-delay: 2.5\nDisallow: /a*b$\nAllow: /c\n");
  options_.urls = {"https://x.example/a/b", "http://x.example/a/b?q", "/c/d",
                   "e", "http://x.example/robots.txt"};
  auto lines = Run();
  ASSERT_EQ(lines.size(), 5u) << error_;
  EXPECT_EQ(lines[0].dump(),
            R"({"allowed":false,"crawl_delay":2.5,"line":5,)"
            R"("rule":"Disallow: /a*b$","url":"https://x.example/a/b"})");
  EXPECT_EQ(lines[1]["allowed"], true);
  EXPECT_TRUE(lines[1]["rule"].is_null());
  EXPECT_TRUE(lines[1]["line"].is_null());
  EXPECT_EQ(lines[2]["rule"], "Allow: /c");
  EXPECT_EQ(lines[2]["line"], 6);
  EXPECT_EQ(lines[3]["allowed"], true);
  EXPECT_EQ(lines[4]["allowed"], true);
  options_.agent = "other/2.0";
  lines = Run();
  EXPECT_EQ(lines[0]["line"], 2);
  EXPECT_TRUE(lines[0]["crawl_delay"].is_null());
  EXPECT_EQ(lines[4]["allowed"], true);
}

TEST_F(RobotsCmdTest, WhatIsNoUrlOfASiteIsAFailure) {
  Write("");
  options_.urls = {"http://a b/", "mailto:x@y", "http://a/\xff", ""};
  auto lines = Run();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["failure"], "invalid-host");
  EXPECT_FALSE(lines[0].contains("allowed"));
  EXPECT_EQ(lines[1]["failure"], "scheme");
  EXPECT_EQ(lines[2]["allowed"], true);
  EXPECT_EQ(lines[3]["allowed"], true);
}

TEST_F(RobotsCmdTest, ReadsUrlsOrTheFileFromTheInput) {
  Write("User-agent: *\nDisallow: /a\n");
  options_.from_input = true;
  auto lines = Run("http://x/a\r\n/b\n\n/ab");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["allowed"], false);
  EXPECT_EQ(lines[1]["allowed"], true);
  EXPECT_EQ(lines[3]["allowed"], false);
  options_.file = "-";
  EXPECT_TRUE(Run("x").empty());
  EXPECT_NE(error_.find("on the command line"), std::string::npos) << error_;
  options_.from_input = false;
  options_.urls = {"/q"};
  lines = Run("User-agent: *\nDisallow: /q\n");
  ASSERT_EQ(lines.size(), 1u) << error_;
  EXPECT_EQ(lines[0]["line"], 2);
}

TEST_F(RobotsCmdTest, CheckDescribesTheFile) {
  Write(
      "User-agent: *\nDisalow: /\nCrawl-delay: 3\nnonsense\n"
      "Sitemap: http://x/s.xml\nUser-agent: b c\n");
  options_.check = true;
  options_.from_input = true;  // as without URLs: but then none are read
  auto lines = Run("/not-read\n");
  ASSERT_EQ(lines.size(), 1u) << error_;
  EXPECT_EQ(lines[0]["group"], "everyone");
  EXPECT_EQ(lines[0]["agent"], "nephila");
  EXPECT_EQ(lines[0]["groups"], 2);
  EXPECT_EQ(lines[0]["lines"], 6);
  EXPECT_EQ(lines[0]["rules"], 1);
  EXPECT_EQ(lines[0]["cut"], false);
  EXPECT_EQ(lines[0]["crawl_delay"], 3.0);
  EXPECT_EQ(lines[0]["sitemaps"], nlohmann::json({"http://x/s.xml"}));
  EXPECT_EQ(lines[0]["deviations"].dump(),
            R"({"agent-name":1,"misspelled":1,"no-directive":1})");
  EXPECT_EQ(lines[0]["findings"].dump(),
            R"([{"kind":"misspelled","line":2},{"kind":"no-directive",)"
            R"("line":4},{"kind":"agent-name","line":6}])");
  options_.from_input = false;
  options_.urls = {"/x"};
  EXPECT_EQ(Run().size(), 2u);
}

TEST_F(RobotsCmdTest, LongFilesAreCutByTheSetting) {
  std::string text = "User-agent: *\nDisallow: /a\n";
  while (text.size() < 600000) text += "#23456789\n";
  Write(text + "Disallow: /b\n");
  options_.check = true;
  options_.urls = {"/a", "/b"};
  auto lines = Run();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["cut"], true);
  EXPECT_EQ(lines[1]["allowed"], false);
  EXPECT_EQ(lines[2]["allowed"], true);
  SetupOptions setup;
  setup.assignments = {"robots.max_size=1MiB"};
  lines = Run("", setup);
  EXPECT_EQ(lines[0]["cut"], false);
  EXPECT_EQ(lines[2]["allowed"], false);
}

TEST_F(RobotsCmdTest, ErrorsSayWhatIsWrong) {
  options_.urls = {"/"};
  EXPECT_TRUE(Run().empty());
  EXPECT_NE(error_.find(path_), std::string::npos) << error_;
  options_.file.clear();
  Run();
  EXPECT_EQ(error_, "robots: --file is missing");
  options_.file = path_;
  options_.agent = "(x)";
  Run();
  EXPECT_EQ(error_, "--agent (x): begins with no product token");
}

}  // namespace
}  // namespace nephila::cli
