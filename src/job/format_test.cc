// The formats are those of the golden files (testdata/job).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/source_path_testing.h"
#include "job/entry.h"
#include "job/job_file.h"
#include "job/journal_file.h"
#include "job/journal_reader.h"
#include "job/manifest.h"

namespace nephila::job {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kSalt = 0x0123456789abcdef;

std::string ReadGolden(const std::string& name) {
  std::ifstream file(SourcePath("testdata/job/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Golden(const std::string& name, const std::string& written) {
  std::string golden = ReadGolden(name);
  if (written != golden) {
    const std::string path = ::testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << "the bytes have changed; they are in " << path;
  }
  return golden;
}

std::vector<Entry> GoldenEntries() {
  Entry seed;
  seed.kind = EntryKind::kSeed;
  seed.when = WallTime(std::chrono::seconds(1'767'225'600));
  seed.record = "seed";
  seed.text = "label";
  Entry robots;
  robots.kind = EntryKind::kRobots;
  robots.when = seed.when + milliseconds(200);
  robots.record = "robots";
  robots.outcome = item::FetchOutcome::kResponse;
  robots.status = 200;
  robots.attempt = 1;
  robots.budget = 10;
  robots.body_bytes = 123;
  robots.archive = ArchivePlace{0, 1, 0, 700};
  robots.host_wait = milliseconds(1000);
  robots.address_wait = milliseconds(500);
  robots.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};
  robots.robots_end = item::RobotsFetchEnd::kAnswer;
  robots.robots_status = 200;
  robots.rules = "rules";
  robots.crawl_delay = milliseconds(1500);
  Entry page = robots;
  page.kind = EntryKind::kPage;
  page.when += milliseconds(1700);
  page.record = "page";
  page.place = 300;
  page.outcome = item::FetchOutcome::kTimeout;
  page.status = 0;
  page.retry = true;
  page.archive.reset();
  page.url_wait = milliseconds(60'000);
  page.address = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  page.host_failures = 1;
  page.host_overloads = 2;
  page.robots_end = Entry().robots_end;
  page.robots_status = 0;
  page.rules = "";
  page.crawl_delay.reset();
  Entry hop = robots;
  hop.status = 301;
  hop.retry = hop.goes_on = true;
  hop.next = "next";
  hop.host = 0x0123456789abcdef;
  hop.original = ArchivePlace{1, 2, 3, 4};
  hop.robots_end = Entry().robots_end;
  hop.robots_status = 0;
  hop.rules = "";
  hop.crawl_delay.reset();
  Entry command;
  command.kind = EntryKind::kCommand;
  command.when = page.when + milliseconds(1);
  command.text = "pause";
  return {seed, robots, page, hop, command};
}

TEST(JobFormat, TheJournalIsThatOfTheGoldenFile) {
  std::string written = JournalHead(7, kSalt);
  uint64_t number = 7;
  for (const Entry& entry : GoldenEntries()) {
    std::string bytes;
    AppendEntry(entry, bytes);
    AppendFrame(written, bytes, JournalEntrySalt(kSalt, number++));
  }
  MemoryFileSystem fs;
  MustDo(EnsureDir(fs, "journal"));
  Put(fs, "journal/journal-00000007.log", Golden("journal-v2", written));
  JournalReader reader = Must(JournalReader::Open(fs, "journal", 8));
  EXPECT_EQ(reader.salt(), kSalt);
  for (size_t i = 1; i < GoldenEntries().size(); ++i) {
    const auto entry = Must(reader.Next());
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->number, 7 + i);
    const auto read = ReadEntry(entry->bytes);
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(*read, GoldenEntries()[i]);
  }
  EXPECT_FALSE(Must(reader.Next()).has_value());
}

TEST(JobFormat, TheJournalOfAnEarlierNephilaIsRefusedByItsVersion) {
  MemoryFileSystem fs;
  MustDo(EnsureDir(fs, "journal"));
  Put(fs, "journal/journal-00000007.log", ReadGolden("journal-v1"));
  EXPECT_FAILS(JournalReader::Open(fs, "journal", 8), kUnsupported,
               "journal-00000007.log: version 1 of the journal is that of an "
               "earlier nephila, this one has version 2");
}

TEST(JobFormat, AManifestIsThatOfTheGoldenFile) {
  const Manifest manifest{
      300, {{"journal", "9"}, {"seen", std::string(3, '\0')}, {"waits", ""}}};
  std::string written;
  AppendManifest(manifest, kSalt, written);
  EXPECT_EQ(Must(ReadManifest(Golden("manifest-v2", written), 300, kSalt)),
            manifest);
}

// Its bytes change with the table of settings; what was written stays good.
TEST(JobFormat, TheFileOfAJobIsReadAsItWasWritten) {
  const JobFile file = Must(ReadJobFile(ReadGolden("job-v1.toml"), "job.toml"));
  EXPECT_EQ(file.key_seed, kSalt);
  EXPECT_EQ(file.made, "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(file.version, "0.1.0");
  EXPECT_EQ(file.profile, config::Profile::kSite);
  EXPECT_EQ(file.suffix_list_crc, 0xe3069283U);
  EXPECT_EQ(file.suffix_list_bytes, 9U);
  config::Settings settings;
  settings.url.www = config::WwwMode::kStrip;
  EXPECT_OK(CheckFixed(file, settings, "job"));
}

}  // namespace
}  // namespace nephila::job
