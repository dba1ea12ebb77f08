// Rules: what one robots.txt file says to our agent, as compact bytes that are
// stored and matched as they are (docs/formats/robots.md).
//
// Rules without a '*' inside are a sorted table of texts, each with its longest
// proper prefix in the table and the rule that wins among all its prefixes:
// one binary search answers for thousands of them. Rules with one stand behind
// it, the strongest first (Matcher, matcher.h).
//   In: bytes of CompileRules, a disk's, or an enemy's   Out: a view of them
//   Invariant: what Open lets through can be matched without looking outside
//   the bytes and without a loop; flipped bits fail the checksum
//   Threads: an immutable view; the bytes outlive it
//   Cost of Open: one pass over the bytes, about 0.2 us per KiB
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "robots/parser.h"

namespace nephila::robots {

class Rules {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // kCorruption for bytes that are not such rules, kUnsupported for those of a
  // later version.
  static Result<Rules> Open(std::string_view bytes);

  // How it reads in a file: "Disallow: /x*y$", in the spelling of pattern.h.
  // REQUIRES: rule < rule_count().
  std::string RuleText(uint32_t rule) const;
  std::optional<std::chrono::milliseconds> crawl_delay() const;
  // Everything is forbidden, whatever the rules: robots.txt is unreachable.
  bool disallows_all() const { return disallows_all_; }
  // A part of the file was left out.
  bool cut() const { return cut_; }
  Group group() const { return group_; }
  size_t size_bytes() const { return bytes_.size(); }

  // The tables, for Matcher. Rules below wild_count() have a '*' inside, the
  // strongest first; the others belong to nodes of the sorted table.
  uint32_t rule_count() const { return rules_; }
  uint32_t node_count() const { return nodes_; }
  uint32_t wild_count() const { return wilds_; }
  uint32_t RuleLine(uint32_t rule) const { return RuleField(rule, 0); }
  uint32_t RulePriority(uint32_t rule) const { return RuleField(rule, 1) >> 2; }
  bool RuleAllows(uint32_t rule) const { return (RuleField(rule, 1) & 1) != 0; }
  bool RuleHasDollar(uint32_t rule) const {
    return (RuleField(rule, 1) & 2) != 0;
  }
  uint32_t NodeParent(uint32_t node) const { return NodeField(node, 0); }
  // Wins among the rules that hold for all paths with the node's text as
  // prefix.
  uint32_t NodeBest(uint32_t node) const { return NodeField(node, 1); }
  // Holds for the path that is the node's text ("/x$").
  uint32_t NodeExact(uint32_t node) const { return NodeField(node, 2); }
  std::string_view NodeText(uint32_t node) const { return Text(node); }
  std::string_view WildText(uint32_t rule) const { return Text(nodes_ + rule); }
  // Whether the path must end with the rule's text.
  bool WildAnchored(uint32_t rule) const {
    return RuleHasDollar(rule) &&
           RulePriority(rule) == WildText(rule).size() + 1;
  }
  // The stronger of two rules, or of one and kNone (RFC 9309 s2.2.2: the
  // longest wins, and allow on ties).
  uint32_t Stronger(uint32_t a, uint32_t b) const;

 private:
  explicit Rules(std::string_view bytes) : bytes_(bytes) {}

  Status ReadHeader();
  bool TablesHold() const;
  bool RulesHold() const;

  // The i-th number of the tables, kNone for the largest of its width.
  uint32_t At(size_t i) const {
    const char* place = tables_ + i * width_;
    auto byte = [place](size_t k) {
      return static_cast<uint32_t>(static_cast<unsigned char>(place[k]));
    };
    uint32_t low = byte(0) | byte(1) << 8;
    if (width_ == 2) return low == UINT16_MAX ? kNone : low;
    return low | byte(2) << 16 | byte(3) << 24;
  }
  uint32_t RuleField(uint32_t rule, size_t field) const {
    return At(size_t{rule} * 3 + field);
  }
  uint32_t NodeField(uint32_t node, size_t field) const {
    return At(size_t{rules_} * 3 + size_t{node} * 3 + field);
  }
  uint32_t TextEnd(size_t text) const {
    return At(size_t{rules_} * 3 + size_t{nodes_} * 3 + text);
  }
  std::string_view Text(uint32_t text) const {
    uint32_t begin = text == 0 ? 0 : TextEnd(text - 1);
    return {texts_ + begin, TextEnd(text) - begin};
  }

  std::string_view bytes_;
  const char* tables_ = nullptr;
  const char* texts_ = nullptr;
  size_t width_ = 2;
  uint32_t rules_ = 0;
  uint32_t nodes_ = 0;
  uint32_t wilds_ = 0;
  uint32_t text_bytes_ = 0;
  uint32_t delay_ms_ = kNone;
  Group group_ = Group::kNone;
  bool disallows_all_ = false;
  bool cut_ = false;
};

// The rules of a file that was read for our agent.
std::string CompileRules(const RobotsFile& file);

// The rules of a site that has none (RFC 9309 s2.3.1.3), and of one that
// cannot be reached (s2.3.1.4).
std::string CompileAllowAll();
std::string CompileDisallowAll();

}  // namespace nephila::robots
