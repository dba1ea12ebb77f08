#include "budget/rounds.h"

#include "base/check.h"

namespace nephila::budget {

void Rounds::BeginSplit(uint64_t max_queues) {
  NEPHILA_CHECK(AtRoundEnd());
  splitting_ = true;
  split_ = {current_ + queues_, current_ + 2 * queues_ - 1};
  split_left_ = 0;
  ++failed_version_;
  next_queues_ = std::max(queues_, std::min(2 * queues_, max_queues));
  round_end_ = current_ + next_queues_;
}

void Rounds::EndSplit() {
  NEPHILA_CHECK(splitting_ && split_left_ == 0);
  splitting_ = false;
  queues_ = next_queues_;
  ++splits_;
}

void Rounds::Advance() {
  NEPHILA_CHECK(SplitLetsPass());
  if (AtRoundEnd()) round_end_ = current_ + queues_;
  ++current_;
}

void Rounds::Write(ByteWriter& writer) const {
  writer.Varint(current_);
  writer.Varint(queues_);
  writer.Varint(round_end_);
  writer.Varint(failed_version_);
  writer.Varint(splits_);
  writer.U8(splitting_ ? 1 : 0);
  if (!splitting_) return;
  writer.Varint(split_.first);
  writer.Varint(split_.last);
  writer.Varint(split_left_);
  writer.Varint(next_queues_);
}

bool Rounds::Read(ByteReader& reader) {
  bool good = true;
  const auto number = [&] {
    const auto read = reader.Varint();
    good = good && read.has_value();
    return read.has_value() ? *read : 0;
  };
  Rounds read(1);
  read.current_ = number();
  read.queues_ = number();
  read.round_end_ = number();
  read.failed_version_ = number();
  read.splits_ = number();
  const auto splitting = reader.U8();
  if (!splitting.has_value() || *splitting > 1) return false;
  read.splitting_ = *splitting == 1;
  if (read.splitting_) {
    read.split_.first = number();
    read.split_.last = number();
    read.split_left_ = number();
    read.next_queues_ = number();
  }
  if (!good || read.current_ == 0 || read.queues_ == 0 ||
      read.round_end_ < read.current_ ||
      (read.splitting_ &&
       (read.failed_version_ == 0 || read.next_queues_ == 0 ||
        read.split_.first <= read.current_))) {
    return false;
  }
  *this = read;
  return true;
}

}  // namespace nephila::budget
