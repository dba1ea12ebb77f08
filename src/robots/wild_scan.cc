#include "robots/wild_scan.h"

#include <algorithm>
#include <cstring>

namespace nephila::robots {
namespace {

// The pieces of a rule that have to be searched for: behind the first star, and
// if the rule is anchored before the last one.
template <typename F>
void ForEachPiece(std::string_view text, bool anchored, F&& f) {
  text.remove_prefix(text.find('*') + 1);
  while (true) {
    size_t star = text.find('*');
    bool last = star == std::string_view::npos;
    if (last && anchored) return;
    std::string_view piece = text.substr(0, star);
    if (!piece.empty()) f(piece);
    if (last) return;
    text.remove_prefix(star + 1);
  }
}

}  // namespace

WildScan::WildScan(const Rules& rules) : rules_(rules) {
  TakePieces(rules);
  MakeTrie();
  MakeLinks();
  // Words are found by their nodes from here on.
  for (Piece& piece : pieces_) piece.node = word_node_[piece.node];
  words_ = {};
  word_node_ = {};
  waiting_.assign(fail_.size(), kNone);
  next_piece_.assign(rules.wild_count(), 0);
  next_in_list_.assign(rules.wild_count(), kNone);
}

void WildScan::TakePieces(const Rules& rules) {
  for (uint32_t rule = 0; rule < rules.wild_count(); ++rule) {
    ForEachPiece(rules.WildText(rule), rules.WildAnchored(rule),
                 [this](std::string_view piece) { words_.push_back(piece); });
  }
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
  ways_.reserve(rules.wild_count());
  for (uint32_t rule = 0; rule < rules.wild_count(); ++rule) {
    auto begin = static_cast<uint32_t>(pieces_.size());
    ForEachPiece(
        rules.WildText(rule), rules.WildAnchored(rule),
        [this](std::string_view piece) {
          auto word = std::lower_bound(words_.begin(), words_.end(), piece);
          pieces_.push_back({static_cast<uint32_t>(word - words_.begin()),
                             static_cast<uint32_t>(piece.size())});
        });
    ways_.push_back({begin, static_cast<uint32_t>(pieces_.size())});
  }
}

// Words in order: those of one node are neighbours, and so are those of each
// of its children.
void WildScan::MakeTrie() {
  struct Range {
    uint32_t begin;
    uint32_t end;
  };
  word_node_.assign(words_.size(), 0);
  std::vector<Range> level = {{0, static_cast<uint32_t>(words_.size())}};
  labels_.assign(1, '\0');
  is_word_.assign(1, false);
  for (size_t depth = 0; !level.empty(); ++depth) {
    auto node = static_cast<uint32_t>(labels_.size() - level.size());
    std::vector<Range> next;
    for (const Range& range : level) {
      first_child_.push_back(static_cast<uint32_t>(labels_.size()));
      uint32_t i = range.begin;
      if (i < range.end && words_[i].size() == depth) {
        is_word_[node] = true;
        word_node_[i++] = node;
      }
      while (i < range.end) {
        char label = words_[i][depth];
        uint32_t begin = i;
        while (i < range.end && words_[i][depth] == label) ++i;
        labels_.push_back(label);
        is_word_.push_back(false);
        next.push_back({begin, i});
      }
      ++node;
    }
    level = std::move(next);
  }
  first_child_.push_back(static_cast<uint32_t>(labels_.size()));
}

uint32_t WildScan::Child(uint32_t node, char c) const {
  uint32_t begin = first_child_[node];
  uint32_t size = first_child_[node + 1] - begin;
  const void* found = std::memchr(labels_.data() + begin, c, size);
  if (found == nullptr) return kNone;
  return static_cast<uint32_t>(static_cast<const char*>(found) -
                               labels_.data());
}

uint32_t WildScan::Step(uint32_t node, char c, uint64_t* steps) const {
  while (true) {
    ++*steps;
    uint32_t child = Child(node, c);
    if (child != kNone) return child;
    if (node == 0) return 0;
    node = fail_[node];
  }
}

// In the order of depth the node that a failure leads to is always made
// before. Words of total length R take at most 2 R steps in all.
void WildScan::MakeLinks() {
  size_t nodes = labels_.size();
  fail_.assign(nodes, 0);
  output_.assign(nodes, kNone);
  uint64_t steps = 0;
  for (uint32_t node = 0; node < nodes; ++node) {
    output_[node] = is_word_[node] ? node : output_[fail_[node]];
    for (uint32_t child = first_child_[node]; child < first_child_[node + 1];
         ++child) {
      fail_[child] = node == 0 ? 0 : Step(fail_[node], labels_[child], &steps);
    }
  }
}

uint32_t WildScan::Best(std::string_view path, uint32_t rival,
                        uint64_t* steps) {
  path_ = path;
  best_ = kNone;
  running_ = 0;
  due_.assign(path.size() + 1, kNone);
  for (uint32_t rule = 0; rule < rules_.wild_count(); ++rule) {
    // They are sorted: what is weaker than one that matched, or than the
    // rival, cannot win.
    if (best_ != kNone) break;
    if (rival != kNone && rules_.Stronger(rival, rule) == rival) break;
    *steps += rules_.WildText(rule).size();
    Begin(rule);
  }
  uint32_t node = 0;
  uint32_t place = 0;
  while (running_ > 0 && place < path.size()) {
    node = Step(node, path[place++], steps);
    // From this place on they may end: nobody waits here before.
    for (uint32_t rule = due_[place]; rule != kNone;) {
      uint32_t next = next_in_list_[rule];
      uint32_t at = pieces_[next_piece_[rule]].node;
      next_in_list_[rule] = waiting_[at];
      waiting_[at] = rule;
      rule = next;
    }
    for (uint32_t word = output_[node]; word != kNone;
         word = output_[fail_[word]]) {
      ++*steps;
      if (waiting_[word] == kNone) continue;
      uint32_t rule = waiting_[word];
      waiting_[word] = kNone;
      while (rule != kNone) {
        uint32_t next = next_in_list_[rule];
        ++*steps;
        ++next_piece_[rule];
        --running_;
        Wait(rule, place);
        rule = next;
      }
    }
  }
  // Leave no list behind.
  if (running_ > 0) std::fill(waiting_.begin(), waiting_.end(), kNone);
  return best_;
}

void WildScan::Begin(uint32_t rule) {
  std::string_view text = rules_.WildText(rule);
  size_t star = text.find('*');
  if (!path_.starts_with(text.substr(0, star))) return;
  next_piece_[rule] = ways_[rule].begin;
  Wait(rule, static_cast<uint32_t>(star));
}

// The rule's next piece may stand anywhere from `from` on.
void WildScan::Wait(uint32_t rule, uint32_t from) {
  // Weaker than one that has matched already.
  if (best_ != kNone && best_ < rule) return;
  if (next_piece_[rule] == ways_[rule].end) return Finish(rule, from);
  uint64_t end = uint64_t{from} + pieces_[next_piece_[rule]].size;
  if (end > path_.size()) return;
  ++running_;
  next_in_list_[rule] = due_[end];
  due_[end] = rule;
}

void WildScan::Finish(uint32_t rule, uint32_t from) {
  if (rules_.WildAnchored(rule)) {
    std::string_view text = rules_.WildText(rule);
    text.remove_prefix(text.rfind('*') + 1);
    if (!path_.substr(from).ends_with(text)) return;
  }
  best_ = std::min(best_, rule);
}

}  // namespace nephila::robots
