// What the tests of Drum share: a store that is simple enough to be trusted,
// and a Drum whose every answer is compared with it. For tests only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory_file_system.h"
#include "base/result.h"
#include "base/workers.h"
#include "drum/drum.h"

namespace nephila::drum {

struct OwnedResult {
  bool operator==(const OwnedResult&) const = default;

  bool unique = false;
  std::string value;
  std::string aux;
};

// For the messages of failed comparisons; long texts are cut.
std::string Describe(const OwnedResult& result);
void PrintTo(const OwnedResult& result, std::ostream* out);

// Keeps copies, in the order in which they came.
class CollectingReceiver : public Receiver {
 public:
  void Receive(std::span<const TupleResult> results) override;

  std::vector<OwnedResult> results;
};

// A store as a std::map that takes tuples one after another. Expiry and the
// parameters of a rule work by the pass, so it has to be told where a batch
// ends. Copies of it are the states that a test rolls back to.
class ReferenceStore {
 public:
  explicit ReferenceStore(const DrumOptions& options)
      : rule_(options.rule), unique_only_(options.unique_only) {}

  void Add(const Tuple& tuple);
  // What was added since the last call is a batch and has met the store: dead
  // records go first, then come the tuples in order.
  void Freeze(std::string_view parameters);
  // The pass of the last batch has been delivered as a whole.
  void Settle();
  void Load(uint64_t key, std::string value);

  // The next `count` results without those that are not handed on.
  std::vector<OwnedResult> Take(size_t count);
  size_t results_left() const { return results_.size(); }
  size_t open_tuples() const { return open_.size(); }

  // As of the last pass that was delivered as a whole.
  const std::map<uint64_t, std::string>& records() const { return records_; }

 private:
  struct OwnedTuple {
    Operation operation;
    uint64_t key;
    std::string value;
    std::string aux;
  };

  void Meet(const OwnedTuple& tuple, std::string_view parameters);

  std::shared_ptr<const MergeRule> rule_;
  bool unique_only_;
  std::vector<OwnedTuple> open_;
  std::map<uint64_t, std::string> records_;
  // What the last pass changes; none: it erases the record.
  std::map<uint64_t, std::optional<std::string>> changes_;
  std::deque<OwnedResult> results_;
};

// A Drum beside a ReferenceStore. Every result and every scan is compared, and
// an Open rolls the reference back to the commit that was opened, so that a
// result which comes twice or never is a failure of the test.
//
// Where batches end is seen by the calls of DrumOptions::parameters. One thing
// cannot be seen: whether a tuple whose Add begins a pass belongs to it or to
// the next. So both get the same parameters, and the rules of the tests write
// nothing that is dead under the parameters it is written under: then it makes
// no difference.
class CheckedDrum {
 public:
  CheckedDrum(const DrumContext& context, std::string dir, DrumOptions options);

  // The Drum has a pointer to this.
  CheckedDrum(const CheckedDrum&) = delete;
  CheckedDrum& operator=(const CheckedDrum&) = delete;

  // Makes the store, or opens generation 0 if an earlier Create got that far.
  Status Create();
  // Newer commits are void from now on. Returns the commit's note.
  Result<uint64_t> Open(uint64_t generation);
  void Close();

  Status Add(const Tuple& tuple);
  // While the store is busy: delivers and commits, with `note`.
  Status AddMakingRoom(const Tuple& tuple, uint64_t note = 0);
  Status Flush();
  Result<size_t> Deliver(size_t max_results);
  Status Wait();
  // Until no pass is on; does not begin one.
  Status DeliverAll();
  // Until nothing is left.
  Status Drain();
  Status Load(const std::map<uint64_t, std::string>& records);

  // `note` is for the caller: where to go on after this commit.
  Result<uint64_t> BeginCommit(uint64_t note = 0);
  Status FinishCommit();
  // For a Drum::FinishCommit that the caller made on another thread.
  void CommitIsFinished();
  // Finishes the one that was begun before, if any.
  Result<uint64_t> Commit(uint64_t note = 0);

  // Compares a scan with the reference, unless it is unknown whether the pass
  // counts as delivered. Errors of the scan are returned.
  Status CheckContents(const ScanRange& range = {});
  // Nothing added is without its result.
  void ExpectNothingLeft() const;

  Drum& drum() { return *drum_; }
  bool is_open() const { return drum_ != nullptr; }
  // What the next Open uses.
  DrumOptions& options() { return options_; }
  const ReferenceStore& reference() const { return state_.reference; }
  // Those that can be opened, the newest last: at most two.
  std::vector<uint64_t> commits() const;
  // A commit was begun and did not return: it may be on the disk as a whole,
  // and then the older of commits() may be gone.
  bool commit_in_flight() const { return in_flight_; }
  // FinishCommit has something to do.
  bool commit_begun() const { return begun_.has_value(); }
  // An answer was wrong; the test has failed, and need not go on.
  bool wrong() const { return wrong_; }

 private:
  struct State {
    ReferenceStore reference;
    std::string parameters;
    bool repeat_parameters = false;
  };
  struct Commitment {
    uint64_t generation;
    uint64_t note;
    State state;
  };

  std::string AskParameters();
  DrumOptions WatchedOptions();
  void Fail(const std::string& message);
  void SettleIfOver();

  const DrumContext context_;
  const std::string dir_;
  DrumOptions options_;
  State state_;
  std::unique_ptr<Drum> drum_;
  std::deque<Commitment> commits_;
  std::optional<Commitment> begun_;
  bool in_flight_ = false;
  bool in_add_ = false;
  bool wrong_ = false;
};

// Numbers as values have them.
std::string Fixed64(uint64_t number);
uint64_t ReadFixed64(std::string_view bytes);

// A random looking key for a number; equal numbers have equal keys.
uint64_t KeyOf(uint64_t number);
// For DrumOptions::key_of_aux: aux is a number in decimal, then any text.
uint64_t KeyOfAux(std::string_view aux);

// Text that compresses, of exactly this length.
std::string TextOf(uint64_t seed, size_t bytes);

// A rule like BEAST's choice of a queue. The record is (next queue, fill), 32
// bits each; the answer is the queue of this tuple, 32 bits; the parameters
// are a Fixed64 of how many go into a queue.
std::shared_ptr<const MergeRule> MakeQueueRule();

// Values are a Fixed64 and any text; the records too. The number of a value is
// how long it lives, that of a record when it dies; parameters are a Fixed64
// of the time.
std::shared_ptr<const MergeRule> MakeDeadlineRule();

// As the overwrite rule, but a value that begins with '-' erases the record.
std::shared_ptr<const MergeRule> MakeEraseRule();

// Options of a small store: passes come often, and those that are not small
// write runs.
DrumOptions SmallOptions(ValueFormat value,
                         std::shared_ptr<const MergeRule> rule);
inline constexpr ValueFormat kNoValue = {};
inline constexpr ValueFormat kFixed8 = {ValueKind::kFixed, 8};
inline constexpr ValueFormat kVariable = {ValueKind::kVariable, 0};

inline constexpr char kDir[] = "job/store";

// A disk in memory with the directory kDir, a clock that stands, and no
// threads but the test's.
struct TestMachine {
  TestMachine();

  DrumContext context() { return {fs, clock, workers}; }

  MemoryFileSystem fs;
  ManualClock clock;
  Workers workers{0};
};

// Names of files in `dir` that end in `suffix`.
std::vector<std::string> FilesOf(FileSystem& fs, const std::string& dir,
                                 std::string_view suffix = "");

}  // namespace nephila::drum
