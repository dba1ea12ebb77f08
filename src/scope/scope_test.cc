#include "scope/scope.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/file_testing.h"
#include "url/canonicalizer.h"
#include "url/record_keys.h"

namespace nephila::scope {
namespace {

class ScopeTest : public testing::Test {
 protected:
  // Views are into `text_`.
  item::UrlRecord RecordOf(std::string_view url, uint32_t depth = 0,
                           uint32_t flags = 0) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    item::UrlRecord record = url::MakeUrlRecord(*canonical);
    text_ = canonical->href;
    record.url = text_;
    record.depth = depth;
    record.flags = flags;
    return record;
  }
  static std::string NameOf(const std::optional<ScopeDrop>& reason) {
    return std::string(reason ? ScopeDropName(*reason) : "");
  }
  // The name of the reason, or "" if it belongs.
  std::string Refused(const Scope& scope, std::string_view url,
                      uint32_t depth = 0) {
    return NameOf(scope.Refuses(RecordOf(url, depth)));
  }
  std::string Seed(Scope& scope, std::string_view url) {
    return NameOf(scope.TakeSeed(RecordOf(url, 0, item::kFromSeed)));
  }
  Scope With(const config::ScopeSettings& settings) {
    return Must(Scope::Make(settings, suffixes_));
  }
  Scope With(config::ScopeBounds bounds, int64_t depth = 0) {
    config::ScopeSettings settings;
    settings.bounds = bounds;
    settings.max_depth = depth;
    return With(settings);
  }
  std::shared_ptr<const BlockSet> Blocks(std::string_view lines) {
    return std::make_shared<const BlockSet>(
        std::vector<std::shared_ptr<const BlockList>>{
            BlockList::Read("list", lines, canonicalizer_, suffixes_,
                            [](uint32_t line, const Error& why) {
                              ADD_FAILURE() << line << ": " << why.message;
                            })});
  }
  static std::string Saved(const Scope& scope) {
    std::string bytes;
    ByteWriter writer(bytes);
    scope.Write(writer);
    return bytes;
  }
  std::string ErrorOf(const config::ScopeSettings& settings) {
    const auto made = Scope::Make(settings, suffixes_);
    return made.has_value() ? "" : made.error().message;
  }

  config::Settings settings_;
  url::PublicSuffixList suffixes_ = url::PublicSuffixList::BuiltIn();
  url::Canonicalizer canonicalizer_{settings_.url, suffixes_, 1};
  std::string text_;
};

TEST_F(ScopeTest, ASiteIsARegistrableDomain) {
  Scope scope = With(config::ScopeBounds::kSite);
  EXPECT_EQ(Refused(scope, "http://example.com/"), "other-site");
  EXPECT_EQ(Seed(scope, "http://www.example.com/"), "");
  EXPECT_EQ(Refused(scope, "http://example.com/"), "");
  EXPECT_EQ(Refused(scope, "https://a.b.example.com:8080/x"), "");
  EXPECT_EQ(Refused(scope, "http://example.org/"), "other-site");
  EXPECT_EQ(Refused(scope, "http://notexample.com/"), "other-site");
  // Two names of one suffix are two sites, also if the suffix is private.
  EXPECT_EQ(Seed(scope, "http://alice.github.io/"), "");
  EXPECT_EQ(Refused(scope, "http://alice.github.io/"), "");
  EXPECT_EQ(Refused(scope, "http://bob.github.io/"), "other-site");
  EXPECT_EQ(Seed(scope, "http://a.co.uk/"), "");
  EXPECT_EQ(Refused(scope, "http://b.co.uk/"), "other-site");
  EXPECT_EQ(scope.names(), 3U);
}

TEST_F(ScopeTest, AnAddressIsASiteOfItsOwn) {
  Scope scope = With(config::ScopeBounds::kSite);
  EXPECT_EQ(Seed(scope, "http://192.0.2.1/"), "");
  EXPECT_EQ(Seed(scope, "http://[2001:db8::1]/"), "");
  EXPECT_EQ(Refused(scope, "http://192.0.2.1/"), "");
  EXPECT_EQ(Refused(scope, "http://192.0.2.1:81/"), "");
  EXPECT_EQ(Refused(scope, "http://198.51.2.1/"), "other-site");
  EXPECT_EQ(Refused(scope, "http://[2001:db8::1]/"), "");
  EXPECT_EQ(Refused(scope, "http://[2001:db8::2]/"), "other-site");
  EXPECT_EQ(Seed(scope, "http://localhost/"), "");
  EXPECT_EQ(Refused(scope, "http://localhost/"), "");
}

TEST_F(ScopeTest, AHostIsItsNameAlone) {
  Scope scope = With(config::ScopeBounds::kHost);
  EXPECT_EQ(Seed(scope, "http://www.example.com/"), "");
  EXPECT_EQ(Refused(scope, "http://www.example.com/"), "");
  EXPECT_EQ(Refused(scope, "http://example.com/"), "other-site");
}

TEST_F(ScopeTest, DepthBoundsAllCrawls) {
  Scope all = With(config::ScopeBounds::kAll, 2);
  EXPECT_EQ(Refused(all, "http://example.com/", 2), "");
  EXPECT_EQ(Refused(all, "http://example.com/", 3), "too-deep");
  Seed(all, "http://example.com/");
  EXPECT_EQ(all.names(), 0U);  // nothing to remember
  EXPECT_EQ(Refused(With(config::ScopeBounds::kAll), "http://a.com/", 1 << 20),
            "");
}

TEST_F(ScopeTest, ADomainIsAPayLevelDomain) {
  Scope scope = With(config::ScopeBounds::kDomain);
  Seed(scope, "http://alice.github.io/");
  // By ICANN's rules alone github.io is what somebody pays for.
  EXPECT_EQ(Refused(scope, "http://bob.github.io/"), "");
  EXPECT_EQ(Refused(scope, "http://github.com/"), "other-site");
}

TEST_F(ScopeTest, APrefixIsAFolderOfASeed) {
  Scope scope = With(config::ScopeBounds::kPrefix);
  Seed(scope, "http://example.com/docs/index.php?x=1");
  EXPECT_EQ(Refused(scope, "https://example.com/docs/a/b"), "");
  EXPECT_EQ(Refused(scope, "http://example.com/docs/"), "");
  EXPECT_EQ(Refused(scope, "http://example.com/docs"), "other-site");
  EXPECT_EQ(Refused(scope, "http://example.com/documents"), "other-site");
  EXPECT_EQ(Refused(scope, "http://www.example.com/docs/"), "other-site");
  EXPECT_EQ(Refused(scope, "http://example.com:81/docs/"), "other-site");
}

TEST_F(ScopeTest, SurtPrefixesBelongBesidesTheBounds) {
  config::ScopeSettings settings;
  settings.bounds = config::ScopeBounds::kHost;
  settings.surt_prefixes = {"(org,example,", "http://a.test/x/"};
  Scope scope = With(settings);
  Seed(scope, "http://b.test/");
  EXPECT_EQ(Refused(scope, "http://b.test/y"), "");
  EXPECT_EQ(Refused(scope, "http://www.example.org/"), "");
  EXPECT_EQ(Refused(scope, "http://a.test/x/1"), "");
  EXPECT_EQ(Refused(scope, "http://a.test/y"), "other-site");
  settings.surt_prefixes = {"example"};
  EXPECT_EQ(ErrorOf(settings),
            "scope.surt_prefixes: 'example' is no SURT prefix such as "
            "(org,example, and no URL");
}

TEST_F(ScopeTest, APatternOfAllowIsFoundInWhatBelongs) {
  config::ScopeSettings settings;
  settings.allow = {"/docs/", "\\.html$"};
  Scope scope = With(settings);
  EXPECT_EQ(Refused(scope, "http://a.test/docs/1"), "");
  EXPECT_EQ(Refused(scope, "http://a.test/1.html"), "");
  EXPECT_EQ(Refused(scope, "http://a.test/1"), "not-allowed");
  EXPECT_EQ(Seed(scope, "http://a.test/1"), "");
  settings.allow = {"("};
  EXPECT_NE(ErrorOf(settings).find("scope.allow: '('"), std::string::npos);
}

TEST_F(ScopeTest, WhatIsDeniedIsDeniedToSeedsTooAndWidensNothing) {
  config::ScopeSettings settings;
  settings.bounds = config::ScopeBounds::kSite;
  settings.deny = {"[?&]sort="};
  settings.allow = {"."};
  Scope scope = With(settings);
  EXPECT_EQ(Seed(scope, "http://a.test/?sort=1"), "denied");
  EXPECT_EQ(scope.names(), 0U);
  EXPECT_EQ(Seed(scope, "http://a.test/"), "");
  EXPECT_EQ(Refused(scope, "http://a.test/x?a=b&sort=up"), "denied");
  EXPECT_EQ(Refused(scope, "http://a.test/x?a=b"), "");
}

TEST_F(ScopeTest, BlackListsCanBeChanged) {
  Scope scope = With(config::ScopeBounds::kAll);
  EXPECT_EQ(Refused(scope, "http://a.test/"), "");
  scope.SetBlocks(Blocks("host a.test"));
  EXPECT_EQ(Refused(scope, "http://a.test/"), "blocked");
  EXPECT_EQ(Seed(scope, "http://www.a.test/"), "blocked");
  scope.SetBlocks(Blocks("host b.test"));
  EXPECT_EQ(Refused(scope, "http://a.test/"), "");
}

TEST_F(ScopeTest, TheTargetOfARedirectIsBlockedToo) {
  Scope scope = With(config::ScopeBounds::kAll);
  scope.SetBlocks(Blocks("host www.a.test"));
  item::UrlRecord record = RecordOf("http://a.test/");
  EXPECT_EQ(NameOf(scope.Refuses(record)), "");
  record.target = "http://www.a.test/";
  record.followed = 1;
  EXPECT_EQ(NameOf(scope.Refuses(record)), "blocked");
}

TEST_F(ScopeTest, EachRuleIsExplainedByItself) {
  config::ScopeSettings settings;
  settings.bounds = config::ScopeBounds::kSite;
  settings.max_depth = 3;
  settings.deny = {"x", "secret"};
  settings.allow = {"^https:"};
  Scope scope = With(settings);
  scope.SetBlocks(Blocks("# nobody\nhost b.test\n"));
  const auto verdicts = scope.Explain(RecordOf("http://b.test/secret", 4));
  std::string text;
  for (const RuleVerdict& one : verdicts) {
    text.append(one.rule).append(one.passes ? " passes: " : " refuses: ");
    text.append(one.why).append("\n");
  }
  EXPECT_EQ(text,
            "depth refuses: 4 of 3\n"
            "bounds refuses: site of no seed: b.test\n"
            "block refuses: list:2 (host)\n"
            "deny refuses: secret\n"
            "allow refuses: no pattern is found\n");
  for (const RuleVerdict& one :
       With(config::ScopeBounds::kAll).Explain(RecordOf("http://a.test/"))) {
    EXPECT_TRUE(one.passes) << one.rule;
  }
}

TEST_F(ScopeTest, BoundsAreKept) {
  Scope scope = With(config::ScopeBounds::kSite);
  EXPECT_EQ(Seed(scope, "http://b.example.org/"), "");
  EXPECT_EQ(Seed(scope, "http://example.com/"), "");
  const std::string bytes = Saved(scope);
  Scope again = With(config::ScopeBounds::kSite);
  ByteReader reader(bytes);
  ASSERT_TRUE(again.Read(reader).has_value());
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(Saved(again), bytes);
  EXPECT_EQ(Refused(again, "http://example.org/"), "");
  EXPECT_EQ(Refused(again, "http://example.com/"), "");
  EXPECT_EQ(Refused(again, "http://example.net/"), "other-site");
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader part(std::string_view(bytes).substr(0, size));
    Scope none = With(config::ScopeBounds::kSite);
    EXPECT_FALSE(none.Read(part).has_value()) << size;
  }
}

TEST_F(ScopeTest, BoundsBecomeCoarserAndNeverFiner) {
  using config::ScopeBounds;
  Scope folders = With(ScopeBounds::kPrefix);
  Seed(folders, "http://www.alice.github.io/a/b");
  const std::string bytes = Saved(folders);
  const auto read = [&](ScopeBounds bounds, std::string_view from) {
    Scope scope = With(bounds);
    ByteReader reader(from);
    const Status status = scope.Read(reader);
    EXPECT_TRUE(status.has_value());
    return scope;
  };
  const Scope host = read(ScopeBounds::kHost, bytes);
  EXPECT_EQ(Refused(host, "http://www.alice.github.io/c"), "");
  EXPECT_EQ(Refused(host, "http://alice.github.io/"), "other-site");
  // What is finer is kept, and is there again when it is asked for.
  EXPECT_EQ(Saved(host), bytes);
  const Scope site = read(ScopeBounds::kSite, bytes);
  EXPECT_EQ(Refused(site, "http://alice.github.io/"), "");
  EXPECT_EQ(Refused(site, "http://bob.github.io/"), "other-site");
  const Scope domain = read(ScopeBounds::kDomain, bytes);
  EXPECT_EQ(Refused(domain, "http://bob.github.io/"), "");
  // A crawl of all keeps what it was, and can become it again.
  const Scope all = read(ScopeBounds::kAll, bytes);
  EXPECT_EQ(Refused(all, "http://other.test/"), "");
  EXPECT_EQ(Saved(all), bytes);

  // Seeds that come meanwhile count for both.
  Scope wider = read(ScopeBounds::kSite, bytes);
  EXPECT_EQ(Seed(wider, "http://w.b.test/x/1"), "");
  EXPECT_EQ(Refused(wider, "http://b.test/"), "");
  const Scope back = read(ScopeBounds::kPrefix, Saved(wider));
  EXPECT_EQ(Refused(back, "http://w.b.test/x/2"), "");
  EXPECT_EQ(Refused(back, "http://b.test/"), "other-site");

  Scope finer = With(ScopeBounds::kHost);
  Scope sites = With(ScopeBounds::kSite);
  Seed(sites, "http://a.test/");
  const std::string of_site = Saved(sites);
  ByteReader reader(of_site);
  const Status status = finer.Read(reader);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message,
            "scope.bounds: the job was crawled with site and does not know "
            "what host would need");
}

}  // namespace
}  // namespace nephila::scope
