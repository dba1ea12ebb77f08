// Whatever bytes come in as a question: no byte outside is read, and an answer
// repeats the question and keeps its limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sim/dns_message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::sim;  // NOLINT(google-build-using-namespace)
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Question question;
  std::string out;
  if (!ParseQuestion(bytes, &question)) return 0;
  NEPHILA_CHECK(question.name.size() <= 253);
  NEPHILA_CHECK(question.udp_bytes >= 512);
  NEPHILA_CHECK(bytes.substr(12).starts_with(question.wire));
  DnsAnswer answer;
  answer.v4.assign(size % 50, 1);
  answer.v6.assign(size % 20, Ipv6{});
  AppendAnswer(question, answer, question.udp_bytes, &out);
  NEPHILA_CHECK(out.size() <= question.udp_bytes);
  NEPHILA_CHECK(out.compare(0, 2, bytes.substr(0, 2)) == 0);
  NEPHILA_CHECK(out.compare(12, question.wire.size(), question.wire) == 0);
  return 0;
}
