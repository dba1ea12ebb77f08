#include "crawl/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::crawl {
namespace {

class ScopeTest : public testing::Test {
 protected:
  // The name of the reason, or "" if it belongs.
  std::string Refused(const Scope& scope, std::string_view url,
                      uint32_t depth = 0) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    record.depth = depth;
    const auto reason = scope.Refuses(record);
    if (!reason) return "";
    return std::string(kScopeDropNames.at(static_cast<size_t>(*reason)));
  }
  Scope With(config::ScopeBounds bounds, int64_t depth = 0) {
    config::ScopeSettings settings;
    settings.bounds = bounds;
    settings.max_depth = depth;
    return {settings, suffixes_};
  }

  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, 1};
};

TEST_F(ScopeTest, ASiteIsARegistrableDomain) {
  Scope scope = With(config::ScopeBounds::kSite);
  EXPECT_EQ(Refused(scope, "http://example.com/"), "other-site");
  scope.Widen("www.example.com");
  EXPECT_EQ(Refused(scope, "http://example.com/"), "");
  EXPECT_EQ(Refused(scope, "https://a.b.example.com:8080/x"), "");
  EXPECT_EQ(Refused(scope, "http://example.org/"), "other-site");
  EXPECT_EQ(Refused(scope, "http://notexample.com/"), "other-site");
  // Two names of one suffix are two sites, also if the suffix is private.
  scope.Widen("alice.github.io");
  EXPECT_EQ(Refused(scope, "http://alice.github.io/"), "");
  EXPECT_EQ(Refused(scope, "http://bob.github.io/"), "other-site");
  scope.Widen("a.co.uk");
  EXPECT_EQ(Refused(scope, "http://b.co.uk/"), "other-site");
  EXPECT_EQ(scope.sites(), 3U);
}

TEST_F(ScopeTest, AnAddressIsASiteOfItsOwn) {
  Scope scope = With(config::ScopeBounds::kSite);
  scope.Widen("192.0.2.1");
  scope.Widen("[2001:db8::1]");
  EXPECT_EQ(Refused(scope, "http://192.0.2.1/"), "");
  EXPECT_EQ(Refused(scope, "http://192.0.2.1:81/"), "");
  EXPECT_EQ(Refused(scope, "http://198.51.2.1/"), "other-site");
  EXPECT_EQ(Refused(scope, "http://[2001:db8::1]/"), "");
  EXPECT_EQ(Refused(scope, "http://[2001:db8::2]/"), "other-site");
  scope.Widen("localhost");
  EXPECT_EQ(Refused(scope, "http://localhost/"), "");
}

TEST_F(ScopeTest, AHostIsItsNameAlone) {
  Scope scope = With(config::ScopeBounds::kHost);
  scope.Widen("www.example.com");
  EXPECT_EQ(Refused(scope, "http://www.example.com/"), "");
  EXPECT_EQ(Refused(scope, "http://example.com/"), "other-site");
}

TEST_F(ScopeTest, DepthBoundsAllCrawls) {
  Scope all = With(config::ScopeBounds::kAll, 2);
  EXPECT_EQ(Refused(all, "http://example.com/", 2), "");
  EXPECT_EQ(Refused(all, "http://example.com/", 3), "too-deep");
  all.Widen("example.com");
  EXPECT_EQ(all.sites(), 0U);  // nothing to remember
  EXPECT_EQ(Refused(With(config::ScopeBounds::kAll), "http://a.com/", 1 << 20),
            "");
}

TEST_F(ScopeTest, SitesAreKept) {
  Scope scope = With(config::ScopeBounds::kSite);
  scope.Widen("b.example.org");
  scope.Widen("example.com");
  std::string bytes;
  ByteWriter writer(bytes);
  scope.Write(writer);
  Scope again = With(config::ScopeBounds::kSite);
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader));
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(Refused(again, "http://example.org/"), "");
  EXPECT_EQ(Refused(again, "http://example.com/"), "");
  EXPECT_EQ(Refused(again, "http://example.net/"), "other-site");
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader part(std::string_view(bytes).substr(0, size));
    Scope none = With(config::ScopeBounds::kSite);
    EXPECT_FALSE(none.Read(part)) << size;
  }
}

}  // namespace
}  // namespace nephila::crawl
