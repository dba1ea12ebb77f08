// MergeRule: what a tuple and the record of its key make of each other.
//
// A store with values has one. In a pass it meets every tuple once, the tuples
// of a key in the order of their arrival, each with what the one before left:
// duplicates inside a batch behave as if they had come one after another.
// It may read the parameters of the pass, which are frozen when the pass
// begins and reused if it has to be done again: so a rule is a pure function,
// or a pass cut off by a crash would have other results the second time.
//
// Threads: called from many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nephila::drum {

enum class Operation : uint8_t {
  kCheck,        // gives a result, changes nothing
  kUpdate,       // changes the record, gives no result
  kCheckUpdate,  // both; the result is of before the update
};

constexpr bool GivesResult(Operation operation) {
  return operation != Operation::kUpdate;
}
constexpr bool Updates(Operation operation) {
  return operation != Operation::kCheck;
}

enum class Verdict : uint8_t {
  kLeave,  // the record stays as it was, or absent
  kWrite,  // `record` is its new value
  kErase,  // the record goes
};

struct Meeting {
  Operation operation;
  uint64_t key;
  std::string_view value;       // the tuple's, empty for a check
  std::string_view parameters;  // of the pass
  bool found;                   // is there a record?
};

class MergeRule {
 public:
  virtual ~MergeRule() = default;

  // `record` is the stored value if there is one, else empty; only a rule that
  // returns kWrite changes it, and to a check it returns kLeave. `answer` is
  // what the receiver gets as the value, if the operation gives a result: the
  // stored value unless the rule writes another.
  virtual Verdict Merge(const Meeting& meeting, std::string& record,
                        std::string& answer) const = 0;

  // With expiry every pass shows each record of the store to IsDead before
  // tuples meet it, and dead ones are expunged.
  virtual bool HasExpiry() const { return false; }
  virtual bool IsDead(uint64_t /*key*/, std::string_view /*record*/,
                      std::string_view /*parameters*/) const {
    return false;
  }
};

// The first value of a key stays.
std::shared_ptr<const MergeRule> MakeKeepRule();
// The last one does.
std::shared_ptr<const MergeRule> MakeOverwriteRule();
// Values are little-endian unsigned numbers of equal size, one, two, four or
// eight bytes; the record is their sum, at most the largest number.
std::shared_ptr<const MergeRule> MakeAddRule();

}  // namespace nephila::drum
