// HandOn: URLs that have passed a stage, and wait in its memory, go to the next
// one in their order, until that is full.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "base/metrics.h"
#include "base/result.h"
#include "item/admission.h"

namespace nephila::item {

// `waiting`: encoded UrlRecords, which `account` holds. How many were taken, at
// most `max_urls`.
inline Result<size_t> HandOn(std::deque<std::string>* waiting,
                             const RecordSink& sink, size_t max_urls,
                             StageAccount* account) {
  size_t handed_on = 0;
  while (handed_on < max_urls && !waiting->empty()) {
    NEPHILA_TRY(const Admission admission, sink(waiting->front()));
    if (admission == Admission::kFull) break;
    waiting->pop_front();
    account->Out();
    account->Hold(-1);
    ++handed_on;
  }
  return handed_on;
}

}  // namespace nephila::item
