#include "dns/answer_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "dns/message.h"

namespace nephila::dns {
namespace {

constexpr uint16_t kFlagAnswer = 0x8000;
constexpr uint16_t kFlagTruncated = 0x0200;
constexpr uint16_t kFlagRecursion = 0x0080;
constexpr uint16_t kMaskOpcode = 0x7800;
constexpr uint16_t kMaskRcode = 0x000f;
// A comment of a zone file.
constexpr std::string_view kMoreRecords = "; more records left out\n";

struct Head {
  uint16_t flags = 0;
  uint16_t questions = 0;
  uint16_t answers = 0;
  uint16_t authorities = 0;
  uint16_t additional = 0;
};

struct Record {
  std::string name;
  uint16_t type = 0;
  uint16_t dns_class = 0;
  uint32_t ttl_s = 0;
  size_t data_at = 0;
  std::string_view data;
};

bool ReadHead(MessageReader* reader, Head* head) {
  uint16_t id = 0;
  return reader->U16(&id) && reader->U16(&head->flags) &&
         reader->U16(&head->questions) && reader->U16(&head->answers) &&
         reader->U16(&head->authorities) && reader->U16(&head->additional);
}

bool ReadRecord(MessageReader* reader, Record* record) {
  uint16_t size = 0;
  if (!reader->Name(&record->name) || !reader->U16(&record->type) ||
      !reader->U16(&record->dns_class) || !reader->U32(&record->ttl_s) ||
      !reader->U16(&size)) {
    return false;
  }
  record->data_at = reader->position();
  // With its highest bit set a time to live is 0 (RFC 2181 s8).
  if (record->ttl_s > 0x7fffffff) record->ttl_s = 0;
  return reader->Bytes(size, &record->data);
}

// Passes a name without reading it: a pointer ends it.
bool SkipName(MessageReader* reader) {
  uint8_t length = 0;
  std::string_view label;
  while (reader->U8(&length)) {
    if (length == 0) return true;
    if (length >= 0xc0) return reader->U8(&length);
    if (length > 63 || !reader->Bytes(length, &label)) return false;
  }
  return false;
}

// The time to live of the OPT record, whose first byte is the upper part of
// the response code (RFC 6891 s6.1.3). Nothing if there is none, or if it
// stands behind what is broken.
std::optional<uint32_t> FindOpt(MessageReader reader, const Head& head) {
  if (head.additional == 0) return std::nullopt;
  for (size_t i = 0; i < head.questions; ++i) {
    uint32_t type_and_class = 0;
    if (!SkipName(&reader) || !reader.U32(&type_and_class)) return std::nullopt;
  }
  const size_t before = size_t{head.answers} + head.authorities;
  for (size_t i = 0; i < before + head.additional; ++i) {
    uint16_t type = 0;
    uint16_t dns_class = 0;
    uint16_t size = 0;
    uint32_t ttl_s = 0;
    std::string_view data;
    if (!SkipName(&reader) || !reader.U16(&type) || !reader.U16(&dns_class) ||
        !reader.U32(&ttl_s) || !reader.U16(&size) ||
        !reader.Bytes(size, &data)) {
      return std::nullopt;
    }
    if (i >= before && type == kTypeOpt) return ttl_s;
  }
  return std::nullopt;
}

AnswerKind KindOfRcode(uint16_t rcode) {
  switch (rcode) {
    case 0:
      return AnswerKind::kFound;  // if it has addresses
    case 1:
    case 4:
      return AnswerKind::kNotUnderstood;
    case 3:
      return AnswerKind::kNoSuchName;
    case 5:
    case 9:
      return AnswerKind::kRefused;
    default:
      return AnswerKind::kServerFailure;
  }
}

// Whether `name` is `zone` or below it.
bool InZone(std::string_view name, std::string_view zone) {
  if (zone.empty() || name == zone) return true;
  return name.size() > zone.size() && name.ends_with(zone) &&
         name[name.size() - zone.size() - 1] == '.';
}

// Reads one message and keeps what one function after the other finds in it.
class AnswerReader {
 public:
  AnswerReader(std::string_view message, const AnswerLimits& limits)
      : message_(message), limits_(limits), reader_(message) {}

  ParsedAnswer Read(std::string_view name, uint16_t type) {
    Head head;
    if (!ReadHead(&reader_, &head)) return Bad("shorter than a head");
    if ((head.flags & kFlagAnswer) == 0 || (head.flags & kMaskOpcode) != 0) {
      return Bad("not an answer");
    }
    auto rcode = static_cast<uint16_t>(head.flags & kMaskRcode);
    if (const auto opt = FindOpt(reader_, head)) {
      answer_.has_opt = true;
      rcode = static_cast<uint16_t>(rcode | *opt >> 24 << 4);
    }
    answer_.kind = KindOfRcode(rcode);
    const bool positive = answer_.kind == AnswerKind::kFound ||
                          answer_.kind == AnswerKind::kNoSuchName;
    // Who did not understand the question may not repeat it.
    if (head.questions == 0 && !positive) return std::move(answer_);
    if (head.questions != 1 || !QuestionIs(name, type)) {
      return Bad("an answer to another question");
    }
    if (!positive) return std::move(answer_);
    if (!ReadSection(head.answers)) return Bad("a broken record");
    if (!FollowChain(type)) return Bad(answer_.why);
    if (answer_.kind == AnswerKind::kFound && !answer_.addresses.empty()) {
      answer_.ttl_s = ttl_s_;
      return std::move(answer_);
    }
    if ((head.flags & kFlagTruncated) != 0) return Bad("truncated");
    answer_.addresses.clear();
    if (head.answers <= limits_.max_records) ReadAuthorities(head.authorities);
    if (answer_.kind == AnswerKind::kFound) {
      const bool resolves = (head.flags & kFlagRecursion) != 0;
      const bool says_nothing =
          owner_ == question_ && !has_soa_ && (has_ns_ || !resolves);
      answer_.kind =
          says_nothing ? AnswerKind::kServerFailure : AnswerKind::kNoAddress;
    }
    return std::move(answer_);
  }

 private:
  static ParsedAnswer Bad(std::string_view why) {
    ParsedAnswer bad;
    bad.why = why;
    return bad;
  }

  bool QuestionIs(std::string_view name, uint16_t type) {
    std::string asked;
    uint16_t asked_type = 0;
    uint16_t dns_class = 0;
    // As the reader spells it: a host may hold bytes that it escapes.
    const std::string wanted = MakeQuestion(name, type, 0, false);
    MessageReader ours(wanted);
    ours.Seek(kHeadBytes);
    std::string spelled;
    if (!ours.Name(&spelled)) return false;
    question_ = spelled;
    return reader_.Name(&asked) && reader_.U16(&asked_type) &&
           reader_.U16(&dns_class) && asked == spelled && asked_type == type &&
           dns_class == kClassIn;
  }

  bool ReadSection(size_t count) {
    count = std::min(count, limits_.max_records);
    // No record is shorter than 11 bytes: a count that lies takes no memory.
    records_.reserve(std::min(count, reader_.remaining() / 11 + 1));
    for (size_t i = 0; i < count; ++i) {
      Record record;
      if (!ReadRecord(&reader_, &record)) return false;
      records_.push_back(std::move(record));
    }
    return true;
  }

  // False with `why` set.
  bool FollowChain(uint16_t type) {
    owner_ = question_;
    std::vector<std::string> seen = {owner_};
    while (true) {
      if (!TakeAddresses(type)) return false;
      if (!answer_.addresses.empty()) return true;
      const Record* alias = FindAlias();
      if (alias == nullptr) return true;
      MessageReader target(message_);
      target.Seek(alias->data_at);
      std::string next;
      if (!target.Name(&next) ||
          target.position() != alias->data_at + alias->data.size()) {
        answer_.why = "a broken alias";
        return false;
      }
      Note(*alias, next + ".");
      if (std::find(seen.begin(), seen.end(), next) != seen.end()) {
        answer_.why = "aliases in a circle";
        return false;
      }
      if (seen.size() > limits_.max_chain) {
        answer_.why = "too many aliases";
        return false;
      }
      owner_ = next;
      seen.push_back(std::move(next));
    }
  }

  bool TakeAddresses(uint16_t type) {
    const size_t size = type == kTypeA ? 4 : 16;
    for (const Record& record : records_) {
      if (record.type != type || record.dns_class != kClassIn ||
          record.name != owner_) {
        continue;
      }
      const auto address = net::IpAddress::FromBytes(record.data);
      if (!address || record.data.size() != size) {
        answer_.why = "an address of a wrong length";
        return false;
      }
      if (answer_.addresses.size() == limits_.max_addresses) {
        ++answer_.addresses_dropped;
        continue;
      }
      answer_.addresses.push_back(*address);
      Note(record, address->ToString());
    }
    return true;
  }

  const Record* FindAlias() const {
    const auto found =
        std::find_if(records_.begin(), records_.end(), [&](const Record& r) {
          return r.type == kTypeCname && r.dns_class == kClassIn &&
                 r.name == owner_;
        });
    return found == records_.end() ? nullptr : &*found;
  }

  // A record of the chain: its text, and how long it holds.
  void Note(const Record& record, std::string_view data) {
    ttl_s_ = std::min(ttl_s_, record.ttl_s);
    if (text_full_) return;
    std::string& text = answer_.records;
    const size_t before = text.size();
    fmt::format_to(std::back_inserter(text), "{}.\t{}\tIN\t{}\t{}\n",
                   record.name, record.ttl_s, TypeName(record.type), data);
    if (text.size() + kMoreRecords.size() <= limits_.max_text_bytes) return;
    text_full_ = true;
    text.resize(before);
    text.append(kMoreRecords);
    text.shrink_to_fit();
  }

  // How long the absence holds: the SOA's own time or its minimum, whichever
  // is less (RFC 2308 s5). A broken one is none.
  void ReadAuthorities(size_t count) {
    count = std::min(count, limits_.max_records);
    for (size_t i = 0; i < count; ++i) {
      Record record;
      if (!ReadRecord(&reader_, &record)) return;
      if (record.type == kTypeNs) has_ns_ = true;
      if (record.type != kTypeSoa || record.dns_class != kClassIn ||
          !InZone(owner_, record.name)) {
        continue;
      }
      MessageReader data(message_);
      data.Seek(record.data_at);
      std::string server;
      std::string mailbox;
      if (!data.Name(&server) || !data.Name(&mailbox) ||
          data.position() + 20 != record.data_at + record.data.size()) {
        return;
      }
      uint32_t number = 0;
      for (int field = 0; field < 5; ++field) {
        if (!data.U32(&number)) return;
      }
      if (number > 0x7fffffff) number = 0;
      answer_.ttl_s = std::min({ttl_s_, record.ttl_s, number});
      has_soa_ = true;
      return;
    }
  }

  const std::string_view message_;
  const AnswerLimits& limits_;
  MessageReader reader_;
  ParsedAnswer answer_;
  std::vector<Record> records_;
  std::string question_;
  std::string owner_;  // the end of the chain so far
  uint32_t ttl_s_ = 0x7fffffff;
  bool text_full_ = false;
  bool has_soa_ = false;
  bool has_ns_ = false;
};

}  // namespace

ParsedAnswer ParseAnswer(std::string_view message, std::string_view name,
                         uint16_t type, const AnswerLimits& limits) {
  return AnswerReader(message, limits).Read(name, type);
}

}  // namespace nephila::dns
