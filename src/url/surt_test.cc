#include "url/surt.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "config/settings.h"
#include "url/canonicalizer.h"
#include "url/public_suffix.h"

namespace nephila::url {
namespace {

class Surt : public testing::Test {
 protected:
  std::string Of(std::string_view url, bool folder = false) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    NEPHILA_CHECK(canonical);
    const auto start =
        static_cast<size_t>(canonical->host.data() - canonical->href.data());
    std::string out;
    if (folder) {
      AppendFolderSurt(canonical->href, start, canonical->host.size(), out);
    } else {
      AppendSurt(canonical->href, start, canonical->host.size(), out);
    }
    return out;
  }

  const config::Settings settings_{};
  const PublicSuffixList suffixes_ = PublicSuffixList::BuiltIn();
  Canonicalizer canonicalizer_{settings_.url, suffixes_, 1};
};

TEST_F(Surt, TurnsTheHostAroundAndNothingElse) {
  EXPECT_EQ(Of("http://www.example.org/Docs/a?b=C"),
            "(org,example,www,)/Docs/a?b=C");
  EXPECT_EQ(Of("https://example.org:8080/"), "(org,example,:8080)/");
  EXPECT_EQ(Of("https://localhost/"), "(localhost,)/");
  EXPECT_EQ(Of("http://192.0.2.1/x"), "(192.0.2.1)/x");
  EXPECT_EQ(Of("http://[2001:db8::1]:81/x"), "([2001:db8::1]:81)/x");
}

TEST_F(Surt, AFolderIsWhatLiesUnderTheLastSlash) {
  EXPECT_EQ(Of("http://example.org/a/b", true), "(org,example,)/a/");
  EXPECT_EQ(Of("http://example.org/a/b/", true), "(org,example,)/a/b/");
  EXPECT_EQ(Of("http://example.org/a?x=/y/z", true), "(org,example,)/");
  EXPECT_EQ(Of("http://example.org", true), "(org,example,)/");
}

TEST_F(Surt, HasItsHostTurnedBack) {
  for (const char* url :
       {"http://www.example.org:81/Docs", "http://localhost/",
        "http://192.0.2.1:81/", "http://[2001:db8::1]:81/x"}) {
    const auto canonical = canonicalizer_.Canonicalize(url, nullptr);
    const std::string host(canonical->host);
    EXPECT_EQ(HostOfSurt(Of(url)), host);
  }
  EXPECT_EQ(HostOfSurt("(,)/"), std::nullopt);
  EXPECT_EQ(HostOfSurt("org,example,)/"), std::nullopt);
  EXPECT_EQ(HostOfSurt("(org,example,"), std::nullopt);
}

TEST_F(Surt, PrefixesAreReadInEveryFormThatUsersWrite) {
  EXPECT_EQ(ReadSurtPrefix("(org,example,"), "(org,example,");
  EXPECT_EQ(ReadSurtPrefix(" (ORG,Example,www,)/Docs "),
            "(org,example,www,)/Docs");
  EXPECT_EQ(ReadSurtPrefix("http://(org,example,"), "(org,example,");
  EXPECT_EQ(ReadSurtPrefix("https://www.example.org/docs/"),
            "(org,example,www,)/docs/");
  EXPECT_EQ(ReadSurtPrefix("http://example.org"), "(org,example,");
  EXPECT_EQ(ReadSurtPrefix("http://example.org/"), "(org,example,)/");
  EXPECT_EQ(ReadSurtPrefix("http://example.org:81"), "(org,example,:81)/");
  EXPECT_EQ(ReadSurtPrefix("http://192.0.2.1"), "(192.0.2.1)/");
  for (const char* wrong :
       {"", "(", "()/", "example.org", "ftp://example.org/", "(a/b", "(a b",
        "http://", "mailto:x@example.org", "(org,\x01"}) {
    EXPECT_EQ(ReadSurtPrefix(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace nephila::url
