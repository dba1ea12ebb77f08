// PublicSuffixList: which part of a host name somebody pays for.
//
// The pay-level domain (PLD) of a host is its public suffix and one label
// more. Budgets are given per PLD by the ICANN rules alone, so that free
// subdomains (blogspot.com) are no cheap votes (IRLbot s5.1, table 4); the
// scope of a site crawl uses the private rules too.
//   Threads: immutable after Parse, safe to share.
//   Cost: one hash probe per label that the list knows, plus one; half a MB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nephila::url {

class PublicSuffixList {
 public:
  enum class Rules : uint8_t { kIcann, kIcannAndPrivate };

  // Compiles the text of a public_suffix_list.dat.
  static Result<PublicSuffixList> Parse(std::string_view text);
  // The list that this program was built with.
  static PublicSuffixList BuiltIn();
  static std::string_view BuiltInText();

  // The registrable domain of `host`, a part of it; empty if the host is a
  // public suffix itself or has an empty label. A last label that no rule
  // knows is a public suffix. REQUIRES: a domain as url/parser.h leaves it:
  // ASCII, lower case; a dot at its end is kept.
  std::string_view RegistrableDomain(std::string_view host, Rules rules) const;

  size_t rule_count() const { return rule_count_; }

 private:
  // A suffix that the list names, or that leads to one: a node of a trie over
  // labels from the right, found by (parent, label) in a hash table.
  struct Node {
    uint32_t parent;
    uint32_t label;  // offset in labels_
    uint8_t label_length;
    uint8_t flags;
  };
  static constexpr uint32_t kNoNode = UINT32_MAX;
  // The hash beside the number: a label that the list does not know, as most
  // are, is turned away without a look at a node.
  struct Slot {
    uint32_t hash;
    uint32_t node;
  };

  Status AddLine(std::string_view line, bool is_private);
  uint32_t FindChild(uint32_t parent, std::string_view label) const;
  uint32_t AddChild(uint32_t parent, std::string_view label);
  void Insert(uint32_t number);

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;  // open addressing
  std::string labels_;
  size_t rule_count_ = 0;
};

}  // namespace nephila::url
