#include "config/live.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "base/source_path_testing.h"
#include "config/load.h"
#include "config/table.h"

namespace nephila::config {
namespace {

TEST(LiveSettingsTest, AreSettingsThatAreNotFixedPerJob) {
  for (const std::string_view name : LiveSettings()) {
    const Row* row = FindRow(AllRows(), name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->change, Change::kAnyTime) << name;
    EXPECT_TRUE(IsLive(name));
  }
  EXPECT_FALSE(IsLive("crawl.memory"));
  EXPECT_FALSE(IsLive("no.such"));
}

TEST(LiveSettingsTest, AreTakenOverAndNothingElseIs) {
  Settings from;
  ASSERT_TRUE(ApplySet("crawl.max_pages=7", &from));
  ASSERT_TRUE(ApplySet("politeness.site_delays=a.org=9s", &from));
  ASSERT_TRUE(ApplySet("crawl.threads=3", &from));
  Settings to;
  TakeLive(from, &to);
  EXPECT_EQ(to.crawl.max_pages, 7);
  EXPECT_EQ(to.politeness.site_delays, StringList{"a.org=9s"});
  EXPECT_EQ(to.crawl.threads, 0);
}

TEST(LiveSettingsTest, AreListedInTheDocs) {
  std::ifstream file(SourcePath("docs/operating.md"));
  std::ostringstream text;
  text << file.rdbuf();
  for (const std::string_view name : LiveSettings()) {
    EXPECT_NE(text.str().find("`" + std::string(name) + "`"), std::string::npos)
        << name;
  }
}

TEST(LiveSettingsTest, OthersAreRefusedInOneLine) {
  EXPECT_EQ(NotLive("crawl.memory").message,
            "crawl.memory cannot change while the crawl runs; stop it and "
            "start it with --set");
}

}  // namespace
}  // namespace nephila::config
