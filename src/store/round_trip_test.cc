// What the stage writes, read by the other half: every archive verifies without
// a word, and each line of its index leads to its record. With
// NEPHILA_INTEROP_DIR the archives stay there for tools/interop.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_testing.h"
#include "base/real_file_system.h"
#include "store/archive_testing.h"
#include "store/store.h"
#include "store/store_testing.h"
#include "store/verify.h"

namespace nephila::store {
namespace {

// Pages of every kind that a crawl meets.
void WritePages(Store& store) {
  std::string page(5'000, 'p');
  Must(store.Write(TestPage("http://example.com/", page).page));
  Must(store.Write(TestPage("http://www.example.com/A/?b=2&a=1").page));
  // The same payload: a revisit.
  EXPECT_TRUE(Must(store.Write(TestPage("http://example.com/again", page).page))
                  .revisit);
  Must(store.Write(TestPage("http://example.com/empty", "").page));
  Must(store.Write(
      TestPage("http://example.com/large", Noise(300'000, 1)).page));

  TestPage chunked("http://example.com/chunked",
                   "4\r\nWiki\r\n6;x=y\r\npedia \r\n0\r\n\r\n");
  chunked.SetHead(
      "HTTP/1.1 200 OK\nContent-Type: text/plain\nTransfer-Encoding: "
      "chunked\n\n");
  chunked.page.transfer_coding = item::TransferCoding::kChunked;
  Must(store.Write(chunked.page));

  TestPage packed("https://example.com/packed", GzipMember(page));
  packed.SetHead(
      "HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\n"
      "Content-Encoding: gzip\n\n");
  Must(store.Write(packed.page));

  TestPage moved("http://example.com/moved", "");
  moved.SetHead("HTTP/1.1 301 Moved\nLocation: http://example.com/\n\n");
  Must(store.Write(moved.page));

  TestPage cut("http://example.com/cut", "half of it");
  cut.page.truncation = item::Truncation::kLength;
  Must(store.Write(cut.page));

  TestPage robots("http://example.com/robots.txt", "User-agent: *\n");
  robots.page.kind = item::FetchKind::kRobots;
  Must(store.Write(robots.page));

  TestPage dns("dns:example.com",
               "20260102030405\nexample.com. 1 IN A 1.2.3.4");
  dns.page.kind = item::FetchKind::kDns;
  dns.page.outcome = item::FetchOutcome::kDnsAnswer;
  Must(store.Write(dns.page));
}

std::string Folder() {
  if (const char* folder = std::getenv("NEPHILA_INTEROP_DIR")) return folder;
  return testing::TempDir() + "round_trip_" + std::to_string(getpid());
}

class RoundTrip
    : public testing::TestWithParam<
          std::tuple<const char*, config::ArchiveFormat, config::GzipLibrary>> {
};

TEST_P(RoundTrip, VerifiesWithoutAWord) {
  const auto& [name, format, library] = GetParam();
  auto fs = MakeRealFileSystem();
  ManualClock clock;
  StoreOptions options;
  std::string root = Folder();
  options.folder = root + "/" + name;
  options.log_path = options.folder + "/crawl.log";
  options.seed = 1;
  options.settings.format = format;
  options.settings.gzip_library = library;
  options.info = {{"software", "nephila"}, {"robots", "obey"}};
  std::filesystem::remove_all(options.folder);
  {
    auto store = Must(Store::OpenAt(*fs, clock, options, std::nullopt));
    WritePages(*store);
    MustDo(store->Finish());
  }
  auto archives = ArchivePaths(*fs, options.folder);
  ASSERT_EQ(archives.size(), 1U);
  auto report =
      Must(VerifyArchive(*fs, archives[0], {}, [](const Finding& finding) {
        ADD_FAILURE() << finding.offset << ": " << finding.what;
      }));
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.has_index);
  EXPECT_GE(report.records, 30U);
  EXPECT_GE(report.digests, report.records);
  EXPECT_EQ(CheckIndex(*fs, archives[0]).size(), 11U);
  // The index that is made again from the archive is the one that was written.
  std::string written =
      Get(*fs, archives[0].substr(0, archives[0].find(".warc")) + ".cdxj");
  Must(RebuildIndex(*fs, archives[0]));
  EXPECT_EQ(
      Get(*fs, archives[0].substr(0, archives[0].find(".warc")) + ".cdxj"),
      written);
  if (std::getenv("NEPHILA_INTEROP_DIR") == nullptr) {
    std::filesystem::remove_all(root);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RoundTrip,
    testing::Values(std::tuple("isal", config::ArchiveFormat::kGzip,
                               config::GzipLibrary::kIsal),
                    std::tuple("libdeflate", config::ArchiveFormat::kGzip,
                               config::GzipLibrary::kLibdeflate),
                    std::tuple("zlib", config::ArchiveFormat::kGzip,
                               config::GzipLibrary::kZlib),
                    std::tuple("zstd", config::ArchiveFormat::kZstd,
                               config::GzipLibrary::kIsal)));

}  // namespace
}  // namespace nephila::store
