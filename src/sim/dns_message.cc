#include "sim/dns_message.h"

namespace nephila::sim {
namespace {

constexpr size_t kHeadBytes = 12;
constexpr uint32_t kNegativeTtl = 60;

void U16(uint64_t value, std::string* out) {
  out->push_back(static_cast<char>(value >> 8 & 0xFF));
  out->push_back(static_cast<char>(value & 0xFF));
}

void U32(uint64_t value, std::string* out) {
  U16(value >> 16, out);
  U16(value, out);
}

// Big-endian, inside its bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool Skip(size_t size) {
    if (size > bytes_.size() - position_) return false;
    position_ += size;
    return true;
  }
  bool U8(uint32_t* value) {
    if (position_ == bytes_.size()) return false;
    *value = static_cast<unsigned char>(bytes_[position_++]);
    return true;
  }
  bool U16(uint32_t* value) {
    uint32_t high = 0;
    uint32_t low = 0;
    if (!U8(&high) || !U8(&low)) return false;
    *value = high << 8 | low;
    return true;
  }
  size_t position() const { return position_; }
  std::string_view Since(size_t begin) const {
    return bytes_.substr(begin, position_ - begin);
  }

 private:
  std::string_view bytes_;
  size_t position_ = 0;
};

// Labels up to the root. A question has nothing to point back to, so
// compression is refused, and with it every loop.
bool ReadName(Reader* reader, std::string* name) {
  name->clear();
  while (true) {
    uint32_t length = 0;
    if (!reader->U8(&length) || length > 63) return false;
    if (length == 0) return true;
    if (!name->empty()) name->push_back('.');
    for (uint32_t i = 0; i < length; ++i) {
      uint32_t byte = 0;
      if (!reader->U8(&byte)) return false;
      if (byte >= 'A' && byte <= 'Z') byte += 'a' - 'A';
      // A dot inside a label is no separator; no name of ours has one.
      name->push_back(byte == '.' ? '\\' : static_cast<char>(byte));
    }
    if (name->size() > 253) return false;
  }
}

void AppendFlags(const Question& question, Rcode rcode, bool truncated,
                 std::string* out) {
  U16(question.id, out);
  const uint32_t flags = 0x8000U | 0x0400U |  // an answer, with authority
                         (truncated ? 0x0200U : 0U) |
                         (question.recursion_desired ? 0x0180U : 0U) |
                         static_cast<uint32_t>(rcode);
  U16(flags, out);
}

void AppendRecordHead(uint16_t type, uint32_t ttl, size_t size,
                      std::string* out) {
  U16(0xC000 | kHeadBytes, out);  // the name of the question
  U16(type, out);
  U16(1, out);
  U32(ttl, out);
  U16(size, out);
}

void AppendSoa(std::string* out) {
  // Server and mailbox are the root; then serial, refresh, retry, expire and
  // how long a negative answer holds.
  AppendRecordHead(kTypeSoa, kNegativeTtl, 22, out);
  out->append(2, '\0');
  for (uint32_t value : {1U, 3600U, 600U, 86'400U, kNegativeTtl}) {
    U32(value, out);
  }
}

void AppendOpt(std::string* out) {
  out->push_back('\0');
  U16(kTypeOpt, out);
  U16(1232, out);
  U32(0, out);
  U16(0, out);
}

size_t RecordsFor(const Question& question, const DnsAnswer& answer) {
  if (answer.rcode != Rcode::kNoError) return 0;
  if (question.type == kTypeA) return answer.v4.size();
  return question.type == kTypeAaaa ? answer.v6.size() : 0;
}

void AppendRecords(const Question& question, const DnsAnswer& answer,
                   std::string* out) {
  if (question.type == kTypeA) {
    for (uint32_t address : answer.v4) {
      AppendRecordHead(kTypeA, answer.ttl, 4, out);
      U32(address, out);
    }
    return;
  }
  for (const Ipv6& address : answer.v6) {
    AppendRecordHead(kTypeAaaa, answer.ttl, address.size(), out);
    out->append(reinterpret_cast<const char*>(address.data()), address.size());
  }
}

}  // namespace

Result<void, QuestionError> ParseQuestion(std::string_view bytes,
                                          Question* question) {
  *question = {};
  if (bytes.size() > kMaxQuestionBytes) return Unexpected(QuestionError{});
  Reader reader(bytes);
  uint32_t id = 0;
  uint32_t flags = 0;
  std::array<uint32_t, 4> counts{};
  if (!reader.U16(&id) || !reader.U16(&flags)) {
    return Unexpected(QuestionError{});
  }
  for (uint32_t& count : counts) {
    if (!reader.U16(&count)) return Unexpected(QuestionError{});
  }
  // To answer an answer would be a conversation without end.
  if ((flags & 0x8000U) != 0) return Unexpected(QuestionError{});
  question->id = static_cast<uint16_t>(id);
  question->recursion_desired = (flags & 0x0100U) != 0;
  if ((flags & 0x7800U) != 0) {
    return Unexpected(QuestionError{true, Rcode::kNotImp});
  }
  const auto form_error = Unexpected(QuestionError{true, Rcode::kFormErr});
  uint32_t type = 0;
  uint32_t dns_class = 0;
  if (counts[0] != 1 || counts[1] != 0 || counts[2] != 0 || counts[3] > 1 ||
      !ReadName(&reader, &question->name) || !reader.U16(&type) ||
      !reader.U16(&dns_class)) {
    return form_error;
  }
  question->wire = reader.Since(kHeadBytes);
  question->type = static_cast<uint16_t>(type);
  if (dns_class != 1) return Unexpected(QuestionError{true, Rcode::kRefused});
  if (counts[3] == 0) return {};
  std::string root;
  uint32_t size = 0;
  uint32_t length = 0;
  if (!ReadName(&reader, &root) || !reader.U16(&type) || !reader.U16(&size) ||
      !reader.Skip(4) || !reader.U16(&length) || !reader.Skip(length)) {
    return form_error;
  }
  if (type == kTypeOpt && root.empty()) {
    question->edns = true;
    question->udp_bytes = static_cast<uint16_t>(size < 512 ? 512 : size);
  }
  return {};
}

void AppendAnswer(const Question& question, const DnsAnswer& answer,
                  size_t limit, std::string* out) {
  const size_t begin = out->size();
  const size_t records = RecordsFor(question, answer);
  const bool negative = records == 0 && (answer.rcode == Rcode::kNoError ||
                                         answer.rcode == Rcode::kNxDomain);
  AppendFlags(question, answer.rcode, false, out);
  U16(1, out);
  U16(records, out);
  U16(negative ? 1 : 0, out);
  U16(question.edns ? 1 : 0, out);
  out->append(question.wire);
  if (records > 0) AppendRecords(question, answer, out);
  if (negative) AppendSoa(out);
  if (question.edns) AppendOpt(out);
  if (out->size() - begin <= limit) return;
  out->resize(begin);
  AppendFlags(question, answer.rcode, true, out);
  U16(1, out);
  U32(0, out);
  U16(question.edns ? 1 : 0, out);
  out->append(question.wire);
  if (question.edns) AppendOpt(out);
}

void AppendDnsError(const Question& question, Rcode rcode, std::string* out) {
  AppendFlags(question, rcode, false, out);
  U32(0, out);
  U32(0, out);
}

}  // namespace nephila::sim
