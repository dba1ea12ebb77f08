#include "url/public_suffix.h"

#include <gtest/gtest.h>
#include <libpsl.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/conformance_testing.h"
#include "base/source_path_testing.h"
#include "url/host.h"

namespace nephila::url {
namespace {

using Rules = PublicSuffixList::Rules;

const PublicSuffixList& BuiltIn() {
  static const PublicSuffixList kList = PublicSuffixList::BuiltIn();
  return kList;
}

// As the vectors ask: mixed case and Unicode in, "null" for no domain.
std::string Registrable(const std::string& name) {
  if (name == "null") return name;
  std::string host;
  if (!AppendHost(name, /*special=*/true, &host)) return "null";
  std::string_view domain =
      BuiltIn().RegistrableDomain(host, Rules::kIcannAndPrivate);
  return domain.empty() ? "null" : std::string(domain);
}

std::string ToAscii(const std::string& name) {
  std::string host;
  return name != "null" && AppendHost(name, true, &host) ? host : "null";
}

TEST(PublicSuffix, AllVectorsHold) {
  int cases = 0;
  std::istringstream text(ReadTestData("psl/tests.txt"));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    std::istringstream columns(line);
    std::string input;
    std::string want;
    columns >> input >> want;
    EXPECT_EQ(Registrable(input), ToAscii(want)) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 78);
}

TEST(PublicSuffix, AllVectorsOfTheOlderFormHold) {
  int cases = 0;
  std::istringstream text(ReadTestData("psl/test_psl.txt"));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("checkPublicSuffix(")) continue;
    // checkPublicSuffix('b.example.com', 'example.com') or null for either.
    std::vector<std::string> arguments;
    std::string_view rest = std::string_view(line).substr(18);
    rest = rest.substr(0, rest.find(')'));
    for (std::string argument; !rest.empty();) {
      size_t comma = rest.find(", ");
      argument = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 2);
      std::erase(argument, '\'');
      arguments.push_back(argument);
    }
    ASSERT_EQ(arguments.size(), 2u) << line;
    EXPECT_EQ(Registrable(arguments[0]), ToAscii(arguments[1])) << line;
    ++cases;
  }
  EXPECT_EQ(cases, 78);
}

TEST(PublicSuffix, BudgetsKnowOnlyTheIcannRules) {
  const PublicSuffixList& list = BuiltIn();
  EXPECT_EQ(list.RegistrableDomain("a.b.blogspot.com", Rules::kIcann),
            "blogspot.com");
  EXPECT_EQ(list.RegistrableDomain("user.github.io", Rules::kIcann),
            "github.io");
  EXPECT_EQ(list.RegistrableDomain("user.github.io", Rules::kIcannAndPrivate),
            "user.github.io");
  EXPECT_EQ(list.RegistrableDomain("a.b.co.uk", Rules::kIcann), "b.co.uk");
}

TEST(PublicSuffix, OddNamesHaveNoDomainOrKeepTheirDot) {
  const PublicSuffixList& list = BuiltIn();
  EXPECT_EQ(list.RegistrableDomain("www.example.com.", Rules::kIcann),
            "example.com.");
  EXPECT_EQ(list.RegistrableDomain("com.", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain("localhost", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain("", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain(".", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain("..", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain("a..com", Rules::kIcann), "");
  EXPECT_EQ(list.RegistrableDomain("a.b.unknown-tld", Rules::kIcann),
            "b.unknown-tld");
}

TEST(PublicSuffix, AFileThatIsNoListIsRefusedWithItsLine) {
  auto parsed = PublicSuffixList::Parse("<html>\n<body>404</body>\n");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message,
            "public suffix list, line 1: not a rule: <html>");
  EXPECT_FALSE(PublicSuffixList::Parse(""));
  EXPECT_FALSE(PublicSuffixList::Parse("com\n"));  // no section mark
  EXPECT_FALSE(PublicSuffixList::Parse("// ===BEGIN ICANN DOMAINS===\na..b\n"));
}

TEST(PublicSuffix, WildcardsAndExceptionsOfASmallList) {
  auto list = PublicSuffixList::Parse(
      "// ===BEGIN ICANN DOMAINS===\r\ncom\r\n*.ck\r\n!www.ck\r\n"
      "// ===END ICANN DOMAINS===\n// ===BEGIN PRIVATE DOMAINS===\n"
      "*.host.com trailing words\n!free.host.com\n");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->rule_count(), 5u);
  EXPECT_EQ(list->RegistrableDomain("a.b.ck", Rules::kIcann), "a.b.ck");
  EXPECT_EQ(list->RegistrableDomain("b.ck", Rules::kIcann), "");
  EXPECT_EQ(list->RegistrableDomain("x.www.ck", Rules::kIcann), "www.ck");
  EXPECT_EQ(list->RegistrableDomain("a.b.c.host.com", Rules::kIcann),
            "host.com");
  EXPECT_EQ(list->RegistrableDomain("a.b.c.host.com", Rules::kIcannAndPrivate),
            "b.c.host.com");
  EXPECT_EQ(list->RegistrableDomain("x.free.host.com", Rules::kIcannAndPrivate),
            "free.host.com");
}

// Every rule of the list, and names around it, against libpsl, which reads
// the same file.
TEST(PublicSuffix, AgreesWithLibpslOnNamesAroundEveryRule) {
  std::string path =
      SourcePath("third_party/publicsuffix/public_suffix_list.dat");
  std::unique_ptr<psl_ctx_t, decltype(&psl_free)> psl(
      psl_load_file(path.c_str()), &psl_free);
  ASSERT_NE(psl, nullptr);
  std::istringstream text(
      ReadTestData("../third_party/publicsuffix/public_suffix_list.dat"));
  int names = 0;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line[0] == '!') line.erase(0, 1);
    if (line.starts_with("*.")) line.replace(0, 1, "wild");
    std::string host;
    ASSERT_TRUE(AppendHost(line, true, &host)) << line;
    for (const char* prefix : {"", "a.", "b.a.", "c.b.a."}) {
      std::string name = prefix + host;
      const char* want = psl_registrable_domain(psl.get(), name.c_str());
      EXPECT_EQ(BuiltIn().RegistrableDomain(name, Rules::kIcannAndPrivate),
                want == nullptr ? "" : want)
          << name;
      ++names;
    }
  }
  EXPECT_EQ(names, 4 * 10248);
  EXPECT_EQ(BuiltIn().rule_count(), 10248u);
}

}  // namespace
}  // namespace nephila::url
