// WildScan: all rules with a '*' inside, matched in one pass over the path.
//
// The pieces between the stars are the words of an Aho-Corasick automaton. A
// rule waits for its next piece, beginning with the place where the last one
// ended; when the automaton comes to a piece, every rule that waits for it
// moves on. Each rule takes the leftmost place for each piece, so none is ever
// tried again, and what a rule does is bounded by its length.
//   Cost: to make, time and about 18 bytes of memory per byte of pieces; to
//   match, O(P) for the automaton and the moves of rules, plus what it costs to
//   look at the pieces that end at one place though nobody waits for them: at
//   most one of each length, so fewer than sqrt(2 R) for R bytes of pieces
//   Threads: one per object. The rules outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "robots/rules.h"

namespace nephila::robots {

class WildScan {
 public:
  explicit WildScan(const Rules& rules);

  // The strongest rule that matches a normalized path and is stronger than
  // `rival`, else Rules::kNone. Adds the bytes looked at to *steps.
  uint32_t Best(std::string_view path, uint32_t rival, uint64_t* steps);

 private:
  static constexpr uint32_t kNone = Rules::kNone;

  // A piece to be searched for, at its place in the rule it belongs to.
  struct Piece {
    uint32_t node;  // the word's end in the automaton
    uint32_t size;
  };
  // A rule's fixed parts are its text's: up to the first star, and if it is
  // anchored behind the last. What is between is pieces_[begin, end).
  struct Way {
    uint32_t begin;
    uint32_t end;
  };

  void TakePieces(const Rules& rules);
  void MakeTrie();
  void MakeLinks();
  uint32_t Child(uint32_t node, char c) const;
  uint32_t Step(uint32_t node, char c, uint64_t* steps) const;

  // Within one call of Best.
  void Begin(uint32_t rule);
  void Wait(uint32_t rule, uint32_t from);
  void Finish(uint32_t rule, uint32_t from);

  const Rules rules_;
  std::vector<std::string_view> words_;  // distinct, sorted
  std::vector<uint32_t> word_node_;
  std::vector<Piece> pieces_;
  std::vector<Way> ways_;  // by rule

  // The automaton: nodes in the order of their depth, so that children are
  // neighbours and their labels one short text.
  std::string labels_;
  std::vector<uint32_t> first_child_;  // of the next node: where they end
  std::vector<uint32_t> fail_;
  std::vector<uint32_t> output_;  // the node itself or the next shorter word
  std::vector<bool> is_word_;

  // Within one call of Best.
  std::string_view path_;
  uint32_t best_ = kNone;
  uint32_t running_ = 0;                // rules that wait
  std::vector<uint32_t> next_piece_;    // by rule
  std::vector<uint32_t> next_in_list_;  // by rule
  std::vector<uint32_t> waiting_;       // by node: first of a list of rules
  std::vector<uint32_t> due_;           // by place: rules that begin to wait
};

}  // namespace nephila::robots
