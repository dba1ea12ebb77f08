// RecordSource: records in ascending order of their keys, each key once.
//
// What a merge reads: a run on disk, a run in memory, a merge of both. A source
// stands on a record or at its end; a new one stands nowhere until SeekTo.
// Forward only. After an error it must not be used any more.
// Threads: one per source.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace nephila::drum {

class RecordSource {
 public:
  virtual ~RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;

  // To the first record with a key of at least `key`, but never back: where
  // the source stands on one already it stays.
  virtual Status SeekTo(uint64_t key) = 0;
  virtual bool AtEnd() const = 0;

  // Of the record it stands on. REQUIRES: not AtEnd.
  virtual uint64_t key() const = 0;
  // Good until the next SeekTo or Next; empty for a tombstone.
  virtual std::string_view value() const = 0;
  // The record says that older sources' records of this key are void.
  virtual bool is_tombstone() const = 0;
  virtual Status Next() = 0;

 protected:
  RecordSource() = default;
};

}  // namespace nephila::drum
