#include "sim/dns_message.h"

#include <gtest/gtest.h>

#include <string>

namespace nephila::sim {
namespace {

std::string Name(std::string_view text) {
  std::string wire;
  while (!text.empty()) {
    const size_t dot = std::min(text.find('.'), text.size());
    wire += static_cast<char>(dot);
    wire += text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return wire + '\0';
}

std::string Query(std::string_view name, uint16_t type, bool edns = false) {
  std::string query("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00", 11);
  query += edns ? '\1' : '\0';
  query += Name(name);
  query += '\0';
  query += static_cast<char>(type);
  query.append("\0\1", 2);
  if (edns) query.append("\0\0\x29\x04\xd0\0\0\0\0\0\0", 11);
  return query;
}

TEST(DnsMessageTest, ReadsAQuestion) {
  Question question;
  ASSERT_TRUE(ParseQuestion(Query("WWW.Example.com", kTypeA), &question));
  EXPECT_EQ(question.id, 0x1234);
  EXPECT_EQ(question.name, "www.example.com");
  EXPECT_EQ(question.type, kTypeA);
  EXPECT_TRUE(question.recursion_desired);
  EXPECT_FALSE(question.edns);
  EXPECT_EQ(question.udp_bytes, 512);
  ASSERT_TRUE(ParseQuestion(Query("a.b", kTypeAaaa, true), &question));
  EXPECT_TRUE(question.edns);
  EXPECT_EQ(question.udp_bytes, 1232);
}

TEST(DnsMessageTest, AnswersWithAddresses) {
  const std::string query = Query("Ab.c", kTypeA);
  Question question;
  ASSERT_TRUE(ParseQuestion(query, &question));
  DnsAnswer answer;
  answer.v4 = {0x7F010203};
  answer.ttl = 7;
  std::string out;
  AppendAnswer(question, answer, 512, &out);
  // The head, then the question as it came, in its own mix of cases.
  EXPECT_EQ(out, std::string("\x12\x34\x85\x80\0\1\0\1\0\0\0\0", 12) +
                     query.substr(12) +
                     std::string("\xc0\x0c\0\1\0\1\0\0\0\7\0\4\x7f\1\2\3", 16));
}

TEST(DnsMessageTest, AnswersWithIpv6) {
  Question question;
  ASSERT_TRUE(ParseQuestion(Query("a", kTypeAaaa), &question));
  DnsAnswer answer;
  answer.v6 = {Ipv6{0, 1, 2}};
  std::string out;
  AppendAnswer(question, answer, 512, &out);
  EXPECT_EQ(out[7], 1);
  EXPECT_EQ(out.substr(out.size() - 18),
            std::string("\0\x10\0\1\2", 5) + std::string(13, '\0'));
}

TEST(DnsMessageTest, SaysHowLongANameDoesNotExist) {
  Question question;
  ASSERT_TRUE(ParseQuestion(Query("a", kTypeA), &question));
  DnsAnswer answer;
  answer.rcode = Rcode::kNxDomain;
  std::string out;
  AppendAnswer(question, answer, 512, &out);
  EXPECT_EQ(out[3] & 15, 3);
  EXPECT_EQ(out[9], 1);  // one authority record
  EXPECT_EQ(out.substr(out.size() - 4), std::string("\0\0\0\x3c", 4));
  // The same for a type that a name does not have.
  answer.rcode = Rcode::kNoError;
  out.clear();
  AppendAnswer(question, answer, 512, &out);
  EXPECT_EQ(out[3] & 15, 0);
  EXPECT_EQ(out[9], 1);
}

TEST(DnsMessageTest, TruncatesWhatIsTooLong) {
  Question question;
  ASSERT_TRUE(ParseQuestion(Query("a", kTypeA), &question));
  DnsAnswer answer;
  answer.v4.assign(100, 1);
  std::string out = "before";
  AppendAnswer(question, answer, 512, &out);
  EXPECT_TRUE(out.starts_with("before"));
  out.erase(0, 6);
  EXPECT_EQ(out.size(), 12 + question.wire.size());
  EXPECT_EQ(out[2] & 2, 2);
  EXPECT_EQ(out[7], 0);
  out.clear();
  AppendAnswer(question, answer, 65'535, &out);
  EXPECT_EQ(out[7], 100);
}

TEST(DnsMessageTest, RefusesBrokenQuestions) {
  Question question;
  const std::string good = Query("a.b", kTypeA, true);
  for (size_t size = 0; size < good.size(); ++size) {
    const auto parsed = ParseQuestion(good.substr(0, size), &question);
    ASSERT_FALSE(parsed) << size;
    EXPECT_EQ(parsed.error().answer, size >= 12) << size;
  }
  auto broken = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    const auto parsed = ParseQuestion(bytes, &question);
    return parsed ? QuestionError{true, Rcode::kNoError} : parsed.error();
  };
  EXPECT_FALSE(broken(2, '\x81').answer);  // an answer
  EXPECT_EQ(broken(2, '\x28').rcode, Rcode::kNotImp);
  EXPECT_EQ(broken(5, 2).rcode, Rcode::kFormErr);        // two questions
  EXPECT_EQ(broken(12, '\xc0').rcode, Rcode::kFormErr);  // a pointer
  EXPECT_EQ(broken(12, 64).rcode, Rcode::kFormErr);
  EXPECT_EQ(broken(20, 3).rcode, Rcode::kRefused);  // another class
  const std::string label(63, 'a');
  EXPECT_FALSE(ParseQuestion(
      Query(label + "." + label + "." + label + "." + label, kTypeA),
      &question));
  EXPECT_FALSE(
      ParseQuestion(good + std::string(kMaxQuestionBytes, 'x'), &question));
}

TEST(DnsMessageTest, TakesADotInALabelForNoSeparator) {
  std::string query = Query("a_b", kTypeA);
  query[14] = '.';
  Question question;
  ASSERT_TRUE(ParseQuestion(query, &question));
  EXPECT_EQ(question.name, "a\\b");
}

}  // namespace
}  // namespace nephila::sim
