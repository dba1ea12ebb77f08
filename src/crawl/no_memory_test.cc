// Memory that runs out while a page is read: the page costs its links, not the
// process. Any allocation of the reading may be the one that fails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "config/settings.h"
#include "crawl/guarded_reader.h"
#include "crawl/visit.h"
#include "crawl/visit_reader.h"
#include "item/url_record.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"
#include "url/record_keys.h"

namespace {

// Allocations of this thread until one fails; negative: none does.
thread_local int64_t allocations_left = -1;

void* AllocateOrNull(size_t size) noexcept {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(size == 0 ? 1 : size);
}

void* Allocate(size_t size) {
  void* const memory = AllocateOrNull(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
// All forms are replaced: the sanitizer has its own for each that is not, and
// refuses memory that comes from one and goes back to the other.
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return AllocateOrNull(size);
}
void* operator new[](size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return AllocateOrNull(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace nephila::crawl {
namespace {

constexpr uint64_t kSeed = 11;

class NoMemoryTest : public testing::Test {
 protected:
  NoMemoryTest() {
    const auto canonical = canonicalizer_.Canonicalize(kUrl, nullptr);
    item::AppendUrlRecord(url::MakeUrlRecord(*canonical), record_);
  }

  FinishedVisit Visit() const {
    FinishedVisit visit;
    visit.entry = 1;
    visit.record = record_;
    visit.outcome = item::FetchOutcome::kResponse;
    visit.status = 200;
    return visit;
  }
  // Reads the page again and again, with the first allocation failing, then
  // the second, and so on until none does. Returns how many failed.
  int ReadWithFailures(std::string_view head, std::string_view body) {
    item::FetchedPage page;
    page.outcome = item::FetchOutcome::kResponse;
    page.url = kUrl;
    page.response_head = head;
    page.body = std::span(&body, 1);
    VisitReader sound(settings_, suffixes_, kSeed, /*budgets=*/true);
    FinishedVisit expected = Visit();
    sound.ReadPage(page, &expected);
    VisitReader reader(settings_, suffixes_, kSeed, /*budgets=*/true);
    GuardedReader guarded({reader, nullptr, 0, kSeed});
    int failed = 0;
    while (true) {
      FinishedVisit visit = Visit();
      allocations_left = failed;
      const Status status = guarded.ReadPage(page, &visit);
      allocations_left = -1;
      EXPECT_TRUE(status.has_value());
      if (!visit.out_of_memory) {
        // The reader is as good as new.
        EXPECT_EQ(visit.links, expected.links);
        EXPECT_EQ(visit.found.out, expected.found.out);
        return failed;
      }
      EXPECT_TRUE(visit.links.empty());
      EXPECT_EQ(visit.found.links, 0U);
      if (++failed > 100'000) return failed;
    }
  }

  static constexpr std::string_view kUrl = "http://a.example/page";
  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, kSeed};
  std::string record_;
};

TEST_F(NoMemoryTest, AnyAllocationOfAPageMayFail) {
  std::string body = "<base href='http://b.example/deep/'><title>T</title>";
  for (int i = 0; i < 50; ++i) {
    body.append("<a href='/link-").append(std::to_string(i)).append("'>");
  }
  EXPECT_GT(ReadWithFailures("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                             "Link: </next>; rel=next\r\n\r\n",
                             body),
            10);
}

TEST_F(NoMemoryTest, AnyAllocationOfACodedPageMayFail) {
  const std::string body =
      "5\r\nhello\r\n12\r\n<a href='/chunked'>\r\n0\r\n\r\n";
  for (const std::string_view coding : {"gzip", "br", "zstd", "deflate"}) {
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: " +
        std::string(coding) + "\r\n\r\n";
    EXPECT_GT(ReadWithFailures(head, body), 5) << coding;
  }
}

TEST_F(NoMemoryTest, AnyAllocationOfASitemapMayFail) {
  std::string body =
      "<?xml version='1.0'?><urlset "
      "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
  for (int i = 0; i < 50; ++i) {
    body.append("<url><loc>http://a.example/")
        .append(std::to_string(i))
        .append("</loc></url>");
  }
  body.append("</urlset>");
  EXPECT_GT(ReadWithFailures("HTTP/1.1 200 OK\r\nContent-Type: "
                             "application/xml\r\n\r\n",
                             body),
            10);
}

}  // namespace
}  // namespace nephila::crawl
