#include "store/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/clock.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/source_path_testing.h"
#include "config/settings.h"
#include "store/store_testing.h"

namespace nephila::store {
namespace {

constexpr char kLog[] = "job/logs/crawl.log";

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    options_.folder = "job/archive";
    options_.log_path = kLog;
    options_.seed = 1;
  }

  std::unique_ptr<Store> Open(
      std::optional<StorePosition> checkpoint = std::nullopt) {
    return Must(Store::OpenAt(fs_, clock_, options_, checkpoint));
  }

  std::vector<ReadRecord> Records() {
    std::vector<ReadRecord> all;
    for (const std::string& path : ArchivePaths(fs_, options_.folder)) {
      for (ReadRecord& record : ReadArchive(fs_, path)) {
        all.push_back(std::move(record));
      }
    }
    return all;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  StoreOptions options_;
};

TEST_F(StoreTest, APageIsArchivedIndexedAndLogged) {
  const auto store = Open();
  const TestPage page("http://example.com/");
  const Stored stored = Must(store->Write(page.page));
  ASSERT_TRUE(stored.place.has_value());
  EXPECT_EQ(stored.place->records.size(), 3U);
  EXPECT_EQ(stored.payload_bytes, 12U);
  EXPECT_FALSE(stored.revisit);
  MustDo(store->Finish());
  const auto records = Records();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[2].header.record_id(), stored.record_id);
  EXPECT_EQ(records[2].offset, stored.place->records[1].offset);
  const auto lines = CheckIndex(fs_, ArchivePaths(fs_, options_.folder).at(0));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].key, "com,example)/");
  EXPECT_EQ(lines[0].timestamp, "20260102030405");
  EXPECT_EQ(lines[0].status, "200");
  EXPECT_EQ(lines[0].mime, "text/html");
  EXPECT_EQ("sha1:" + lines[0].digest, stored.payload_digest.Text());
  EXPECT_EQ(Get(fs_, kLog),
            "2026-01-01T00:00:00.000Z   200         12 http://example.com/ - - "
            "text/html #000 20260102030405678+123 " +
                stored.payload_digest.Text() + " - -\n");
  EXPECT_EQ(store->account().Totals().out, 1U);
  EXPECT_EQ(store->account().Imbalance(), 0);
}

TEST_F(StoreTest, RedactsCookiesOfRequestsIfTheSettingSaysSo) {
  TestPage page("http://example.com/");
  page.page.request = "GET / HTTP/1.1\r\nCookie: sid=1\r\n\r\n";
  for (const bool redact : {false, true}) {
    options_.settings.redact_cookies = redact;
    options_.folder = redact ? "job/redacted" : "job/archive";
    options_.log_path = options_.folder + ".log";
    const auto store = Open();
    Must(store->Write(page.page));
    MustDo(store->Finish());
    EXPECT_EQ(Records().at(1).block,
              redact ? "GET / HTTP/1.1\r\nCookie: [redacted]\r\n\r\n"
                     : page.page.request);
  }
}

TEST_F(StoreTest, AnArchiveEndsWhenItsIndexHasNoMoreMemory) {
  options_.settings.index_memory_bytes = 4000;
  const auto store = Open();
  for (int i = 0; i < 40; ++i) {
    Must(
        store->Write(TestPage("http://example.com/" + std::to_string(i)).page));
  }
  MustDo(store->Finish());
  EXPECT_GE(ArchivePaths(fs_, options_.folder).size(), 3U);
}

TEST_F(StoreTest, AFetchWithoutAResponseIsOnlyLogged) {
  const auto store = Open();
  item::FetchedPage page;
  page.url = "http://example.com/";
  page.outcome = item::FetchOutcome::kConnectFailed;
  EXPECT_FALSE(Must(store->Write(page)).place.has_value());
  MustDo(store->Sync());
  EXPECT_EQ(ArchivePaths(fs_, options_.folder).size(), 0U);
  EXPECT_EQ(Get(fs_, kLog),
            "2026-01-01T00:00:00.000Z    -2          - http://example.com/ - - "
            "- #000 - - - connect-failed\n");
  const StageTotals totals = store->account().Totals();
  EXPECT_EQ(totals.in, 1U);
  EXPECT_EQ(totals.dropped[0], 1U);
  EXPECT_EQ(totals.Imbalance(), 0);
}

TEST_F(StoreTest, TheSamePayloadAgainIsARevisit) {
  const auto store = Open();
  const std::string body(5000, 'x');
  const TestPage first("http://example.com/1", body);
  const TestPage second("http://example.com/2", body);
  const Stored original = Must(store->Write(first.page));
  const Stored revisit = Must(store->Write(second.page));
  EXPECT_TRUE(revisit.revisit);
  EXPECT_EQ(revisit.payload_digest, original.payload_digest);
  const auto records = Records();
  ASSERT_EQ(records.size(), 7U);
  EXPECT_EQ(records[5].header.type(), RecordType::kRevisit);
  EXPECT_EQ(records[5].header.GetUri("WARC-Refers-To"), original.record_id);
  EXPECT_EQ(records[5].header.Get("WARC-Refers-To-Target-URI"),
            "http://example.com/1");
  EXPECT_EQ(store->revisits(), 1U);
  // The third refers to the first too, not to the revisit.
  const TestPage third("http://example.com/3", body);
  Must(store->Write(third.page));
  EXPECT_EQ(Records().at(8).header.GetUri("WARC-Refers-To"),
            original.record_id);
  MustDo(store->Finish());
  const auto lines = CheckIndex(fs_, ArchivePaths(fs_, options_.folder).at(0));
  EXPECT_EQ(lines.at(1).mime, "warc/revisit");
  EXPECT_EQ(lines.at(1).status, "200");
}

TEST_F(StoreTest, SmallAndTruncatedPayloadsAreStoredAgain) {
  options_.settings.revisit_min_bytes = 100;
  const auto store = Open();
  const std::string small(99, 'x');
  const std::string large(100, 'x');
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(Must(store->Write(TestPage("http://example.com/", small).page))
                     .revisit);
    TestPage cut("http://example.com/", large);
    cut.page.truncation = item::Truncation::kLength;
    EXPECT_FALSE(Must(store->Write(cut.page)).revisit);
  }
  const TestPage whole("http://example.com/", large);
  EXPECT_FALSE(Must(store->Write(whole.page)).revisit);
  EXPECT_TRUE(Must(store->Write(whole.page)).revisit);
}

TEST_F(StoreTest, WithoutMemoryForThemThereAreNoRevisits) {
  options_.settings.revisit_memory_bytes = 0;
  const auto store = Open();
  const TestPage page("http://example.com/", std::string(5000, 'x'));
  EXPECT_FALSE(Must(store->Write(page.page)).revisit);
  EXPECT_FALSE(Must(store->Write(page.page)).revisit);
}

TEST_F(StoreTest, RobotsAndTheDnsAreKeptToo) {
  const auto store = Open();
  TestPage dns("dns:example.com",
               "20260102030405\nexample.com. 1 IN A 1.2.3.4");
  dns.page.kind = item::FetchKind::kDns;
  dns.page.outcome = item::FetchOutcome::kDnsAnswer;
  Must(store->Write(dns.page));
  TestPage robots("http://example.com/robots.txt", "User-agent: *\n");
  robots.page.kind = item::FetchKind::kRobots;
  Must(store->Write(robots.page));
  MustDo(store->Finish());
  EXPECT_EQ(Records().size(), 5U);
  EXPECT_EQ(CheckIndex(fs_, ArchivePaths(fs_, options_.folder).at(0)).size(),
            2U);
  const std::string log = Get(fs_, kLog);
  EXPECT_NE(log.find("     1         42 dns:example.com - - text/dns"),
            std::string::npos)
      << log;
}

TEST_F(StoreTest, GoesOnBehindACheckpoint) {
  StorePosition checkpoint;
  {
    const auto store = Open();
    Must(store->Write(TestPage("http://example.com/0").page));
    MustDo(store->Sync());
    checkpoint = store->position();
    store->Covered(checkpoint);
    Must(store->Write(TestPage("http://example.com/1").page));
  }
  fs_.LosePower(LossMode::kNothingUnsynced);
  options_.seed = 2;
  const auto store = Open(checkpoint);
  EXPECT_EQ(store->position(), checkpoint);
  Must(store->Write(TestPage("http://example.com/2").page));
  MustDo(store->Finish());
  EXPECT_EQ(Records().size(), 7U);
  const std::string log = Get(fs_, kLog);
  EXPECT_EQ(std::ranges::count(log, '\n'), 2);
}

TEST_F(StoreTest, OnAFullDiskNothingHasHappened) {
  FaultyFileSystem faulty(fs_);
  const auto store =
      Must(Store::OpenAt(faulty, clock_, options_, std::nullopt));
  const TestPage page("http://example.com/", std::string(5000, 'x'));
  for (int i = 0; i < 3; ++i) {
    faulty.FailAt(faulty.operations() + 1, Fault::kNoSpace);
    EXPECT_EQ(CodeOf(store->Write(page.page)), "no space");
  }
  EXPECT_EQ(store->account().Totals().in, 0U);
  const Stored stored = Must(store->Write(page.page));
  EXPECT_FALSE(stored.revisit);
  MustDo(store->Finish());
  EXPECT_EQ(Records().size(), 4U);
  EXPECT_EQ(std::ranges::count(Get(fs_, kLog), '\n'), 1);
}

TEST_F(StoreTest, SettingsThatCannotBeAreRefused) {
  const auto refused = [&](std::string_view what) {
    EXPECT_FAILS(Store::OpenAt(fs_, clock_, options_, std::nullopt),
                 kInvalidArgument, what);
    options_.settings = {};
  };
  options_.settings.prefix = "../evil";
  refused("store.prefix");
  options_.settings.hostname = "a/b";
  refused("store.hostname");
  options_.settings.level = 4;
  refused("store.level: this compressor has levels 0 to 3");
  options_.settings.format = config::ArchiveFormat::kZstd;
  options_.settings.level = 0;
  refused("store.level");
}

TEST_F(StoreTest, SettingsReachTheArchive) {
  options_.settings.format = config::ArchiveFormat::kZstd;
  options_.settings.digest = config::DigestAlgorithm::kSha256;
  options_.settings.prefix = "my";
  options_.settings.hostname = "host";
  options_.info = SettingsInfo({});
  const auto store = Open();
  Must(store->Write(TestPage("http://example.com/").page));
  MustDo(store->Finish());
  const auto paths = ArchivePaths(fs_, options_.folder, "my");
  ASSERT_EQ(paths.size(), 1U);
  EXPECT_TRUE(paths[0].ends_with("-00001-host.warc.zst"));
  for (const ReadRecord& record : ReadArchive(fs_, paths[0])) {
    EXPECT_TRUE(record.header.block_digest().starts_with("sha256:"));
  }
}

TEST(StoreSettingsTest, WhatIsNotAtItsDefaultIsTold) {
  config::Settings settings;
  EXPECT_TRUE(SettingsInfo(settings).empty());
  settings.url.www = config::WwwMode::kAdd;
  settings.store.max_file_bytes = 2'000'000;
  const auto info = SettingsInfo(settings);
  ASSERT_EQ(info.size(), 2U);
  EXPECT_EQ(info[0].first, "setting");
  EXPECT_EQ(info[0].second, "url.www = \"add\"");
  EXPECT_EQ(info[1].second, "store.max_file_size = \"2MB\"");
}

// A page of every kind, whose records and log lines are kept as files: a change
// of what others read is seen. The archive is compared as text, for compressors
// may write other bytes on another machine.
TEST_F(StoreTest, TheFormatIsThatOfTheGoldenFiles) {
  options_.info = {{"software", "nephila/golden"},
                   {"http-header-user-agent", "nephila (+http://a.example/)"},
                   {"robots", "rfc9309"}};
  const auto store = Open();
  TestPage dns("dns:example.com",
               "20260102030405\nexample.com.\t300\tIN\tA\t192.0.2.1\n");
  dns.page.kind = item::FetchKind::kDns;
  dns.page.outcome = item::FetchOutcome::kDnsAnswer;
  dns.page.ip_address = "192.0.2.53";
  Must(store->Write(dns.page));
  TestPage page("http://example.com/a", std::string(1200, 'a'));
  page.page.via = "http://example.com/";
  page.page.hop_path = "L";
  Must(store->Write(page.page));
  TestPage again("https://example.com/b", std::string(1200, 'a'));
  again.SetHead("HTTP/2 200 \ncontent-type: text/html\n");
  const std::string_view protocols[] = {"h2", "tls/1.3"};
  again.page.protocols = protocols;
  again.page.cipher_suite = "TLS_AES_128_GCM_SHA256";
  Must(store->Write(again.page));
  TestPage cut("http://example.com/c", "cut");
  cut.SetHead("HTTP/1.1 404 Not Found\nTransfer-Encoding: chunked\n");
  cut.page.truncation = item::Truncation::kTime;
  cut.page.identified_type = "text/plain";
  Must(store->Write(cut.page));
  TestPage same("http://example.com/a", "");
  same.SetHead("HTTP/1.1 304 Not Modified\n");
  same.page.earlier = item::EarlierCapture{
      "urn:uuid:00000000-0000-4000-8000-000000000001", "http://example.com/a",
      WallTime(std::chrono::seconds(1'700'000'000))};
  Must(store->Write(same.page));
  item::FetchedPage failed;
  failed.url = "http://example.com/private";
  failed.outcome = item::FetchOutcome::kRobotsDenied;
  Must(store->Write(failed));
  MustDo(store->Finish());

  const std::string text =
      Gunzip(Get(fs_, ArchivePaths(fs_, options_.folder).at(0)));
  const std::pair<std::string_view, std::string> files[] = {
      {"golden.warc", text}, {"golden.log", Get(fs_, kLog)}};
  for (const auto& [name, written] : files) {
    std::ifstream file(SourcePath("testdata/store/" + std::string(name)),
                       std::ios::binary);
    const std::string golden(std::istreambuf_iterator<char>(file), {});
    if (written == golden) continue;
    const std::string path = testing::TempDir() + std::string(name);
    std::ofstream(path, std::ios::binary) << written;
    ADD_FAILURE() << name << ": differs; what was written is in " << path;
  }
}

}  // namespace
}  // namespace nephila::store
