#include "drum/run_merger.h"

#include <limits>
#include <utility>

namespace nephila::drum {

RunMerger::RunMerger(std::vector<std::unique_ptr<RecordSource>> sources)
    : sources_(std::move(sources)),
      keys_(sources_.size()),
      ended_(sources_.size(), true) {}

void RunMerger::Remember(size_t source) {
  ended_[source] = sources_[source]->AtEnd();
  keys_[source] = ended_[source] ? std::numeric_limits<uint64_t>::max()
                                 : sources_[source]->key();
}

void RunMerger::Choose() {
  at_end_ = true;
  for (size_t i = 0; i < sources_.size(); ++i) {
    // The first of equals is the newest.
    if (ended_[i] || (!at_end_ && keys_[i] >= key_)) continue;
    at_end_ = false;
    best_ = i;
    key_ = keys_[i];
  }
}

Status RunMerger::SeekTo(uint64_t key) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    NEPHILA_RETURN_IF_ERROR(sources_[i]->SeekTo(key));
    Remember(i);
  }
  Choose();
  return {};
}

Status RunMerger::Next() {
  const uint64_t done = key_;
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (keys_[i] != done || ended_[i]) continue;
    NEPHILA_RETURN_IF_ERROR(sources_[i]->Next());
    Remember(i);
  }
  Choose();
  return {};
}

}  // namespace nephila::drum
