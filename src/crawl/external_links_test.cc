// A page whose links to other hosts are two each (`scope.external_links`),
// taken by a frontier that is full in the middle of it and then killed.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/random.h"
#include "config/profile.h"
#include "crawl/frontier.h"
#include "crawl/visit_reader.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

constexpr uint64_t kSeed = 7;
constexpr size_t kLinks = 15000;

class ExternalLinksTest : public testing::Test {
 protected:
  ExternalLinksTest()
      : settings_(config::SettingsOf(config::Profile::kBroad)),
        canonicalizer_(settings_.url, suffixes_, kSeed) {
    settings_.scope.bounds = config::ScopeBounds::kAll;
    settings_.scope.external_links = config::ExternalLinks::kCombined;
    settings_.crawl.memory_bytes = uint64_t{2} << 20;
    // So that `seen` is full within a page.
    settings_.crawl.disk_bytes = uint64_t{2} << 20;
    for (const char* stage :
         {"seen", "reputation", "budget", "robots", "ready"}) {
      MustDo(fs_.MakeDirs(std::string("job/") + stage));
    }
  }

  Frontier::Parts PartsOfFrontier() {
    return {fs_, clock_, workers_, settings_, suffixes_, "job", kSeed};
  }

  // The page's entry, as downloader and replay read it.
  FinishedVisit ReadPage() {
    std::string body;
    Random random(1);
    for (size_t i = 0; i < kLinks; ++i) {
      body += "<a href='http://h" + std::to_string(i) + ".test/";
      // Nothing that could be packed.
      for (int j = 0; j < 20; ++j) body += std::to_string(random.Next());
      body += "'>";
    }
    FinishedVisit finished;
    finished.entry = 1;
    finished.record = RecordOf("http://a.test/");
    finished.outcome = item::FetchOutcome::kResponse;
    finished.status = 200;
    item::FetchedPage page;
    page.outcome = item::FetchOutcome::kResponse;
    page.url = "http://a.test/";
    page.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    const std::string_view pieces[] = {body};
    page.body = pieces;
    VisitReader reader(settings_, suffixes_, kSeed, /*budgets=*/true);
    reader.ReadPage(page, &finished);
    return finished;
  }

  std::string RecordOf(std::string_view url) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    std::string bytes;
    item::AppendUrlRecord(url::MakeUrlRecord(*canonical), bytes);
    return bytes;
  }

  MemoryFileSystem fs_;
  ManualClock clock_;
  Workers workers_{0};
  config::Settings settings_;
  const url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_;
};

TEST_F(ExternalLinksTest, NeitherOfTheTwoIsLostInTheMiddleOfAPage) {
  settings_.parse.max_links = 2 * kLinks;
  const FinishedVisit page = ReadPage();
  ASSERT_EQ(page.found.out, 2 * kLinks);
  ASSERT_EQ(page.found.roots, kLinks);
  auto frontier = Must(Frontier::Create(PartsOfFrontier()));
  // Whose page it was is not known to this frontier: it is a seed's entry.
  FinishedVisit entry = page;
  entry.is_seed = true;
  frontier->Take(entry, /*replayed=*/true);
  size_t stops = 0;
  size_t odd = 0;
  uint64_t taken = 0;
  for (int i = 0; i < 10'000 && frontier->entry() < 1; ++i) {
    if (Must(frontier->Absorb())) continue;
    // A stage is full, and commits make room.
    ASSERT_TRUE(frontier->is_mid_entry());
    const ManifestParts manifest = Must(frontier->BeginCheckpoint());
    MustDo(frontier->FinishCheckpoint());
    const uint64_t now = frontier->seen().account().Totals().in;
    if (now == taken) continue;
    // The process is killed, and the next goes on from the manifest.
    taken = now;
    odd += taken % 2;
    ++stops;
    frontier.reset();
    fs_.KillProcess();
    frontier = Must(Frontier::Open(PartsOfFrontier(), manifest));
    ASSERT_EQ(frontier->seen().account().Totals().in, taken);
    frontier->Take(entry, /*replayed=*/true);
  }
  EXPECT_EQ(frontier->entry(), 1U);
  EXPECT_GT(stops, 2U);
  EXPECT_GT(odd, 0U) << "no stop was between the two";
  const StageTotals seen = frontier->seen().account().Totals();
  EXPECT_EQ(seen.in, 2 * kLinks);
  EXPECT_EQ(seen.DroppedSum(), 0U);
}

}  // namespace
}  // namespace nephila::crawl
