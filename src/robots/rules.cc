#include "robots/rules.h"

#include "base/bytes.h"
#include "base/checksum.h"
#include "robots/rules_format.h"

namespace nephila::robots {
namespace {

Unexpected<Error> Corrupt(const char* what) {
  return Unexpected(
      Error{ErrorCode::kCorruption, std::string("robots rules: ") + what});
}

}  // namespace

Result<Rules> Rules::Open(std::string_view bytes) {
  Rules rules(bytes);
  NEPHILA_RETURN_IF_ERROR(rules.ReadHeader());
  if (!rules.TablesHold() || !rules.RulesHold()) {
    return Corrupt("tables that contradict themselves");
  }
  return rules;
}

Status Rules::ReadHeader() {
  if (bytes_.size() < kRulesHeaderBytes || !bytes_.starts_with(kRulesMagic)) {
    return Corrupt("no header");
  }
  ByteReader reader(bytes_.substr(kRulesMagic.size()));
  // Fixed widths within a header whose size is checked: none can fail.
  uint8_t version = *reader.U8();
  uint8_t flags = *reader.U8();
  uint16_t reserved = *reader.U16();
  uint32_t checksum = *reader.U32();
  delay_ms_ = *reader.U32();
  rules_ = *reader.U32();
  nodes_ = *reader.U32();
  wilds_ = *reader.U32();
  text_bytes_ = *reader.U32();
  if (version > kRulesVersion) {
    return Unexpected(Error{ErrorCode::kUnsupported,
                            "robots rules: written by a later version"});
  }
  uint32_t head = Crc32c(bytes_.substr(0, kRulesChecksumAt));
  if (version != kRulesVersion || reserved != 0 ||
      checksum != ExtendCrc32c(head, bytes_.substr(kRulesChecksumAt + 4))) {
    return Corrupt("the checksum does not fit");
  }
  width_ = (flags & kWideFlag) != 0 ? 4 : 2;
  disallows_all_ = (flags & kDisallowAllFlag) != 0;
  cut_ = (flags & kCutFlag) != 0;
  uint8_t group = flags >> kGroupShift;
  if (group > static_cast<uint8_t>(Group::kOwn))
    return Corrupt("no such group");
  group_ = static_cast<Group>(group);
  uint64_t numbers =
      uint64_t{rules_} * 3 + uint64_t{nodes_} * 3 + nodes_ + uint64_t{wilds_};
  if (wilds_ > rules_ || text_bytes_ > kRulesMaxTextBytes ||
      kRulesHeaderBytes + numbers * width_ + text_bytes_ != bytes_.size()) {
    return Corrupt("lengths that do not fit");
  }
  tables_ = bytes_.data() + kRulesHeaderBytes;
  texts_ = tables_ + numbers * width_;
  return {};
}

bool Rules::TablesHold() const {
  uint32_t end = 0;
  for (size_t i = 0; i < size_t{nodes_} + wilds_; ++i) {
    uint32_t next = TextEnd(i);
    if (next < end || next > text_bytes_) return false;
    end = next;
  }
  if (end != text_bytes_) return false;
  for (uint32_t node = 0; node < nodes_; ++node) {
    uint32_t parent = NodeParent(node);
    uint32_t best = NodeBest(node);
    uint32_t exact = NodeExact(node);
    // A parent stands before its node: whoever follows them comes to an end.
    if (parent != kNone && parent >= node) return false;
    if (best != kNone && best >= rules_) return false;
    if (exact != kNone && exact >= rules_) return false;
  }
  return true;
}

bool Rules::RulesHold() const {
  for (uint32_t rule = 0; rule < rules_; ++rule) {
    uint32_t text = RuleField(rule, 2);
    if (rule < wilds_ ? text != nodes_ + rule : text >= nodes_) return false;
    // Matcher takes such a text apart at its first star.
    if (rule < wilds_ && Text(text).find('*') == std::string_view::npos) {
      return false;
    }
    // RuleText writes what priority has over the text's length.
    uint64_t size = Text(text).size();
    uint64_t priority = RulePriority(rule);
    uint64_t dollar = RuleHasDollar(rule) ? 1 : 0;
    if (priority < size + dollar || priority > size + kRulesMaxTextBytes) {
      return false;
    }
  }
  return true;
}

std::string Rules::RuleText(uint32_t rule) const {
  std::string text = RuleAllows(rule) ? "Allow: " : "Disallow: ";
  std::string_view pattern = Text(RuleField(rule, 2));
  text += pattern;
  size_t stars = RulePriority(rule) - pattern.size();
  if (RuleHasDollar(rule)) --stars;
  text.append(stars, '*');
  if (RuleHasDollar(rule)) text += '$';
  return text;
}

std::optional<std::chrono::milliseconds> Rules::crawl_delay() const {
  if (delay_ms_ == kNone) return std::nullopt;
  return std::chrono::milliseconds(delay_ms_);
}

uint32_t Rules::Stronger(uint32_t a, uint32_t b) const {
  if (a == kNone) return b;
  if (b == kNone) return a;
  uint32_t by = RulePriority(a);
  uint32_t than = RulePriority(b);
  if (by != than) return by > than ? a : b;
  return RuleAllows(b) && !RuleAllows(a) ? b : a;
}

}  // namespace nephila::robots
