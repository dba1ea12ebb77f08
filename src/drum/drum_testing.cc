#include "drum/drum_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/bytes.h"
#include "base/file_testing.h"
#include "base/random.h"

namespace nephila::drum {
namespace {

// Far above what any test needs: an endless loop shall fail, not hang.
constexpr int kMaxRounds = 1'000'000;

std::string Shortened(std::string_view text) {
  constexpr size_t kShown = 24;
  std::string shown;
  for (const char c : text.substr(0, kShown)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  if (text.size() > kShown) shown += "..." + std::to_string(text.size());
  return shown;
}

class QueueRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& answer) const override {
    uint64_t state = meeting.found ? ReadFixed64(record) : 0;
    const uint32_t queue = static_cast<uint32_t>(state);
    answer = Fixed64(queue).substr(0, 4);
    if (!Updates(meeting.operation)) return Verdict::kLeave;
    const uint64_t fill = (state >> 32) + 1;
    const bool full = fill >= ReadFixed64(meeting.parameters);
    state = full ? uint64_t{queue} + 1 : fill << 32 | queue;
    record = Fixed64(state);
    return Verdict::kWrite;
  }
};

class DeadlineRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& /*answer*/) const override {
    if (!Updates(meeting.operation)) return Verdict::kLeave;
    record = Fixed64(ReadFixed64(meeting.parameters) +
                     ReadFixed64(meeting.value.substr(0, 8)));
    record += meeting.value.substr(8);
    return Verdict::kWrite;
  }
  bool HasExpiry() const override { return true; }
  bool IsDead(uint64_t /*key*/, std::string_view record,
              std::string_view parameters) const override {
    return ReadFixed64(record.substr(0, 8)) <= ReadFixed64(parameters);
  }
};

class EraseRule : public MergeRule {
 public:
  Verdict Merge(const Meeting& meeting, std::string& record,
                std::string& /*answer*/) const override {
    if (!Updates(meeting.operation)) return Verdict::kLeave;
    if (meeting.value.starts_with('-')) return Verdict::kErase;
    record = meeting.value;
    return Verdict::kWrite;
  }
};

}  // namespace

std::string Describe(const OwnedResult& result) {
  return std::string(result.unique ? "unique" : "duplicate") + " value '" +
         Shortened(result.value) + "' aux '" + Shortened(result.aux) + "'";
}

void PrintTo(const OwnedResult& result, std::ostream* out) {
  *out << Describe(result);
}

void CollectingReceiver::Receive(std::span<const TupleResult> received) {
  for (const TupleResult& result : received) {
    results.push_back(
        {result.unique, std::string(result.value), std::string(result.aux)});
  }
}

void ReferenceStore::Add(const Tuple& tuple) {
  open_.push_back({tuple.operation, tuple.key, std::string(tuple.value),
                   std::string(tuple.aux)});
}

void ReferenceStore::Freeze(std::string_view parameters) {
  Settle();
  if (rule_ != nullptr && rule_->HasExpiry()) {
    for (const auto& [key, value] : records_) {
      if (rule_->IsDead(key, value, parameters)) changes_[key] = std::nullopt;
    }
  }
  for (const OwnedTuple& tuple : open_) Meet(tuple, parameters);
  open_.clear();
}

void ReferenceStore::Meet(const OwnedTuple& tuple,
                          std::string_view parameters) {
  std::string record;
  bool found = false;
  if (const auto change = changes_.find(tuple.key); change != changes_.end()) {
    found = change->second.has_value();
    if (found) record = *change->second;
  } else if (const auto old = records_.find(tuple.key); old != records_.end()) {
    found = true;
    record = old->second;
  }
  std::string answer = record;
  Verdict verdict =
      Updates(tuple.operation) && !found ? Verdict::kWrite : Verdict::kLeave;
  if (rule_ != nullptr) {
    verdict = rule_->Merge(
        {tuple.operation, tuple.key, tuple.value, parameters, found}, record,
        answer);
  }
  if (verdict == Verdict::kWrite) changes_[tuple.key] = record;
  if (verdict == Verdict::kErase) changes_[tuple.key] = std::nullopt;
  if (GivesResult(tuple.operation)) {
    results_.push_back({!found, std::move(answer), tuple.aux});
  }
}

void ReferenceStore::Settle() {
  for (auto& [key, value] : changes_) {
    if (value.has_value()) {
      records_[key] = *std::move(value);
    } else {
      records_.erase(key);
    }
  }
  changes_.clear();
}

void ReferenceStore::Load(uint64_t key, std::string value) {
  records_[key] = std::move(value);
}

std::vector<OwnedResult> ReferenceStore::Take(size_t count) {
  std::vector<OwnedResult> taken;
  for (size_t i = 0; i < count && !results_.empty(); ++i) {
    if (results_.front().unique || !unique_only_) {
      taken.push_back(std::move(results_.front()));
    }
    results_.pop_front();
  }
  return taken;
}

CheckedDrum::CheckedDrum(const DrumContext& context, std::string dir,
                         DrumOptions options)
    : context_(context),
      dir_(std::move(dir)),
      options_(std::move(options)),
      state_{ReferenceStore(options_), {}} {}

DrumOptions CheckedDrum::WatchedOptions() {
  DrumOptions watched = options_;
  watched.parameters = [this, user = std::this_thread::get_id()] {
    // Or the reference would be told of a batch while it is being added to.
    EXPECT_EQ(std::this_thread::get_id(), user);
    return AskParameters();
  };
  return watched;
}

std::string CheckedDrum::AskParameters() {
  if (!state_.repeat_parameters) {
    state_.parameters = options_.parameters ? options_.parameters() : "";
  }
  state_.repeat_parameters = in_add_;
  state_.reference.Freeze(state_.parameters);
  return state_.parameters;
}

void CheckedDrum::Fail(const std::string& message) {
  if (!wrong_) ADD_FAILURE() << message;
  wrong_ = true;
}

void CheckedDrum::SettleIfOver() {
  if (drum_->PassIsOn()) return;
  if (state_.reference.results_left() > 0) {
    Fail("No pass is on, and " +
         std::to_string(state_.reference.results_left()) +
         " results have not come.");
  }
  state_.reference.Settle();
}

Status CheckedDrum::Create() {
  auto created = Drum::Create(context_, dir_, WatchedOptions());
  if (!created.has_value() &&
      created.error().code == ErrorCode::kAlreadyExists) {
    created = Drum::Open(context_, dir_, WatchedOptions(), 0);
  }
  if (!created.has_value()) return Unexpected(std::move(created).error());
  drum_ = *std::move(created);
  commits_.push_back({0, 0, state_});
  return {};
}

Result<uint64_t> CheckedDrum::Open(uint64_t generation) {
  Close();
  while (!commits_.empty() && commits_.back().generation != generation) {
    commits_.pop_back();
  }
  if (commits_.empty()) {
    Fail("No commit " + std::to_string(generation) + " was made.");
    return Unexpected(Error{ErrorCode::kInvalidArgument, "no such commit"});
  }
  auto opened = Drum::Open(context_, dir_, WatchedOptions(), generation);
  if (!opened.has_value()) return Unexpected(std::move(opened).error());
  drum_ = *std::move(opened);
  if (drum_->generation() != generation) Fail("Another generation is open.");
  state_ = commits_.back().state;
  SettleIfOver();
  return commits_.back().note;
}

void CheckedDrum::Close() {
  drum_ = nullptr;
  begun_.reset();
  in_flight_ = false;
}

Status CheckedDrum::Add(const Tuple& tuple) {
  in_add_ = true;
  Status added = drum_->Add(tuple);
  in_add_ = false;
  if (added.has_value()) state_.reference.Add(tuple);
  return added;
}

Status CheckedDrum::AddMakingRoom(const Tuple& tuple, uint64_t note) {
  // Two commits free what the last two before them named.
  constexpr int kMaxTries = 10;
  for (int i = 0; i < kMaxTries; ++i) {
    Status added = Add(tuple);
    if (added.has_value() || added.error().code != ErrorCode::kBusy) {
      return added;
    }
    NEPHILA_RETURN_IF_ERROR(DeliverAll());
    NEPHILA_TRY(const uint64_t generation, Commit(note));
    static_cast<void>(generation);
  }
  Fail("Busy, although all is delivered and committed.");
  return Unexpected(Error{ErrorCode::kBusy, "no room was made"});
}

Status CheckedDrum::Flush() {
  NEPHILA_RETURN_IF_ERROR(drum_->Flush());
  SettleIfOver();
  return {};
}

Result<size_t> CheckedDrum::Deliver(size_t max_results) {
  CollectingReceiver receiver;
  Result<size_t> delivered = drum_->Deliver(receiver, max_results);
  if (!delivered.has_value()) {
    // Else no one could tell how many of the next ones were taken.
    if (!receiver.results.empty()) Fail("Results were handed on and an error.");
    return delivered;
  }
  if (*delivered > max_results) Fail("More results than were asked for.");
  if (*delivered > state_.reference.results_left()) {
    Fail("More results than tuples.");
  }
  const std::vector<OwnedResult> expected = state_.reference.Take(*delivered);
  if (receiver.results.size() != expected.size()) {
    Fail(std::to_string(receiver.results.size()) + " results instead of " +
         std::to_string(expected.size()));
  }
  for (size_t i = 0; i < expected.size() && !wrong_; ++i) {
    if (receiver.results[i] != expected[i]) {
      Fail("Result " + std::to_string(i) + " is " +
           Describe(receiver.results[i]) + ", not " + Describe(expected[i]));
    }
  }
  SettleIfOver();
  return delivered;
}

Status CheckedDrum::Wait() {
  NEPHILA_RETURN_IF_ERROR(drum_->Wait());
  SettleIfOver();
  return {};
}

Status CheckedDrum::DeliverAll() {
  constexpr size_t kPortion = 10'000;
  for (int i = 0; drum_->PassIsOn() && !wrong_; ++i) {
    if (i == kMaxRounds) {
      Fail("The pass does not end.");
      break;
    }
    NEPHILA_TRY(const size_t delivered, Deliver(kPortion));
    if (delivered == 0) NEPHILA_RETURN_IF_ERROR(Wait());
  }
  return {};
}

Status CheckedDrum::Drain() {
  for (int i = 0; !wrong_; ++i) {
    NEPHILA_RETURN_IF_ERROR(DeliverAll());
    if (state_.reference.open_tuples() == 0 || wrong_) return {};
    if (i > 2) {
      // The first pass may have been on, the second takes all the rest.
      Fail("Tuples are left after a pass over all of them.");
      return {};
    }
    NEPHILA_RETURN_IF_ERROR(Flush());
  }
  return {};
}

Status CheckedDrum::Load(const std::map<uint64_t, std::string>& records) {
  auto next = records.begin();
  NEPHILA_RETURN_IF_ERROR(
      drum_->Load([&](uint64_t& key, std::string& value) -> bool {
        if (next == records.end()) return false;
        key = next->first;
        value = next->second;
        ++next;
        return true;
      }));
  for (const auto& [key, value] : records) state_.reference.Load(key, value);
  return {};
}

Result<uint64_t> CheckedDrum::BeginCommit(uint64_t note) {
  in_flight_ = true;
  NEPHILA_TRY(const uint64_t generation, drum_->BeginCommit());
  if (generation <= commits_.back().generation) Fail("An old generation.");
  if (drum_->generation() != generation) Fail("generation() is not the last.");
  begun_ = Commitment{generation, note, state_};
  return generation;
}

Status CheckedDrum::FinishCommit() {
  NEPHILA_RETURN_IF_ERROR(drum_->FinishCommit());
  CommitIsFinished();
  return {};
}

void CheckedDrum::CommitIsFinished() {
  commits_.push_back(*std::move(begun_));
  if (commits_.size() > 2) commits_.pop_front();
  begun_.reset();
  in_flight_ = false;
}

Result<uint64_t> CheckedDrum::Commit(uint64_t note) {
  if (begun_.has_value()) NEPHILA_RETURN_IF_ERROR(FinishCommit());
  in_flight_ = true;
  NEPHILA_TRY(const uint64_t generation, drum_->Commit());
  if (generation <= commits_.back().generation) Fail("An old generation.");
  begun_ = Commitment{generation, note, state_};
  CommitIsFinished();
  return generation;
}

Status CheckedDrum::CheckContents(const ScanRange& range) {
  if (drum_->PassIsOn() && state_.reference.results_left() == 0) return {};
  NEPHILA_TRY(const std::unique_ptr<Scan> scan, drum_->NewScan(range));
  const auto& records = state_.reference.records();
  auto expected = records.lower_bound(range.first);
  while (true) {
    while (expected != records.end() && expected->first <= range.last &&
           range.shards.has_value() &&
           !range.shards->test(expected->first % range.shards->size())) {
      ++expected;
    }
    const bool end = expected == records.end() || expected->first > range.last;
    if (scan->AtEnd() || end) {
      if (!end) Fail("The scan ends before " + std::to_string(expected->first));
      if (!scan->AtEnd()) Fail("Too many: " + std::to_string(scan->key()));
      return {};
    }
    if (scan->key() != expected->first || scan->value() != expected->second) {
      Fail("Scanned " + std::to_string(scan->key()) + " '" +
           Shortened(scan->value()) + "', not " +
           std::to_string(expected->first) + " '" +
           Shortened(expected->second) + "'");
      return {};
    }
    ++expected;
    NEPHILA_RETURN_IF_ERROR(scan->Next());
  }
}

void CheckedDrum::ExpectNothingLeft() const {
  EXPECT_EQ(state_.reference.results_left(), 0U);
  EXPECT_EQ(state_.reference.open_tuples(), 0U);
}

std::vector<uint64_t> CheckedDrum::commits() const {
  std::vector<uint64_t> generations;
  for (const Commitment& commit : commits_) {
    generations.push_back(commit.generation);
  }
  return generations;
}

std::string Fixed64(uint64_t number) {
  std::string bytes;
  ByteWriter(bytes).U64(number);
  return bytes;
}

uint64_t ReadFixed64(std::string_view bytes) {
  return *ByteReader(bytes).U64();
}

uint64_t KeyOf(uint64_t number) {
  uint64_t state = number;
  return NextSplitMix(state);
}

uint64_t KeyOfAux(std::string_view aux) {
  uint64_t number = 0;
  for (const char c : aux) {
    if (c < '0' || c > '9') break;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return KeyOf(number);
}

std::string TextOf(uint64_t seed, size_t bytes) {
  constexpr std::string_view kWords[] = {"http://", "www.", "example", ".org/",
                                         "index",   "?id=", "page",    "-"};
  std::string text;
  text.reserve(bytes + 20);
  while (text.size() < bytes) {
    const uint64_t drawn = NextSplitMix(seed);
    text += kWords[drawn % std::size(kWords)];
    text += std::to_string(drawn >> 56);
  }
  text.resize(bytes);
  return text;
}

std::shared_ptr<const MergeRule> MakeQueueRule() {
  return std::make_shared<QueueRule>();
}

std::shared_ptr<const MergeRule> MakeDeadlineRule() {
  return std::make_shared<DeadlineRule>();
}

std::shared_ptr<const MergeRule> MakeEraseRule() {
  return std::make_shared<EraseRule>();
}

TestMachine::TestMachine() { MustDo(EnsureDir(fs, kDir)); }

DrumOptions SmallOptions(ValueFormat value,
                         std::shared_ptr<const MergeRule> rule) {
  DrumOptions options;
  options.value = value;
  options.rule = std::move(rule);
  options.memory_bytes = uint64_t{1} << 20;
  options.disk_bytes = uint64_t{4} << 20;
  return options;
}

std::vector<std::string> FilesOf(FileSystem& fs, const std::string& dir,
                                 std::string_view suffix) {
  std::vector<std::string> names;
  for (const DirEntry& entry : Must(fs.List(dir))) {
    if (!entry.is_directory && entry.name.ends_with(suffix)) {
      names.push_back(entry.name);
    }
  }
  return names;
}

}  // namespace nephila::drum
