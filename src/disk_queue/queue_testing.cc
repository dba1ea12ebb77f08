#include "disk_queue/queue_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "base/file_testing.h"

namespace nephila::disk_queue {

QueueSetOptions SmallOptions() {
  QueueSetOptions options;
  options.memory_bytes = 6 << 10;
  options.block_bytes = 400;
  options.segment_bytes = 1000;
  options.segments_per_file = 2;
  options.max_open_files = 3;
  options.codec = Codec::kLz4;
  return options;
}

std::string RandomRecord(Random& random, size_t max_bytes) {
  std::string record(random.Below(max_bytes + 1), 'x');
  for (char& c : record) c = static_cast<char>('a' + random.Below(26));
  return record;
}

Status TestedSet::Create() {
  model_.clear();
  snapshots_.clear();
  commits_.clear();
  newest_begun_ = 0;
  NEPHILA_TRY(set_, QueueSet::Create(fs_, kDir, options_));
  snapshots_[0] = {};
  commits_ = {0};
  return {};
}

Status TestedSet::Open(uint64_t generation) {
  // Later ones may be void as soon as this is asked for.
  while (!commits_.empty() && commits_.back() > generation) commits_.pop_back();
  NEPHILA_TRY(set_, QueueSet::Open(fs_, kDir, options_, generation));
  EXPECT_EQ(set_->generation(), generation);
  model_ = snapshots_.at(generation);
  snapshots_.erase(snapshots_.upper_bound(generation), snapshots_.end());
  // What was handed on and kept comes again.
  for (auto& [id, queue] : model_) queue.cursor = queue.first;
  CheckScans();
  return {};
}

Status TestedSet::Append(uint64_t queue, const std::string& record) {
  NEPHILA_TRY(const uint64_t ordinal, set_->Append(queue, record));
  EXPECT_EQ(ordinal, model_[queue].end());
  model_[queue].records.push_back(record);
  return {};
}

Status TestedSet::Take(uint64_t queue, size_t max_records, bool ahead) {
  const auto found = model_.find(queue);
  ModelQueue none;
  ModelQueue& expected = found == model_.end() ? none : found->second;
  const uint64_t left = expected.end() - expected.cursor;
  const auto sink = [&](const Record& record) {
    ASSERT_LT(expected.cursor, expected.end());
    EXPECT_EQ(record.ordinal, expected.cursor);
    EXPECT_EQ(record.bytes, expected.records[expected.cursor - expected.first]);
    ++expected.cursor;
  };
  auto done = ahead ? set_->ReadAhead(queue, max_records, sink)
                    : set_->Read(queue, max_records, sink);
  if (!ahead) {
    for (; expected.first < expected.cursor; ++expected.first) {
      expected.records.pop_front();
    }
  }
  if (!done) return Unexpected(std::move(done).error());
  EXPECT_EQ(*done, std::min<uint64_t>(left, max_records));
  EXPECT_EQ(set_->Kept(queue), expected.records.size());
  EXPECT_EQ(set_->Unread(queue), expected.end() - expected.cursor);
  return {};
}

Status TestedSet::Read(uint64_t queue, size_t max_records) {
  return Take(queue, max_records, /*ahead=*/false);
}

Status TestedSet::ReadAhead(uint64_t queue, size_t max_records) {
  return Take(queue, max_records, /*ahead=*/true);
}

void TestedSet::Release(uint64_t queue, uint64_t ordinal) {
  set_->Release(queue, ordinal);
  ModelQueue& expected = model_[queue];
  for (; expected.first < ordinal; ++expected.first) {
    expected.records.pop_front();
  }
}

Status TestedSet::Remove(uint64_t queue) {
  NEPHILA_RETURN_IF_ERROR(set_->Remove(queue));
  model_.erase(queue);
  return {};
}

Status TestedSet::Commit() {
  NEPHILA_TRY(const uint64_t generation, set_->BeginCommit());
  snapshots_[generation] = model_;
  newest_begun_ = std::max(newest_begun_, generation);
  NEPHILA_RETURN_IF_ERROR(set_->FinishCommit());
  commits_.push_back(generation);
  return {};
}

Status TestedSet::FinishAgain() {
  NEPHILA_RETURN_IF_ERROR(set_->FinishCommit());
  commits_.push_back(newest_begun_);
  return {};
}

uint64_t TestedSet::CommitToOpen(bool before) const {
  if (!before || commits_.size() < 2) return commits_.back();
  const uint64_t generation = commits_[commits_.size() - 2];
  // With a newer one begun it may be the third.
  return generation + 1 >= newest_begun_ ? generation : commits_.back();
}

void TestedSet::CheckScans() {
  std::vector<uint64_t> ids;
  for (const auto& [id, queue] : model_) ids.push_back(id);
  EXPECT_EQ(set_->Queues(), ids);
  for (const auto& [id, queue] : model_) {
    const auto scan = set_->NewScan(id);
    Record record;
    uint64_t ordinal = queue.first;
    for (const std::string& expected : queue.records) {
      const auto more = scan->Next(record);
      ASSERT_TRUE(more.has_value()) << more.error().message;
      ASSERT_TRUE(*more);
      EXPECT_EQ(record.ordinal, ordinal++);
      EXPECT_EQ(record.bytes, expected);
    }
    EXPECT_FALSE(Must(scan->Next(record)));
    EXPECT_EQ(set_->NextAppend(id), queue.end());
  }
}

void TestedSet::CheckDrained() {
  for (auto& [id, queue] : model_) {
    MustDo(Read(id, queue.records.size() + 1));
    EXPECT_EQ(set_->Kept(id), 0U);
  }
}

Status QueueWork::Start() {
  NEPHILA_RETURN_IF_ERROR(RemoveAll(fs_, kDir));
  NEPHILA_RETURN_IF_ERROR(tested_.Create());
  step_ = 0;
  step_of_ = {{0, 0}};
  return {};
}

Status QueueWork::Reopen(uint64_t generation) {
  NEPHILA_RETURN_IF_ERROR(tested_.Open(generation));
  step_ = step_of_.at(generation);
  return {};
}

Status QueueWork::Run() {
  while (step_ < kSteps) {
    NEPHILA_RETURN_IF_ERROR(Step(step_));
    ++step_;
  }
  return {};
}

Status QueueWork::Step(uint64_t step) {
  Random random(step + 1);
  // Queue 0 is busy, and is read ahead; others come and go.
  const uint64_t queue = random.Chance(0.4) ? 0 : 1 + random.Below(9);
  if (step % 13 == 12) {
    step_of_[tested_.set().generation() + 1] = step + 1;
    return tested_.Commit();
  }
  const uint64_t kind = random.Below(10);
  if (kind < 6) {
    for (uint64_t i = 1 + random.Below(6); i > 0; --i) {
      NEPHILA_RETURN_IF_ERROR(tested_.Append(queue, RandomRecord(random, 120)));
    }
    return {};
  }
  if (queue == 0) {
    NEPHILA_RETURN_IF_ERROR(tested_.ReadAhead(0, random.Below(12)));
    const ModelQueue& model = tested_.model()[0];
    tested_.Release(0,
                    model.first + random.Below(model.cursor - model.first + 1));
    return {};
  }
  NEPHILA_RETURN_IF_ERROR(tested_.Read(queue, 1 + random.Below(20)));
  if (random.Chance(0.3) && tested_.set().Kept(queue) == 0) {
    return tested_.Remove(queue);
  }
  return {};
}

void QueueWork::CheckTheEnd() {
  tested_.CheckScans();
  tested_.CheckDrained();
  // Nothing is left of what is read, once commits have passed, but the file
  // that the next slots come from.
  for (int i = 0; i < 4; ++i) MustDo(tested_.Commit());
  EXPECT_EQ(tested_.set().stats().retired_segments, 0U);
  size_t files = 0;
  for (const std::string& name : Names(fs_, kDir)) {
    files += name.ends_with(".segments") ? 1 : 0;
  }
  EXPECT_LE(files, 1U);
}

}  // namespace nephila::disk_queue
