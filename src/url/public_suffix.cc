#include "url/public_suffix.h"

#include <cstring>

#include "base/check.h"
#include "url/host.h"

extern "C" {
extern const char nephila_public_suffix_list_begin[];
extern const char nephila_public_suffix_list_end[];
}

namespace nephila::url {
namespace {

// What the list says of a suffix. Each bit of the ICANN section stands again,
// shifted, for the private section.
enum : uint8_t {
  kRule = 1,             // "co.uk"
  kWildcard = 2,         // "*.ck", noted at "ck"
  kException = 4,        // "!www.ck"
  kInside = 64,          // there are longer suffixes in the ICANN section,
  kInsidePrivate = 128,  // in the private one
};
constexpr int kPrivateShift = 3;

std::string_view TrimSpace(std::string_view line) {
  // A rule ends at the first white space.
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  line.remove_prefix(begin);
  return line.substr(0, line.find_first_of(" \t\r"));
}

// Where the label begins that ends before `end`.
size_t LabelStart(std::string_view name, size_t end) {
  const void* dot = memrchr(name.data(), '.', end);
  if (dot == nullptr) return 0;
  return static_cast<size_t>(static_cast<const char*>(dot) - name.data()) + 1;
}

// Of a label under its parent. Whoever finds a collision gains one more probe:
// the table holds nothing of the attacker's.
uint32_t HashOf(uint32_t parent, std::string_view label) {
  constexpr uint64_t kMultiplier = 0xff51afd7ed558ccdu;
  uint64_t hash = parent * uint64_t{0x9e3779b97f4a7c15u} + label.size();
  const char* bytes = label.data();
  size_t left = label.size();
  uint64_t word = 0;
  for (; left >= 8; left -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  // Up to seven bytes by loads that overlap.
  if (left >= 4) {
    uint32_t head = 0;
    uint32_t tail = 0;
    memcpy(&head, bytes, 4);
    memcpy(&tail, bytes + left - 4, 4);
    word = uint64_t{head} << 32 | tail;
  } else if (left > 0) {
    auto at = [bytes](size_t i) {
      return uint64_t{static_cast<unsigned char>(bytes[i])};
    };
    word = at(0) << 16 | at(left / 2) << 8 | at(left - 1);
  } else {
    word = 0;
  }
  hash = (hash ^ word) * kMultiplier;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace

Result<PublicSuffixList> PublicSuffixList::Parse(std::string_view text) {
  PublicSuffixList list;
  list.slots_.assign(1 << 10, {0, kNoNode});
  bool is_private = false;
  bool saw_section = false;
  size_t number = 0;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find("===BEGIN ICANN DOMAINS===") != std::string_view::npos) {
      saw_section = true;
      is_private = false;
    } else if (line.find("===BEGIN PRIVATE DOMAINS===") !=
               std::string_view::npos) {
      is_private = true;
    }
    line = TrimSpace(line);
    if (line.empty() || line.starts_with("//")) continue;
    if (Status status = list.AddLine(line, is_private); !status) {
      return Unexpected(std::move(status).error().WithContext(
          "public suffix list, line " + std::to_string(number)));
    }
  }
  if (!saw_section || list.rule_count_ == 0) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            "public suffix list: no ICANN section in it"});
  }
  return list;
}

std::string_view PublicSuffixList::BuiltInText() {
  return {nephila_public_suffix_list_begin,
          static_cast<size_t>(nephila_public_suffix_list_end -
                              nephila_public_suffix_list_begin)};
}

PublicSuffixList PublicSuffixList::BuiltIn() {
  auto list = Parse(BuiltInText());
  NEPHILA_CHECK(list.has_value());
  return *std::move(list);
}

Status PublicSuffixList::AddLine(std::string_view line, bool is_private) {
  uint8_t kind = kRule;
  std::string_view suffix = line;
  if (suffix.starts_with('!')) {
    kind = kException;
    suffix.remove_prefix(1);
  } else if (suffix.starts_with("*.")) {
    kind = kWildcard;
    suffix.remove_prefix(2);
  } else if (suffix == "*") {
    return {};  // what RegistrableDomain does anyway
  }
  std::string ascii;
  bool is_name = !suffix.empty() && AppendHost(suffix, /*special=*/true,
                                               &ascii) == HostKind::kDomain;
  if (!is_name || !IsDnsName(ascii) || ascii.ends_with('.')) {
    return Unexpected(
        Error{ErrorCode::kCorruption, "not a rule: " + std::string(line)});
  }
  uint32_t node = kNoNode;
  std::string_view rest = ascii;
  for (bool more = true; more;) {
    size_t dot = rest.rfind('.');
    more = dot != std::string_view::npos;
    if (node != kNoNode) {
      nodes_[node].flags = static_cast<uint8_t>(
          nodes_[node].flags | (is_private ? kInsidePrivate : kInside));
    }
    node = AddChild(node, rest.substr(more ? dot + 1 : 0));
    rest = rest.substr(0, more ? dot : 0);
  }
  auto bit = static_cast<uint8_t>(is_private ? kind << kPrivateShift : kind);
  nodes_[node].flags = static_cast<uint8_t>(nodes_[node].flags | bit);
  ++rule_count_;
  return {};
}

std::string_view PublicSuffixList::RegistrableDomain(std::string_view host,
                                                     Rules rules) const {
  // The dot that ends an absolute name belongs to the answer, not to a label.
  size_t end = host.size() - (host.ends_with('.') ? 1 : 0);
  std::string_view name = host.substr(0, end);
  if (name.empty() || name.starts_with('.')) return {};

  // `suffix` begins the longest public suffix seen, `here` the label in hand.
  uint32_t node = kNoNode;
  size_t suffix = LabelStart(name, end);
  bool wildcard = false;
  bool inside = true;  // the list goes deeper here
  for (size_t here = end + 1; here > 0 && (inside || wildcard);) {
    size_t behind = here;
    here = LabelStart(name, behind - 1);
    std::string_view label = name.substr(here, behind - 1 - here);
    if (label.empty()) return {};
    if (wildcard) suffix = here;
    if (!inside) break;
    node = FindChild(node, label);
    if (node == kNoNode) break;
    unsigned flags = nodes_[node].flags;
    inside = (flags & kInside) != 0;
    if (rules == Rules::kIcannAndPrivate) {
      inside |= (flags & kInsidePrivate) != 0;
      flags |= flags >> kPrivateShift;
    }
    if ((flags & kRule) != 0) suffix = here;
    wildcard = (flags & kWildcard) != 0;
    if ((flags & kException) != 0) {
      suffix = behind;
      break;
    }
  }
  if (suffix == 0) return {};  // the host is a public suffix
  size_t begin = LabelStart(name, suffix - 1);
  if (begin == suffix - 1) return {};  // an empty label
  return host.substr(begin);
}

uint32_t PublicSuffixList::FindChild(uint32_t parent,
                                     std::string_view label) const {
  size_t mask = slots_.size() - 1;
  uint32_t hash = HashOf(parent, label);
  for (size_t i = hash & mask; slots_[i].node != kNoNode; i = (i + 1) & mask) {
    if (slots_[i].hash != hash) continue;
    const Node& node = nodes_[slots_[i].node];
    if (node.parent == parent && node.label_length == label.size() &&
        memcmp(labels_.data() + node.label, label.data(), label.size()) == 0) {
      return slots_[i].node;
    }
  }
  return kNoNode;
}

uint32_t PublicSuffixList::AddChild(uint32_t parent, std::string_view label) {
  uint32_t number = FindChild(parent, label);
  if (number != kNoNode) return number;
  number = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({parent, static_cast<uint32_t>(labels_.size()),
                    static_cast<uint8_t>(label.size()), 0});
  labels_.append(label);
  if (nodes_.size() * 2 > slots_.size()) {
    slots_.assign(slots_.size() * 2, {0, kNoNode});
    for (uint32_t i = 0; i < number; ++i) Insert(i);
  }
  Insert(number);
  return number;
}

void PublicSuffixList::Insert(uint32_t number) {
  const Node& node = nodes_[number];
  uint32_t hash = HashOf(node.parent, std::string_view(labels_).substr(
                                          node.label, node.label_length));
  size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].node != kNoNode) i = (i + 1) & mask;
  slots_[i] = {hash, number};
}

}  // namespace nephila::url
