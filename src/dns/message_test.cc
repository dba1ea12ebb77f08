#include "dns/message.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dns/question_ids.h"

namespace nephila::dns {
namespace {

TEST(NormalName, MakesNamesOneOfAKind) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"example.com", "example.com"},
      {"WWW.Example.COM.", "www.example.com"},
      {"a_b.example", "a_b.example"},
      {"xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
      {"localhost", "localhost"},
      {"-a-.x", "-a-.x"},
      {"1.2.3.com", "1.2.3.com"},
  };
  for (const auto& [host, want] : cases) {
    EXPECT_EQ(NormalName(host), want) << host;
  }
}

TEST(NormalName, RefusesWhatDnsCannotKnow) {
  for (const std::string_view host :
       {"", ".", "..", ".a", "a..b", "a.b..", "a b", "a\tb", "m\xc3\xbc.de",
        "a\x7f", "[::1]", "::1", "a%b", "a@b", "a/b", "a\\b"}) {
    EXPECT_FALSE(NormalName(host).has_value()) << host;
  }
  EXPECT_FALSE(NormalName(std::string_view("a\0b", 3)).has_value());
  EXPECT_TRUE(NormalName(std::string(63, 'a')).has_value());
  EXPECT_FALSE(NormalName(std::string(64, 'a')).has_value());
  std::string longest;
  for (int i = 0; i < 4; ++i) longest += std::string(62, 'a') + ".";
  EXPECT_TRUE(NormalName(longest + "a").has_value());   // 253
  EXPECT_TRUE(NormalName(longest + "a.").has_value());  // and a dot
  EXPECT_FALSE(NormalName(longest + "ab").has_value());
}

TEST(NameKind, NamesOfOtherSystemsAreKnown) {
  EXPECT_EQ(KindOf("localhost"), NameKind::kLocalhost);
  EXPECT_EQ(KindOf("a.localhost"), NameKind::kLocalhost);
  EXPECT_EQ(KindOf("notlocalhost"), NameKind::kOrdinary);
  EXPECT_EQ(KindOf("localhost.com"), NameKind::kOrdinary);
  for (const std::string_view name :
       {"x.onion", "printer.local", "x.invalid", "x.alt", "onion"}) {
    EXPECT_EQ(KindOf(name), NameKind::kNeverAsked) << name;
  }
  EXPECT_EQ(KindOf("example.test"), NameKind::kOrdinary);
}

TEST(MakeQuestion, IsWhatRfc1035Says) {
  const std::string plain = MakeQuestion("ab.c", kTypeA, 0x1234, false);
  EXPECT_EQ(plain, std::string("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00"
                               "\x00\x00\x02"
                               "ab\x01"
                               "c\x00\x00\x01\x00\x01",
                               22));
  const std::string edns = MakeQuestion("ab.c", kTypeAaaa, 0x1234, true);
  ASSERT_EQ(edns.size(), plain.size() + 11);
  EXPECT_EQ(edns[11], 1);  // one additional record
  EXPECT_EQ(edns.substr(22),
            std::string("\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00", 11));
}

std::string NameAt(std::string_view message, size_t at, size_t* end = nullptr) {
  MessageReader reader(message);
  reader.Seek(at);
  std::string name;
  if (!reader.Name(&name)) return "broken";
  if (end != nullptr) *end = reader.position();
  return name;
}

TEST(MessageReader, FollowsPointersBackwards) {
  const std::string message("\3www\7EXAMPLE\3com\0\1a\xc0\x04\xc0\x00", 23);
  size_t end = 0;
  EXPECT_EQ(NameAt(message, 0, &end), "www.example.com");
  EXPECT_EQ(end, 17U);
  EXPECT_EQ(NameAt(message, 17, &end), "a.example.com");
  EXPECT_EQ(end, 21U);
  EXPECT_EQ(NameAt(message, 21, &end), "www.example.com");
  EXPECT_EQ(end, 23U);
}

TEST(MessageReader, NoPointerLeadsInACircle) {
  for (const std::string& message :
       {std::string("\xc0\x00", 2),          // to itself
        std::string("\xc0\x02\xc0\x00", 4),  // forward
        std::string("\1a\xc0\x00", 4),       // to its own label
        std::string("\1a\1b\xc0\x02", 6),    // into itself
        std::string("\xff\xff", 2), std::string("\xc0", 1)}) {
    EXPECT_EQ(NameAt(message, 0), "broken");
  }
  EXPECT_EQ(NameAt(std::string("\1a\xc0\x00\xc0\x00", 6), 4), "broken");
}

TEST(MessageReader, ChainsOfPointersAreBounded) {
  // Each leads to the one before it; the first to the root.
  std::string message("\0", 1);
  for (size_t i = 0; i < 200; ++i) {
    const size_t target = i == 0 ? 0 : 2 * i - 1;
    message.push_back(static_cast<char>(0xc0 | target >> 8));
    message.push_back(static_cast<char>(target & 0xff));
  }
  EXPECT_EQ(NameAt(message, 1 + 2 * 126), "");
  EXPECT_EQ(NameAt(message, 1 + 2 * 127), "broken");
}

TEST(MessageReader, NamesAreBounded) {
  std::string longest;
  for (int i = 0; i < 127; ++i) longest += "\1a";
  EXPECT_EQ(NameAt(longest + std::string(1, '\0'), 0).size(), 253U);
  EXPECT_EQ(NameAt("\1a" + longest + std::string(1, '\0'), 0), "broken");
  EXPECT_EQ(NameAt(std::string("\x40", 1) + std::string(64, 'a'), 0), "broken");
  EXPECT_EQ(NameAt("\5abc", 0), "broken");
  EXPECT_EQ(NameAt("\3abc", 0), "broken");
  EXPECT_EQ(NameAt("", 0), "broken");
}

TEST(MessageReader, BytesThatAZoneFileCannotHoldAreEscaped) {
  EXPECT_EQ(NameAt(std::string("\4a.\n\xff\2\"\\\0", 9), 0),
            "a\\.\\010\\255.\\\"\\\\");
}

TEST(QuestionIds, AreSpread) {
  QuestionIds ids;
  std::vector<bool> seen(65'536);
  size_t different = 0;
  for (int i = 0; i < 10'000; ++i) {
    const uint16_t id = ids.Next();
    if (!seen[id]) ++different;
    seen[id] = true;
  }
  // 9270 are expected, with a deviation of about 24.
  EXPECT_GT(different, 9000U);
}

}  // namespace
}  // namespace nephila::dns
