#include "store/surt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <sstream>
#include <string>

#include "base/conformance_testing.h"
#include "store/cdxj.h"

namespace nephila::store {
namespace {

using Step = std::function<std::string(const std::string&)>;

// The groups of the suite that are of this dialect, and the step each tests.
TEST(Surt, HoldsTheSuiteOfUrlcanon) {
  const std::pair<const char*, Step> kGroups[] = {
      {"defaultIASurt", SurtKey},
      {"Canonicalizer.DefaultIA", surt::ArchiveUrl},
      {"Canonicalizer.IA", surt::ArchiveUrl},
      {"google", surt::CanonicalUrl},
      {"googleSupplementalFromSurt", surt::CanonicalUrl},
      {"unescapeRepeatedly", surt::UnescapeRepeatedly},
      {"alphaRorderQuery", surt::SortQuery},
      {"massageHost",
       [](const std::string& host) {
         return std::string(surt::StripWww(host));
       }},
      {"stripPathSessionId", surt::StripPathSession},
  };
  Exceptions exceptions("surt");
  auto suite = ReadTestJson("url-canon/urlcanon/surt.json");
  size_t groups = 0;
  for (const auto& [name, step] : kGroups) {
    ASSERT_TRUE(suite.contains(name)) << name;
    ++groups;
    for (const auto& [input, expected] : suite[name].items()) {
      std::string seen = step(input);
      exceptions.Expect("urlcanon/surt.json " + std::string(name), input,
                        seen == expected, seen);
    }
  }
  EXPECT_EQ(groups, suite.size());
  EXPECT_TRUE(exceptions.SkipsSuite("urlcanon/ssurt.json"));
}

TEST(Surt, IsTheKeyThatIndexesOfPywbHave) {
  size_t lines = 0;
  for (const char* name : {"keys.tsv"}) {
    std::istringstream in(ReadTestData(std::string("surt/") + name));
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) continue;
      size_t tab = line.find('\t');
      ASSERT_NE(tab, std::string::npos);
      EXPECT_EQ(SurtKey(line.substr(tab + 1)), line.substr(0, tab));
      ++lines;
    }
  }
  EXPECT_EQ(lines, 52u);
}

TEST(Surt, ReversesNamesAndLeavesAddresses) {
  EXPECT_EQ(SurtKey("http://a.b.example.co.uk/x"), "uk,co,example,b,a)/x");
  EXPECT_EQ(SurtKey("http://10.1.2.3:8080/"), "10.1.2.3:8080)/");
  EXPECT_EQ(SurtKey("http://[::1]:81/a"), "[::1]:81)/a");
  EXPECT_EQ(SurtKey("http://user:pass@www7.Example.com:80?Q=1"),
            "com,example)/?q=1");
  EXPECT_EQ(SurtKey("https://example.com:443/"), "com,example)/");
  EXPECT_EQ(SurtKey("http://b\xc3\xbc"
                    "cher.ch/"),
            "ch,xn--bcher-kva)/");
}

TEST(Surt, StripsSessions) {
  EXPECT_EQ(
      SurtKey("http://a.com/x;jsessionid=0123456789abcdef0123456789ABCDEF"),
      "com,a)/x");
  EXPECT_EQ(SurtKey("http://a.com/x?sid=0123456789abcdef0123456789abcdef&b=1"),
            "com,a)/x?b=1");
  EXPECT_EQ(SurtKey("http://a.com/x?cfid=1&cftoken=2&b=1"), "com,a)/x?b=1");
  EXPECT_EQ(SurtKey("http://a.com/?ASPSESSIONIDabcdefgh="
                    "ABCDEFGHIJKLMNOPQRSTUVWX&b=1"),
            "com,a)/?b=1");
  EXPECT_EQ(SurtKey("http://a.com/x?sid=short"), "com,a)/x?sid=short");
}

TEST(Surt, KeepsKeysOnOneLine) {
  EXPECT_EQ(SurtKey("mailto:a b\nc"), "mailto:a%20bc");
  EXPECT_EQ(SurtKey("http://a b/c d?e f"), "a%20b)/c%20d?e%20f");
  EXPECT_EQ(SurtKey(""), "-");
  EXPECT_EQ(SurtKey(" \t "), "-");
}

// A megabyte of what would take passes or backtracking without end.
TEST(Surt, TakesLinearTimeForHostileUrls) {
  std::string nested = "http://a/%";
  for (int i = 0; i < 500'000; ++i) nested += "25";
  EXPECT_EQ(SurtKey(nested), "a)/%25");
  std::string sessions = "http://a/?";
  for (int i = 0; i < 200'000; ++i) sessions += "sid=1&";
  EXPECT_GT(SurtKey(sessions).size(), 1'000'000u);
  std::string groups = "http://a/x.aspx/";
  for (int i = 0; i < 300'000; ++i) groups += "/(a";
  EXPECT_GT(SurtKey(groups).size(), 900'000u);
  std::string dots = "http://a/";
  for (int i = 0; i < 300'000; ++i) dots += "a/../";
  EXPECT_EQ(SurtKey(dots), "a)/");
  EXPECT_GT(SurtKey("http://" + std::string(1'000'000, '.') + "a/").size(), 2u);
}

}  // namespace
}  // namespace nephila::store
