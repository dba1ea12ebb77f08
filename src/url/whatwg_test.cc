// The URL standard's own suites. A case that does not hold is listed by name
// in testdata/whatwg-url/exceptions.tsv with the reason; a listed case that
// does hold fails the test too, so that the list cannot rot.

#include <gtest/gtest.h>

#include <string>

#include "base/conformance_testing.h"
#include "url/host.h"
#include "url/parser.h"

namespace nephila::url {
namespace {

std::string WithColon(std::string_view scheme) {
  return std::string(scheme) + ":";
}
std::string HostAndPort(const Url& url) {
  std::string text(url.host());
  if (!url.port().empty()) text += ":" + std::string(url.port());
  return text;
}
// The standard's API shows a query or fragment with its mark, unless empty.
std::string Marked(char mark, std::string_view text) {
  return text.empty() ? "" : mark + std::string(text);
}

void CheckUrlCase(const nlohmann::json& c) {
  SCOPED_TRACE(c.dump());
  Url base;
  Url url;
  bool has_base = c.contains("base") && c["base"].is_string();
  bool parsed = true;
  if (has_base) {
    parsed = Parse(c["base"].get<std::string>(), nullptr, &base).has_value();
  }
  parsed = parsed && Parse(c["input"].get<std::string>(),
                           has_base ? &base : nullptr, &url)
                         .has_value();
  bool failure = c.value("failure", false);
  ASSERT_EQ(parsed, !failure);
  if (failure) return;
  EXPECT_EQ(url.href(), c["href"].get<std::string>());
  EXPECT_EQ(WithColon(url.scheme()), c["protocol"].get<std::string>());
  EXPECT_EQ(url.username(), c["username"].get<std::string>());
  EXPECT_EQ(url.password(), c["password"].get<std::string>());
  EXPECT_EQ(HostAndPort(url), c["host"].get<std::string>());
  EXPECT_EQ(url.host(), c["hostname"].get<std::string>());
  EXPECT_EQ(url.port(), c["port"].get<std::string>());
  EXPECT_EQ(url.path(), c["pathname"].get<std::string>());
  EXPECT_EQ(Marked('?', url.query()), c["search"].get<std::string>());
  EXPECT_EQ(Marked('#', url.fragment()), c["hash"].get<std::string>());

  Url again;
  ASSERT_TRUE(Parse(url.href(), nullptr, &again));
  EXPECT_EQ(again.href(), url.href());
}

int CheckUrlSuite(std::string_view name) {
  int cases = 0;
  for (const auto& c : ReadTestJson(name)) {
    if (!c.is_object()) continue;
    CheckUrlCase(c);
    ++cases;
  }
  return cases;
}

TEST(WhatwgUrl, EveryCaseOfTheStandardsSuiteHolds) {
  EXPECT_EQ(CheckUrlSuite("whatwg-url/urltestdata.json"), 891);
}

TEST(WhatwgUrl, EveryExtraCaseHolds) {
  EXPECT_EQ(CheckUrlSuite("whatwg-url/ada_extra_urltestdata.json"), 28);
  EXPECT_EQ(CheckUrlSuite("whatwg-url/ada_long_urltestdata.json"), 1);
}

// A host as the parser takes it for http: percent-decoded, to ASCII, IPv4.
void CheckHostSuite(const std::string& suite, Exceptions* exceptions) {
  for (const auto& c : ReadTestJson("whatwg-url/" + suite)) {
    if (!c.is_object()) continue;
    auto input = c["input"].get<std::string>();
    std::string seen;
    bool valid = !input.empty() &&
                 AppendHost(input, /*special=*/true, &seen).has_value();
    bool holds = c["output"].is_null()
                     ? !valid
                     : valid && seen == c["output"].get<std::string>();
    exceptions->Expect(suite, input, holds, valid ? seen : "(refused)");
  }
}

TEST(WhatwgUrl, ToAsciiCasesHold) {
  Exceptions exceptions("whatwg-url");
  CheckHostSuite("toascii.json", &exceptions);
  EXPECT_EQ(exceptions.held("toascii.json"), 87);
}

TEST(WhatwgUrl, IdnaCasesHoldOrAreListed) {
  Exceptions exceptions("whatwg-url");
  CheckHostSuite("IdnaTestV2.json", &exceptions);
  CheckHostSuite("IdnaTestV2-removed.json", &exceptions);
  EXPECT_EQ(exceptions.held("IdnaTestV2.json"), 2667);
  EXPECT_EQ(exceptions.listed("IdnaTestV2.json"), 4);
  EXPECT_EQ(exceptions.held("IdnaTestV2-removed.json"), 20);
}

TEST(WhatwgUrl, NamesThatDnsCannotKnowAreToldApart) {
  int cases = 0;
  for (const auto& c : ReadTestJson("whatwg-url/verifydnslength_tests.json")) {
    if (!c.is_object()) continue;
    SCOPED_TRACE(c.dump());
    Url url;
    bool valid =
        Parse(c["input"].get<std::string>(), nullptr, &url) &&
        (url.host_kind() != HostKind::kDomain || IsDnsName(url.host()));
    EXPECT_EQ(valid, !c.value("failure", false));
    ++cases;
  }
  EXPECT_EQ(cases, 17);
}

// The other encodings of the suite: parse/query_encoder_test.cc.
TEST(WhatwgUrl, QueriesArePercentEncodedAsUtf8) {
  int cases = 0;
  for (const auto& c : ReadTestJson("whatwg-url/percent-encoding.json")) {
    if (!c.is_object()) continue;
    Url url;
    ASSERT_TRUE(
        Parse("http://doesnotmatter.invalid/?" + c["input"].get<std::string>(),
              nullptr, &url));
    EXPECT_EQ(url.query(), c["output"]["utf-8"].get<std::string>());
    ++cases;
  }
  EXPECT_EQ(cases, 7);
}

// Writes every non-ASCII byte as 0xe9, and a reference for '!'.
class TestEncoder : public QueryEncoder {
 public:
  void Append(std::string_view utf8, std::string* out) const override {
    for (char c : utf8) {
      if (c == '!') {
        out->append("%26%2333%3B");
      } else {
        out->push_back(static_cast<unsigned char>(c) < 0x80 ? c : '\xe9');
      }
    }
  }
};

TEST(WhatwgUrl, AnEncoderWritesTheQueryAndNothingElse) {
  TestEncoder encoder;
  Url url;
  ASSERT_TRUE(Parse("http://a/\xc3\xa4!?\xc3\xa4!'#\xc3\xa4!", nullptr, &url,
                    &encoder));
  EXPECT_EQ(url.href(), "http://a/%C3%A4!?%E9%E9%26%2333%3B%27#%C3%A4!");
}

TEST(WhatwgUrl, AnEncoderLeavesOtherSchemesAlone) {
  TestEncoder encoder;
  for (std::string_view scheme : {"ws://a/", "wss://a/", "other://a/"}) {
    Url url;
    ASSERT_TRUE(
        Parse(std::string(scheme) + "?\xc3\xa4", nullptr, &url, &encoder));
    EXPECT_EQ(url.query(), "%C3%A4") << scheme;
  }
}

}  // namespace
}  // namespace nephila::url
