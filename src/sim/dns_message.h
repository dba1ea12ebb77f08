// DNS messages of the simulated name server (RFC 1035 s4, EDNS by RFC 6891):
// reads questions, writes answers.
//
// A question is echoed byte by byte, so that resolvers which mix upper and
// lower case to be safe find their own.
//   Input: hostile; at most kMaxQuestionBytes; time linear in it. Threads: any.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::sim {

inline constexpr size_t kMaxQuestionBytes = 1024;

inline constexpr uint16_t kTypeA = 1;
inline constexpr uint16_t kTypeSoa = 6;
inline constexpr uint16_t kTypeAaaa = 28;
inline constexpr uint16_t kTypeOpt = 41;

enum class Rcode : uint8_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
};

struct Question {
  uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;  // lower case, without the final dot; for us to look up
  std::string wire;  // name, type and class as they came
  uint16_t type = 0;
  uint16_t udp_bytes = 512;  // what the asker takes by UDP
  bool edns = false;
};

struct QuestionError {
  bool answer = false;  // else it is not even worth an error
  Rcode rcode = Rcode::kFormErr;
};

// After an error with `answer` the id is in the Question.
Result<void, QuestionError> ParseQuestion(std::string_view bytes,
                                          Question* question);

using Ipv6 = std::array<uint8_t, 16>;

struct DnsAnswer {
  Rcode rcode = Rcode::kNoError;
  std::vector<uint32_t> v4;
  std::vector<Ipv6> v6;
  uint32_t ttl = 300;
  bool silent = false;    // say nothing at all
  bool truncate = false;  // by UDP
  // Before the answer, or, by TCP with `drip`, before each of its bytes.
  std::chrono::nanoseconds delay{0};
  bool drip = false;
};

// Appends the message. Longer than `limit`, it is sent without records and with
// TC set: ask again by TCP. Names that do not exist, and types that a name does
// not have, come with the SOA that says how long that holds (RFC 2308).
void AppendAnswer(const Question& question, const DnsAnswer& answer,
                  size_t limit, std::string* out);

// Just the head, for what could not be read.
void AppendDnsError(const Question& question, Rcode rcode, std::string* out);

}  // namespace nephila::sim
