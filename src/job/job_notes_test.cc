// What people leave in a job's folder: settings, black lists, commands.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/file.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "config/load.h"
#include "job/blocked.h"
#include "job/commands.h"
#include "job/kept_settings.h"

namespace nephila::job {
namespace {

using std::chrono::seconds;

class JobNotesTest : public testing::Test {
 protected:
  JobNotesTest() {
    MustDo(fs_.MakeDir("job"));
    MustDo(fs_.SyncDir("."));
  }
  std::string Text(const std::string& name) {
    return Must(ReadWholeFile(fs_, "job/" + name, 1 << 20));
  }
  void Put(const std::string& name, std::string_view text) {
    MustDo(PublishFile(fs_, "job/" + name, text));
  }

  MemoryFileSystem fs_;
};

TEST_F(JobNotesTest, SettingsAreKeptAndApplied) {
  KeptSettings kept = Must(KeptSettings::Read(fs_, "job"));
  EXPECT_TRUE(kept.values().empty());
  config::Settings settings;
  MustDo(config::ApplySet("politeness.host_delay=7s", &settings));
  MustDo(config::ApplySet("scope.deny=[\"a,b\", \"c d\"]", &settings));
  // Also one that has the default's value: it lies over another profile.
  for (const char* name :
       {"politeness.host_delay", "scope.deny", "crawl.max_pages"}) {
    kept.Keep(name, settings);
  }
  MustDo(kept.Write(fs_, "job"));
  fs_.LosePower(LossMode::kNothingUnsynced);
  const KeptSettings read = Must(KeptSettings::Read(fs_, "job"));
  EXPECT_EQ(read.values(), kept.values());
  EXPECT_EQ(read.values().size(), 3U);
  config::Settings other;
  other.crawl.max_pages = 99;
  other.crawl.threads = 5;
  read.Apply(&other);
  EXPECT_EQ(other.politeness.host_delay, seconds(7));
  EXPECT_EQ(other.scope.deny, (std::vector<std::string>{"a,b", "c d"}));
  EXPECT_EQ(other.crawl.max_pages, 0);
  EXPECT_EQ(other.crawl.threads, 5);
}

TEST_F(JobNotesTest, SettingsThatAreNoneAreNamedWithTheirLine) {
  Put("settings.toml", "# by hand\npoliteness.host_dealy = \"3s\"\n");
  const auto kept = KeptSettings::Read(fs_, "job");
  ASSERT_FALSE(kept);
  EXPECT_TRUE(kept.error().message.starts_with("job/settings.toml:2:"))
      << kept.error().message;
}

TEST_F(JobNotesTest, BlockedEntriesHaveAKindAndAWord) {
  EXPECT_EQ(*BlockedLine("www.example.org"), "host www.example.org");
  EXPECT_EQ(*BlockedLine("  domain   example.org "), "domain example.org");
  EXPECT_EQ(*BlockedLine("address 10.0.0.0/8"), "address 10.0.0.0/8");
  for (const std::string& entry :
       {std::string(), std::string(" "), std::string("# x"),
        std::string("hots a.org"), std::string("host a b"),
        std::string("a\nhost b"), std::string(10'000, 'a'),
        std::string("host ")}) {
    EXPECT_FALSE(BlockedLine(entry)) << entry;
  }
}

TEST_F(JobNotesTest, BlockedLinesAreAddedDurably) {
  MustDo(AppendBlocked(fs_, "job", {"host a.org"}));
  fs_.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Text("blocked"), "host a.org\n");
  // Somebody wrote one by hand, without its end.
  Put("blocked", "host a.org\nhost b.org");
  MustDo(AppendBlocked(fs_, "job", {"host c.org"}));
  EXPECT_EQ(Text("blocked"), "host a.org\nhost b.org\nhost c.org\n");
}

TEST_F(JobNotesTest, ManyBlockedLinesCostTheDiskWhatOneDoes) {
  const auto operations = [this](const std::vector<std::string>& lines) {
    FaultyFileSystem counting(fs_, 1);
    MustDo(AppendBlocked(counting, "job", lines));
    return counting.operations();
  };
  MustDo(AppendBlocked(fs_, "job", {"host first.org"}));
  const std::vector<std::string> many(100, "host a.org");
  const uint64_t of_many = operations(many);
  EXPECT_EQ(of_many, operations({"host b.org"}));
  std::string wanted = "host first.org\n";
  for (const std::string& line : many) wanted.append(line).append("\n");
  EXPECT_EQ(Text("blocked"), wanted + "host b.org\n");
}

TEST_F(JobNotesTest, CommandsWaitForTheNextRun) {
  EXPECT_TRUE(Must(ReadCommands(fs_, "job")).empty());
  MustDo(AppendCommand(fs_, "job", "retry"));
  MustDo(AppendCommand(fs_, "job", "retry timeout"));
  fs_.LosePower(LossMode::kNothingUnsynced);
  EXPECT_EQ(Must(ReadCommands(fs_, "job")),
            (std::vector<std::string>{"retry", "retry timeout"}));
  MustDo(RemoveCommands(fs_, "job"));
  EXPECT_TRUE(Must(ReadCommands(fs_, "job")).empty());
}

}  // namespace
}  // namespace nephila::job
