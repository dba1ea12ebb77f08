#include "fetch/body_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace nephila::fetch {
namespace {

double SpeedOf(const BodyProgress& progress) {
  if (progress.recent_bytes_per_second) {
    return *progress.recent_bytes_per_second;
  }
  const auto nanoseconds = std::max<int64_t>(1, progress.age.count());
  return static_cast<double>(std::max<uint64_t>(1, progress.received_bytes)) *
         1e9 / static_cast<double>(nanoseconds);
}

}  // namespace

Result<std::unique_ptr<BodyPool>> BodyPool::Make(uint64_t capacity_bytes) {
  const uint64_t blocks = std::max<uint64_t>(1, capacity_bytes / kBlockBytes);
  // Blocks have numbers of 32 bits: 32 TiB.
  NEPHILA_CHECK(blocks <= UINT32_MAX);
  void* memory =
      mmap(nullptr, blocks * kBlockBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, /*fd=*/-1, 0);
  if (memory == MAP_FAILED) {
    return Unexpected(Error{
        ErrorCode::kIo, "fetch.body_memory: no " + FormatSize(capacity_bytes) +
                            " to be had: " + std::strerror(errno)});
  }
  return std::unique_ptr<BodyPool>(
      new BodyPool(static_cast<char*>(memory), static_cast<size_t>(blocks)));
}

BodyPool::BodyPool(char* memory, size_t blocks)
    : memory_(memory), blocks_(blocks) {}

BodyPool::~BodyPool() {
  NEPHILA_CHECK(used_blocks_.load(std::memory_order_relaxed) == 0);
  NEPHILA_CHECK(in_flight_blocks_.load(std::memory_order_relaxed) == 0);
  munmap(memory_, blocks_ * kBlockBytes);
}

char* BodyPool::Take() {
  size_t block = 0;
  {
    MutexLock lock(mutex_);
    if (!free_.empty()) {
      block = free_.back();
      free_.pop_back();
    } else if (fresh_ < blocks_) {
      block = fresh_++;
    } else {
      return nullptr;
    }
  }
  used_blocks_.fetch_add(1, std::memory_order_relaxed);
  return memory_ + block * kBlockBytes;
}

void BodyPool::Give(std::span<const std::string_view> pieces) {
  {
    MutexLock lock(mutex_);
    for (const std::string_view piece : pieces) {
      const auto offset = static_cast<size_t>(piece.data() - memory_);
      free_.push_back(static_cast<uint32_t>(offset / kBlockBytes));
    }
  }
  used_blocks_.fetch_sub(pieces.size(), std::memory_order_relaxed);
}

bool BodyPool::MayStart() const {
  const uint64_t used = used_bytes();
  // Both were read at different moments.
  const uint64_t finished = used - std::min(in_flight_bytes(), used);
  return used <= capacity_bytes() - capacity_bytes() / 4 ||
         finished <= capacity_bytes() / 4;
}

BodyShare::~BodyShare() {
  NEPHILA_CHECK(held_blocks_.load(std::memory_order_relaxed) == 0);
}

char* BodyShare::Take() {
  char* block = pool_.Take();
  if (block == nullptr) return nullptr;
  held_blocks_.fetch_add(1, std::memory_order_relaxed);
  in_flight_blocks_.fetch_add(1, std::memory_order_relaxed);
  pool_.in_flight_blocks_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

char* BodyShare::TakeEmpty() {
  char* const block = Take();
  if (block != nullptr) madvise(block, BodyPool::kBlockBytes, MADV_DONTNEED);
  return block;
}

void BodyShare::Give(std::span<const std::string_view> pieces, bool in_flight) {
  if (in_flight) Finish(pieces.size());
  pool_.Give(pieces);
  held_blocks_.fetch_sub(pieces.size(), std::memory_order_relaxed);
}

void BodyShare::Finish(size_t blocks) {
  in_flight_blocks_.fetch_sub(blocks, std::memory_order_relaxed);
  pool_.in_flight_blocks_.fetch_sub(blocks, std::memory_order_relaxed);
}

uint64_t BodyShare::Pressure() const {
  const uint64_t used = pool_.used_bytes();
  const uint64_t capacity = pool_.capacity_bytes();
  if (used <= capacity - capacity / 8) return 0;
  // All of these were read at different moments.
  const uint64_t all = std::min(pool_.in_flight_bytes(), used);
  const uint64_t own = std::min(in_flight_bytes(), all);
  const uint64_t half = capacity / 2;
  if (own == 0 || all <= half) return 0;
  const uint64_t excess =
      std::min(used - (capacity - capacity / 4), all - half);
  const auto part = static_cast<uint64_t>(static_cast<double>(excess) *
                                          static_cast<double>(own) /
                                          static_cast<double>(all));
  return std::min(own, part + 1);
}

Body::Body(Body&& other) noexcept
    : share_(std::exchange(other.share_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      finished_(std::exchange(other.finished_, false)),
      pieces_(std::exchange(other.pieces_, {})),
      charged_(std::exchange(other.charged_, {})) {}

Body& Body::operator=(Body&& other) noexcept {
  if (this == &other) return *this;
  Clear();
  share_ = std::exchange(other.share_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  finished_ = std::exchange(other.finished_, false);
  // The empty lists go the other way, with their memory.
  std::swap(pieces_, other.pieces_);
  std::swap(charged_, other.charged_);
  return *this;
}

void Body::Begin(BodyShare* share) {
  Clear();
  share_ = share;
}

size_t Body::Append(std::string_view bytes) {
  NEPHILA_CHECK(share_ != nullptr && !finished_);
  size_t taken = 0;
  while (taken < bytes.size()) {
    if (pieces_.empty() || pieces_.back().size() == BodyPool::kBlockBytes) {
      const char* block = share_->Take();
      if (block == nullptr) break;
      pieces_.emplace_back(block, 0);
    }
    std::string_view& last = pieces_.back();
    const size_t size =
        std::min(bytes.size() - taken, BodyPool::kBlockBytes - last.size());
    // The pool's memory is writable; the view is for readers.
    std::memcpy(const_cast<char*>(last.data()) + last.size(),
                bytes.data() + taken, size);
    last = {last.data(), last.size() + size};
    taken += size;
  }
  size_bytes_ += taken;
  return taken;
}

bool Body::Charge(uint64_t bytes) {
  NEPHILA_CHECK(share_ != nullptr && !finished_);
  while (charged_.size() * BodyPool::kBlockBytes < bytes) {
    const char* const block = share_->TakeEmpty();
    if (block == nullptr) return false;
    charged_.emplace_back(block, 0);
  }
  return true;
}

void Body::Finished() {
  const size_t blocks = pieces_.size() + charged_.size();
  if (!finished_ && blocks > 0) share_->Finish(blocks);
  finished_ = true;
}

void Body::Clear() {
  if (!pieces_.empty()) share_->Give(pieces_, !finished_);
  if (!charged_.empty()) share_->Give(charged_, !finished_);
  pieces_.clear();
  charged_.clear();
  size_bytes_ = 0;
  finished_ = false;
}

void RecentSpeed::Begin(MonoTime now) {
  begin_ = counted_ = now;
  weighed_ = 0;
}

void RecentSpeed::Count(uint64_t bytes, MonoTime now) {
  weighed_ *= std::exp(-Seconds(now - counted_) / Seconds(kMemory));
  weighed_ += static_cast<double>(bytes);
  counted_ = now;
}

double RecentSpeed::BytesPerSecond(MonoTime now) const {
  // The first bytes come at once, which is not infinitely fast.
  constexpr double kLeastAge = 1e-3;
  const double memory = Seconds(kMemory);
  const double age = std::max(kLeastAge, Seconds(now - begin_));
  // The weight of all the time since the beginning.
  const double weight = memory * -std::expm1(-age / memory);
  return weighed_ * std::exp(-Seconds(now - counted_) / memory) / weight;
}

std::vector<size_t> SlowestTransfers(std::span<const BodyProgress> transfers,
                                     uint64_t bytes_to_free) {
  struct Rank {
    double bytes_per_second;
    size_t position;
    // The slowest is the greatest.
    bool operator<(const Rank& other) const {
      return bytes_per_second > other.bytes_per_second;
    }
  };
  std::vector<Rank> heap;
  heap.reserve(transfers.size());
  for (size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].held_bytes == 0) continue;
    heap.push_back({SpeedOf(transfers[i]), i});
  }
  std::make_heap(heap.begin(), heap.end());
  std::vector<size_t> slowest;
  uint64_t freed = 0;
  while (freed < bytes_to_free && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    slowest.push_back(heap.back().position);
    freed += transfers[heap.back().position].held_bytes;
    heap.pop_back();
  }
  return slowest;
}

}  // namespace nephila::fetch
