#include "robots/matcher.h"

#include <algorithm>
#include <cstring>

#include "robots/pattern.h"

namespace nephila::robots {
namespace {

size_t CommonPrefix(std::string_view a, std::string_view b) {
  size_t size = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(size),
                    b.begin())
          .first -
      a.begin());
}

// The pairs of neighbours in a text, each as one of 64 bits: a text that is in
// another has no bit that the other has not. Stars have no neighbours.
uint64_t PairsOf(std::string_view text) {
  uint64_t pairs = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    auto first = static_cast<unsigned char>(text[i - 1]);
    auto second = static_cast<unsigned char>(text[i]);
    if (first == '*' || second == '*') continue;
    pairs |= uint64_t{1} << ((first * 37U + second * 11U) % 64);
  }
  return pairs;
}

}  // namespace

std::string_view MatchedPart(const url::Url& url) {
  std::string_view href = url.href();
  if (url.has_fragment()) href.remove_suffix(url.fragment().size() + 1);
  return href.substr(static_cast<size_t>(url.path().data() - href.data()));
}

Matcher::Matcher(const Rules& rules, WildWay way) : rules_(rules), way_(way) {
  pairs_.reserve(rules.wild_count());
  for (uint32_t rule = 0; rule < rules.wild_count(); ++rule) {
    pairs_.push_back(PairsOf(rules.WildText(rule)));
  }
}

bool Matcher::Scans(size_t path_bytes) const {
  if (way_ != WildWay::kCheaper) return way_ == WildWay::kScan;
  uint32_t count = rules_.wild_count();
  return count > kFewRules && uint64_t{count} * path_bytes > kFewSteps;
}

Answer Matcher::Match(std::string_view path) {
  if (path.empty()) path = "/";
  // Always allowed, so that a site can be asked again (s2.2.2).
  if (path == "/robots.txt") return {};
  if (rules_.disallows_all()) return {false, Rules::kNone, 0};
  path = NormalizePath(path, &buffer_);
  steps_ += path.size();
  uint32_t rule = BestPlain(path);
  if (rules_.wild_count() > 0) {
    rule = rules_.Stronger(BestWild(path, rule), rule);
  }
  if (rule == Rules::kNone) return {};
  return {rules_.RuleAllows(rule), rule, rules_.RuleLine(rule)};
}

// The last text that is not behind the path in the order of texts is either a
// prefix of it or shares with it all that the longest such prefix can have.
uint32_t Matcher::BestPlain(std::string_view path) {
  uint32_t low = 0;
  uint32_t high = rules_.node_count();
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    std::string_view text = rules_.NodeText(middle);
    steps_ += std::min(text.size(), path.size());
    if (text <= path) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return Rules::kNone;
  uint32_t node = low - 1;
  size_t common = CommonPrefix(rules_.NodeText(node), path);
  steps_ += common;
  while (rules_.NodeText(node).size() > common) {
    ++steps_;
    node = rules_.NodeParent(node);
    if (node == Rules::kNone) return Rules::kNone;
  }
  uint32_t best = rules_.NodeBest(node);
  if (rules_.NodeText(node).size() == path.size()) {
    best = rules_.Stronger(rules_.NodeExact(node), best);
  }
  return best;
}

// The strongest rule with a '*' inside, if it is stronger than `rival`.
uint32_t Matcher::BestWild(std::string_view path, uint32_t rival) {
  uint32_t count = rules_.wild_count();
  if (Scans(path.size())) {
    if (!scan_) scan_ = std::make_unique<WildScan>(rules_);
    return scan_->Best(path, rival, &steps_);
  }
  uint64_t absent = ~PairsOf(path);
  steps_ += path.size();
  for (uint32_t rule = 0; rule < count; ++rule) {
    // They are sorted: no later one can win either.
    if (rival != Rules::kNone && rules_.Stronger(rival, rule) == rival) break;
    if ((pairs_[rule] & absent) == 0 && WildMatches(rule, path)) return rule;
  }
  return Rules::kNone;
}

// The leftmost place for each piece leaves the most room for the next, so a
// search never has to go back. memmem is linear in what it looks through.
bool Matcher::WildMatches(uint32_t rule, std::string_view path) {
  std::string_view text = rules_.WildText(rule);
  size_t star = text.find('*');
  steps_ += std::min(star, path.size());
  if (!path.starts_with(text.substr(0, star))) return false;
  path.remove_prefix(star);
  text.remove_prefix(star + 1);
  bool anchored = rules_.WildAnchored(rule);
  while (true) {
    star = text.find('*');
    std::string_view piece = text.substr(0, star);
    bool last = star == std::string_view::npos;
    if (last && anchored) {
      steps_ += piece.size();
      return path.ends_with(piece);
    }
    const void* found =
        memmem(path.data(), path.size(), piece.data(), piece.size());
    if (found == nullptr) {
      steps_ += path.size();
      return false;
    }
    auto at =
        static_cast<size_t>(static_cast<const char*>(found) - path.data());
    steps_ += at + piece.size();
    if (last) return true;
    path.remove_prefix(at + piece.size());
    text.remove_prefix(star + 1);
  }
}

}  // namespace nephila::robots
