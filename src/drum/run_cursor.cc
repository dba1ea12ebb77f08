#include <algorithm>
#include <utility>

#include "base/check.h"
#include "drum/run.h"

namespace nephila::drum {

RunCursor::RunCursor(std::shared_ptr<const Run> run, uint64_t first,
                     uint64_t last, size_t read_ahead_bytes)
    : run_(std::move(run)),
      first_(first),
      last_(last),
      read_ahead_bytes_(read_ahead_bytes),
      window_bytes_(read_ahead_bytes) {}

Result<bool> RunCursor::LoadBlockFor(uint64_t key) {
  const std::span<const RunIndexEntry> index = run_->index();
  // The last block that begins at or before `key`; those before end below it.
  const auto behind = std::upper_bound(
      index.begin() + static_cast<ptrdiff_t>(next_), index.end(), key,
      [](uint64_t wanted, const RunIndexEntry& entry) {
        return wanted < entry.first_key;
      });
  const auto at = static_cast<size_t>(behind - index.begin());
  const size_t block = std::max(next_, at == 0 ? 0 : at - 1);
  if (block == index.size() || index[block].first_key > last_) {
    next_ = index.size();
    return false;
  }
  if (block >= read_end_) NEPHILA_RETURN_IF_ERROR(ReadFrom(block));
  NEPHILA_RETURN_IF_ERROR(Decode(block));
  next_ = block + 1;
  return true;
}

Status RunCursor::ReadFrom(size_t block) {
  const std::span<const RunIndexEntry> index = run_->index();
  // After a jump over blocks the next is likely to be one as well. Whoever
  // goes on in order soon has the full length again.
  if (read_end_ != 0 && block != read_end_) window_bytes_ = kRunBlockBytes;
  const RunIndexEntry& first = index[block];
  uint64_t pages = first.pages;
  size_t end = block + 1;
  while (end < index.size() && index[end].page == first.page + pages &&
         (pages + index[end].pages) * kPageBytes <= window_bytes_ &&
         index[end].first_key <= last_) {
    pages += index[end].pages;
    ++end;
  }
  NEPHILA_RETURN_IF_ERROR(run_->file_->ReadPages(first.page * kPageBytes,
                                                 pages * kPageBytes, pages_));
  read_begin_ = block;
  read_end_ = end;
  window_bytes_ = std::min(2 * window_bytes_, read_ahead_bytes_);
  return {};
}

Status RunCursor::Decode(size_t block) {
  const std::span<const RunIndexEntry> index = run_->index();
  const RunIndexEntry& entry = index[block];
  const uint64_t offset = entry.page * kPageBytes;
  const uint64_t begin = (entry.page - index[read_begin_].page) * kPageBytes;
  NEPHILA_TRY(
      const std::string_view payload,
      run_->file_->CheckPages(
          offset, pages_.pages().subspan(begin, entry.pages * kPageBytes)));
  const auto decoded = DecodeRunBlock(payload, run_->format(), block_);
  if (!decoded.has_value()) {
    return Unexpected(run_->Damage(offset, RunBlockErrorText(decoded.error())));
  }
  if (block_.keys.size() != entry.count ||
      block_.keys.front() != entry.first_key ||
      (block + 1 < index.size() &&
       block_.keys.back() >= index[block + 1].first_key)) {
    return Unexpected(run_->Damage(offset, "the block does not fit the index"));
  }
  return {};
}

Status RunCursor::SeekTo(uint64_t key) {
  key = std::max(key, first_);
  size_t from = position_;
  if (!loaded_ || (!at_end_ && key > block_.keys.back())) {
    NEPHILA_TRY(loaded_, LoadBlockFor(key));
    at_end_ = !loaded_;
    from = 0;
    // Of the block that could have had it, all may be below.
    if (loaded_ && key > block_.keys.back()) {
      NEPHILA_TRY(loaded_, LoadBlockFor(key));
      at_end_ = !loaded_;
    }
  }
  if (at_end_) return {};
  const auto at =
      std::lower_bound(block_.keys.begin() + static_cast<ptrdiff_t>(from),
                       block_.keys.end(), key);
  position_ = static_cast<size_t>(at - block_.keys.begin());
  at_end_ = block_.keys[position_] > last_;
  return {};
}

Status RunCursor::Next() {
  NEPHILA_DCHECK(!at_end_);
  if (++position_ == block_.keys.size()) {
    NEPHILA_TRY(loaded_, LoadBlockFor(first_));
    position_ = 0;
    at_end_ = !loaded_;
    if (at_end_) return {};
  }
  at_end_ = block_.keys[position_] > last_;
  return {};
}

Result<std::span<const uint64_t>> RunCursor::NextKeys(uint64_t min_key) {
  min_key = std::max(min_key, first_);
  while (true) {
    NEPHILA_TRY(const bool loaded, LoadBlockFor(min_key));
    if (!loaded) return std::span<const uint64_t>();
    const auto begin =
        std::lower_bound(block_.keys.begin(), block_.keys.end(), first_);
    const auto end = std::upper_bound(begin, block_.keys.end(), last_);
    if (begin != end) return std::span<const uint64_t>(begin, end);
  }
}

}  // namespace nephila::drum
