// What the tests of queues share: a set beside a model of it, and work that
// can be stopped anywhere and done again from a commit. For tests only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "disk_queue/queue_set.h"

namespace nephila::disk_queue {

inline const std::string kDir = "queues";

// Small enough that a few hundred records fill blocks, segments and memory.
QueueSetOptions SmallOptions();

std::string RandomRecord(Random& random, size_t max_bytes);

struct ModelQueue {
  bool operator==(const ModelQueue&) const = default;

  uint64_t first = 0;   // ordinal of records[0]
  uint64_t cursor = 0;  // of the next to be handed on
  std::deque<std::string> records;

  uint64_t end() const { return first + records.size(); }
};
using Model = std::map<uint64_t, ModelQueue>;

// Every call goes to the set and to the model; what comes out is compared.
class TestedSet {
 public:
  TestedSet(FileSystem& fs, QueueSetOptions options)
      : fs_(fs), options_(options) {}

  Status Create();
  // As of the commit, which is one that was begun.
  Status Open(uint64_t generation);
  void Close() { set_.reset(); }

  Status Append(uint64_t queue, const std::string& record);
  Status Read(uint64_t queue, size_t max_records);
  Status ReadAhead(uint64_t queue, size_t max_records);
  void Release(uint64_t queue, uint64_t ordinal);
  Status Remove(uint64_t queue);
  Status Commit();
  // The commit that found no room.
  Status FinishAgain();

  // Scans of all queues are what the model has.
  void CheckScans();
  // Takes all that is left.
  void CheckDrained();

  QueueSet& set() { return *set_; }
  Model& model() { return model_; }
  // Those that became durable, oldest first.
  const std::vector<uint64_t>& commits() const { return commits_; }
  // The commit to go on from: the last, or, where it is promised to be there,
  // the one before.
  uint64_t CommitToOpen(bool before) const;

 private:
  Status Take(uint64_t queue, size_t max_records, bool ahead);

  FileSystem& fs_;
  const QueueSetOptions options_;
  std::unique_ptr<QueueSet> set_;
  Model model_;
  std::map<uint64_t, Model> snapshots_;  // by generation
  std::vector<uint64_t> commits_;
  uint64_t newest_begun_ = 0;
};

// The same steps whenever it is run; after a restart from those of the commit.
class QueueWork {
 public:
  static constexpr uint64_t kSteps = 260;

  QueueWork(FileSystem& fs, const QueueSetOptions& options)
      : fs_(fs), tested_(fs, options) {}

  Status Start();
  Status Reopen(uint64_t generation);
  // Up to the last step.
  Status Run();
  void CheckTheEnd();

  TestedSet& tested() { return tested_; }

 private:
  Status Step(uint64_t step);

  FileSystem& fs_;
  TestedSet tested_;
  uint64_t step_ = 0;
  std::map<uint64_t, uint64_t> step_of_;  // by generation
};

}  // namespace nephila::disk_queue
