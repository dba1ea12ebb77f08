#include "dns/answer_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/random.h"
#include "dns/dns_server_testing.h"
#include "dns/message.h"

namespace nephila::dns {
namespace {

TestMessage MessageFor(std::string_view name, uint16_t type = kTypeA) {
  TestMessage message;
  message.question = QuestionBytes(name, type);
  return message;
}

ParsedAnswer Parse(const TestMessage& message, std::string_view name,
                   uint16_t type = kTypeA, const AnswerLimits& limits = {}) {
  return ParseAnswer(message.Bytes(), name, type, limits);
}

std::vector<std::string> Texts(const ParsedAnswer& answer) {
  std::vector<std::string> texts;
  for (const auto& address : answer.addresses) {
    texts.push_back(address.ToString());
  }
  return texts;
}

using Addresses = std::vector<std::string>;

TEST(ParseAnswer, FindsTheAddressesAndTheLeastTime) {
  TestMessage message = MessageFor("www.example");
  message.answers = {RecordA("WWW.Example", 300, "192.0.2.1"),
                     RecordA("www.example", 60, "192.0.2.2")};
  const ParsedAnswer answer = Parse(message, "www.example");
  EXPECT_EQ(answer.kind, AnswerKind::kFound);
  EXPECT_EQ(Texts(answer), (Addresses{"192.0.2.1", "192.0.2.2"}));
  EXPECT_EQ(answer.ttl_s, 60U);
  EXPECT_EQ(answer.records,
            "www.example.\t300\tIN\tA\t192.0.2.1\n"
            "www.example.\t60\tIN\tA\t192.0.2.2\n");
}

TEST(ParseAnswer, FindsAddressesOfIpv6) {
  TestMessage message = MessageFor("a.example", kTypeAaaa);
  message.answers = {RecordAaaa("a.example", 5, "2001:db8::1"),
                     RecordA("a.example", 5, "192.0.2.1")};
  const ParsedAnswer answer = Parse(message, "a.example", kTypeAaaa);
  EXPECT_EQ(Texts(answer), Addresses{"2001:db8::1"});
  EXPECT_EQ(answer.records, "a.example.\t5\tIN\tAAAA\t2001:db8::1\n");
}

TEST(ParseAnswer, FollowsAliasesInAnyOrder) {
  TestMessage message = MessageFor("a.example");
  message.answers = {RecordA("c.example", 300, "192.0.2.1"),
                     RecordCname("b.example", 20, "C.example"),
                     RecordCname("a.example", 100, "b.EXAMPLE")};
  const ParsedAnswer answer = Parse(message, "a.example");
  EXPECT_EQ(answer.kind, AnswerKind::kFound);
  EXPECT_EQ(Texts(answer), Addresses{"192.0.2.1"});
  EXPECT_EQ(answer.ttl_s, 20U);
  EXPECT_EQ(answer.records,
            "a.example.\t100\tIN\tCNAME\tb.example.\n"
            "b.example.\t20\tIN\tCNAME\tc.example.\n"
            "c.example.\t300\tIN\tA\t192.0.2.1\n");
}

TEST(ParseAnswer, RecordsOfOtherNamesDoNotCount) {
  TestMessage message = MessageFor("a.example");
  message.answers = {RecordA("bank.example", 300, "192.0.2.66"),
                     RecordCname("bank.example", 300, "a.example"),
                     RecordA("xa.example", 1, "192.0.2.67")};
  const ParsedAnswer answer = Parse(message, "a.example");
  EXPECT_EQ(answer.kind, AnswerKind::kNoAddress);
  EXPECT_TRUE(answer.addresses.empty());
  EXPECT_EQ(answer.records, "");
}

TEST(ParseAnswer, AliasesInACircleAreBad) {
  TestMessage message = MessageFor("a.example");
  message.answers = {RecordCname("a.example", 1, "b.example"),
                     RecordCname("b.example", 1, "a.example")};
  const ParsedAnswer answer = Parse(message, "a.example");
  EXPECT_EQ(answer.kind, AnswerKind::kBad);
  EXPECT_EQ(answer.why, "aliases in a circle");
  message.answers = {RecordCname("a.example", 1, "a.example")};
  EXPECT_EQ(Parse(message, "a.example").why, "aliases in a circle");
}

TEST(ParseAnswer, AChainOfAliasesIsBounded) {
  for (const size_t length : {size_t{16}, size_t{17}}) {
    TestMessage message = MessageFor("n0");
    for (size_t i = 0; i < length; ++i) {
      message.answers.push_back(
          RecordCname("n" + std::to_string(i), 1, "n" + std::to_string(i + 1)));
    }
    message.answers.push_back(
        RecordA("n" + std::to_string(length), 1, "192.0.2.1"));
    const ParsedAnswer answer = Parse(message, "n0");
    if (length == 16) {
      EXPECT_EQ(answer.kind, AnswerKind::kFound);
    } else {
      EXPECT_EQ(answer.why, "too many aliases");
    }
  }
}

TEST(ParseAnswer, AddressesAndRecordsAreBounded) {
  TestMessage message = MessageFor("a");
  for (int i = 0; i < 600; ++i) {
    message.answers.push_back(RecordA("a", 1, "192.0.2.1"));
  }
  ParsedAnswer answer = Parse(message, "a");
  EXPECT_EQ(answer.addresses.size(), 32U);
  EXPECT_EQ(answer.addresses_dropped, 512U - 32U);
  message.answers.insert(message.answers.begin(), 512,
                         RecordA("b", 1, "192.0.2.1"));
  EXPECT_EQ(Parse(message, "a").kind, AnswerKind::kNoAddress);
  AnswerLimits limits;
  limits.max_records = 2000;
  limits.max_addresses = 1;
  EXPECT_EQ(Parse(message, "a", kTypeA, limits).addresses.size(), 1U);
}

TEST(ParseAnswer, AbsenceHoldsAsLongAsTheSoaSays) {
  TestMessage message = MessageFor("no.example.com");
  message.rcode = 3;
  message.authorities = {RecordSoa("example.com", 3600, 90)};
  ParsedAnswer answer = Parse(message, "no.example.com");
  EXPECT_EQ(answer.kind, AnswerKind::kNoSuchName);
  EXPECT_EQ(answer.ttl_s, 90U);
  message.authorities = {RecordSoa("example.com", 30, 90)};
  EXPECT_EQ(Parse(message, "no.example.com").ttl_s, 30U);
  message.rcode = 0;
  answer = Parse(message, "no.example.com");
  EXPECT_EQ(answer.kind, AnswerKind::kNoAddress);
  EXPECT_EQ(answer.ttl_s, 30U);
  // Of a zone that the name is not in, or none at all.
  message.authorities = {RecordSoa("xample.com", 30, 90)};
  EXPECT_FALSE(Parse(message, "no.example.com").ttl_s.has_value());
  message.authorities = {RecordSoa("", 77, 90)};
  EXPECT_EQ(Parse(message, "no.example.com").ttl_s, 77U);
}

TEST(ParseAnswer, AnAliasOfNothingIsNoSuchName) {
  TestMessage message = MessageFor("a.example");
  message.rcode = 3;
  message.answers = {RecordCname("a.example", 50, "gone.other")};
  message.authorities = {RecordSoa("other", 600, 600)};
  const ParsedAnswer answer = Parse(message, "a.example");
  EXPECT_EQ(answer.kind, AnswerKind::kNoSuchName);
  EXPECT_EQ(answer.ttl_s, 50U);
}

TEST(ParseAnswer, ATimeWithItsHighestBitSetIsNone) {
  TestMessage message = MessageFor("a");
  message.answers = {RecordA("a", 0x80000000, "192.0.2.1")};
  EXPECT_EQ(Parse(message, "a").ttl_s, 0U);
}

TEST(ParseAnswer, ResponseCodesHaveTheirKinds) {
  const std::vector<std::pair<uint16_t, AnswerKind>> cases = {
      {0, AnswerKind::kNoAddress},     {1, AnswerKind::kNotUnderstood},
      {2, AnswerKind::kServerFailure}, {3, AnswerKind::kNoSuchName},
      {4, AnswerKind::kNotUnderstood}, {5, AnswerKind::kRefused},
      {9, AnswerKind::kRefused},       {15, AnswerKind::kServerFailure},
  };
  for (const auto& [rcode, kind] : cases) {
    TestMessage message = MessageFor("a");
    message.rcode = rcode;
    EXPECT_EQ(Parse(message, "a").kind, kind) << rcode;
    // Without a question only failures are believed.
    message.question.clear();
    const bool failed = rcode != 0 && rcode != 3;
    EXPECT_EQ(Parse(message, "a").kind, failed ? kind : AnswerKind::kBad);
  }
}

TEST(ParseAnswer, AnAnswerToAnotherQuestionIsBad) {
  TestMessage message = MessageFor("a");
  message.answers = {RecordA("a", 1, "192.0.2.1")};
  EXPECT_EQ(Parse(message, "a").kind, AnswerKind::kFound);
  EXPECT_EQ(Parse(message, "b").why, "an answer to another question");
  EXPECT_EQ(Parse(message, "a", kTypeAaaa).why,
            "an answer to another question");
  message.flags = 0x0100;
  EXPECT_EQ(Parse(message, "a").why, "not an answer");
  message.flags = 0x8180 | 0x2800;  // an update
  EXPECT_EQ(Parse(message, "a").why, "not an answer");
}

TEST(ParseAnswer, BrokenRecordsAreBad) {
  TestMessage message = MessageFor("a");
  message.answers = {{"a", kTypeA, 1, "12345"}};
  EXPECT_EQ(Parse(message, "a").why, "an address of a wrong length");
  message.answers = {{"a", kTypeA, 1, std::string(16, 'x')}};
  EXPECT_EQ(Parse(message, "a").why, "an address of a wrong length");
  message.answers = {{"a", kTypeCname, 1, std::string("\1b\0x", 4)}};
  EXPECT_EQ(Parse(message, "a").why, "a broken alias");
  message.answers = {{"a", kTypeCname, 1, "\xff\xff"}};
  EXPECT_EQ(Parse(message, "a").why, "a broken alias");
}

TEST(ParseAnswer, WhatIsCutOffIsBadAtEveryByte) {
  TestMessage message = MessageFor("a.example");
  message.answers = {RecordCname("a.example", 1, "b.example"),
                     RecordA("b.example", 1, "192.0.2.1")};
  const std::string bytes = message.Bytes();
  ASSERT_EQ(ParseAnswer(bytes, "a.example", kTypeA).kind, AnswerKind::kFound);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto answer = ParseAnswer(bytes.substr(0, size), "a.example", kTypeA);
    EXPECT_EQ(answer.kind, AnswerKind::kBad) << size;
    EXPECT_FALSE(answer.why.empty());
  }
}

TEST(ParseAnswer, ATruncatedAnswerWithoutAddressesIsBad) {
  TestMessage message = MessageFor("a");
  message.flags |= 0x0200;
  EXPECT_EQ(Parse(message, "a").why, "truncated");
  message.answers = {RecordA("a", 1, "192.0.2.1")};
  EXPECT_EQ(Parse(message, "a").kind, AnswerKind::kFound);
}

TEST(ParseAnswer, NamesWithOddBytesAreCompared) {
  TestMessage message;
  message.question = QuestionBytes("a@b$.example", kTypeA);
  message.answers = {RecordA("A@b$.example", 1, "192.0.2.1")};
  EXPECT_EQ(Parse(message, "a@b$.example").kind, AnswerKind::kFound);
}

TEST(ParseAnswer, TheUpperBitsOfTheResponseCodeCount) {
  TestMessage message = MessageFor("a");
  message.opt = true;
  message.answers = {RecordA("a", 1, "192.0.2.1")};
  ParsedAnswer answer = Parse(message, "a");
  EXPECT_EQ(answer.kind, AnswerKind::kFound);
  EXPECT_TRUE(answer.has_opt);
  message.rcode = 16;  // BADVERS; without the upper bits no error at all
  EXPECT_EQ(Parse(message, "a").kind, AnswerKind::kServerFailure);
  message.rcode = 19;  // not NXDOMAIN
  EXPECT_EQ(Parse(message, "a").kind, AnswerKind::kServerFailure);
  message.rcode = 3;
  message.authorities = {RecordSoa("a", 60, 60)};
  answer = Parse(message, "a");
  EXPECT_EQ(answer.kind, AnswerKind::kNoSuchName);
  EXPECT_TRUE(answer.has_opt);
  message.opt = false;
  EXPECT_FALSE(Parse(message, "a").has_opt);
  message.opt = true;
  message.rcode = 1;
  EXPECT_TRUE(Parse(message, "a").has_opt);
}

TEST(ParseAnswer, AReferralSaysNothingAboutTheName) {
  TestMessage message = MessageFor("a.example");
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kNoAddress);
  message.authorities = {RecordNs("example", 60, "ns.example")};
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kServerFailure);
  message.authorities.push_back(RecordSoa("example", 60, 60));
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kNoAddress);
  // Who does not resolve for us is believed only with a SOA.
  message.flags = 0x8100;
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kNoAddress);
  message.authorities.clear();
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kServerFailure);
  // An alias is something, even if it leads to nothing.
  message.answers = {RecordCname("a.example", 60, "b.example")};
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kNoAddress);
  message.answers.clear();
  message.rcode = 3;
  EXPECT_EQ(Parse(message, "a.example").kind, AnswerKind::kNoSuchName);
}

TEST(ParseAnswer, TheTextOfRecordsIsBounded) {
  const std::string name = std::string(63, '*') + "." + std::string(63, '*') +
                           "." + std::string(63, '*') + ".example";
  TestMessage message = MessageFor(name);
  for (int i = 0; i < 32; ++i) {
    message.answers.push_back(RecordA(name, 1, "192.0.2." + std::to_string(i)));
  }
  const ParsedAnswer answer = Parse(message, name);
  EXPECT_EQ(answer.addresses.size(), 32U);
  EXPECT_LE(answer.records.size(), 4096U);
  EXPECT_GT(answer.records.size(), 3000U);
  EXPECT_TRUE(answer.records.ends_with("\n; more records left out\n"));
  AnswerLimits limits;
  limits.max_text_bytes = 100'000;
  EXPECT_TRUE(
      Parse(message, name, kTypeA, limits).records.ends_with("\t192.0.2.31\n"));
}

TEST(ParseAnswer, FlippedBytesNeverFindWhatIsNotThere) {
  TestMessage message = MessageFor("a.example");
  message.answers = {RecordCname("a.example", 1, "b.example"),
                     RecordA("b.example", 1, "192.0.2.1")};
  const std::string bytes = message.Bytes();
  const std::string question =
      bytes.substr(kHeadBytes, message.question.size());
  Random random(11);
  size_t found = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = bytes;
    for (uint64_t flips = random.Below(4) + 1; flips > 0; --flips) {
      broken[random.Below(broken.size())] = static_cast<char>(random.Next());
    }
    const auto answer = ParseAnswer(broken, "a.example", kTypeA);
    EXPECT_EQ(answer.kind == AnswerKind::kBad, !answer.why.empty());
    if (answer.kind != AnswerKind::kFound) {
      EXPECT_TRUE(answer.addresses.empty());
      continue;
    }
    ++found;
    // It is an answer without an error to this very question, and its address
    // is what the only address record holds.
    EXPECT_EQ(broken[2] & 0xf8, 0x80) << i;
    EXPECT_EQ(broken[3] & 0x0f, 0) << i;
    EXPECT_TRUE(
        EqualsIgnoreCase(broken.substr(kHeadBytes, question.size()), question))
        << i;
    const auto last = net::IpAddress::FromBytes(
        std::string_view(broken).substr(broken.size() - 4));
    ASSERT_EQ(answer.addresses.size(), 1U) << i;
    EXPECT_EQ(answer.addresses[0], last) << i;
  }
  // Neither all nor none: it depends on where the flips are.
  EXPECT_GT(found, 1'000U);
  EXPECT_LT(found, 15'000U);
}

}  // namespace
}  // namespace nephila::dns
