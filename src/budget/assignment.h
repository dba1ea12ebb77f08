// The record of a domain, and which queue its next URL goes to: BEAST
// (IRLbot s6.2, thesis ch. VII) as a rule of a Drum.
//
// A record is (d_x, n_x, f_x, h_x): the in-degree, the queue that x's next URL
// goes to, how many it has there already, and a sketch of its hosts. Reading
// queue c with j queues, URLs go to the window c+1 .. c+j-1:
//
//   n_x = max(n_x, c + 1), and f_x = 0 where n_x moves;
//   a queue with f_x = L_x is full, the next one is taken;
//   past the window the URL goes to Q_F, which changes neither n_x nor f_x;
//   L_x = max(1, min(B_x, T h_x / tau_h(x))), B_x = F(d_x).
//
// T is the time in which the crawl passes one queue, tau_h(x) the delay between
// two requests to a host of x: of what L_x leaves out, nothing could be fetched
// before the next queue is read, so it waits on disk. A URL of a split of Q_F
// has the queues behind the window instead. That a quiet domain has no credit
// follows from n_x = max(n_x, c + 1).
//
// All that the rule knows besides is frozen with a pass (PassParameters), so a
// pass that is done again comes out the same.
//
// In: tuples made by the functions below. Out: answers, for ReadAnswer.
// Threads: any. Cost: some ten ns a tuple.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "budget/host_sketch.h"
#include "drum/rule.h"

namespace nephila::budget {

struct PldRecord {
  uint64_t in_degree = 0;   // d_x
  uint64_t next_queue = 0;  // n_x; queues are numbered from 1
  uint64_t fill = 0;        // f_x
  HostSketch hosts;         // h_x

  bool operator==(const PldRecord&) const = default;
};

// One byte for a domain of which only a small in-degree is known.
void AppendPldRecord(const PldRecord& record, std::string& out);
std::optional<PldRecord> ReadPldRecord(std::string_view bytes);

// Queues from `first` to `last`; none if last < first.
struct Window {
  uint64_t first = 1;
  uint64_t last = 0;
};

// What a rule reads, frozen when a pass begins.
struct PassParameters {
  Window window;  // c+1 .. c+j-1
  Window split;   // of Q_F; none if it is not split now
  std::chrono::nanoseconds queue_time{0};  // T; 0: not known, no cap
  std::chrono::nanoseconds host_delay{0};  // tau_h for the base budget; 0: none
  std::chrono::nanoseconds host_delay_floor{0};
  std::string_view function;  // item/budget_function.h
};
std::string EncodeParameters(const PassParameters& parameters);
std::optional<PassParameters> ReadParameters(std::string_view bytes);

// L_x.
uint64_t QueueShare(uint64_t budget, uint64_t base_budget, uint64_t hosts,
                    const PassParameters& parameters);

// Gives a URL its queue, 0 for Q_F.
uint64_t AssignQueue(const Window& window, uint64_t share, PldRecord& record);

enum class TupleKind : uint8_t {
  kInDegree = 0,
  kUrl = 1,
  kSplitUrl = 2,  // from Q_F
};

// The values of tuples.
std::string InDegreeValue(uint64_t count);
std::string UrlValue(TupleKind kind, uint8_t host_mark);

struct Answer {
  TupleKind kind = TupleKind::kInDegree;
  uint64_t queue = 0;   // of a URL; 0: Q_F
  uint64_t budget = 0;  // of a URL: B_x
  uint64_t before = 0;  // of an in-degree
  uint64_t after = 0;
};
std::optional<Answer> ReadAnswer(std::string_view bytes);

std::shared_ptr<const drum::MergeRule> MakeAssignmentRule();

}  // namespace nephila::budget
