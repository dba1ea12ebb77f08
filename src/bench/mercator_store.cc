// Mercator-B, the batch check of Mercator as IRLbot s4.1 describes it.
//
// A batch is (key, position) in memory; its text waits in a file, in the order
// it came. When memory is full the batch is sorted, merged with the sorted file
// of all keys into a new one, and the text is read back for those that were
// new. The papers give half of the memory to a second batch that fills during
// the merge; here the caller waits, and a batch has all of it.

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/real_file_system.h"
#include "bench/key_sort.h"
#include "bench/preload.h"
#include "bench/record_reader.h"
#include "bench/sequential_file.h"
#include "bench/stores.h"

namespace nephila::bench {
namespace {

// The first of `keys[at, count)` that is not below `key`: it is near, so steps
// double from `at` on.
size_t SkipBelow(const uint64_t* keys, size_t at, size_t count, uint64_t key) {
  if (at == count || keys[at] >= key) return at;
  size_t step = 1;
  while (at + step < count && keys[at + step] < key) {
    at += step;
    step *= 2;
  }
  const uint64_t* end = keys + std::min(at + step, count);
  return static_cast<size_t>(std::lower_bound(keys + at, end, key) - keys);
}

class MercatorStore : public LinkStore {
 public:
  explicit MercatorStore(const StoreOptions& options)
      : options_(options),
        fs_(MakeRealFileSystem()),
        keys_path_(options.directory + "/keys"),
        new_keys_path_(options.directory + "/keys.new"),
        text_path_(options.directory + "/text"),
        buffer_bytes_(BufferBytes(options.memory_bytes)),
        capacity_(Capacity(options.memory_bytes, buffer_bytes_)),
        batch_(new KeyedPosition[capacity_]),
        is_new_((capacity_ + 63) / 64) {}

  Status Preload(uint64_t count) override {
    NEPHILA_TRY(auto writer, Create(keys_path_));
    PreloadKeys keys(count);
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t key = keys.Next();
      NEPHILA_RETURN_IF_ERROR(writer->Append(&key, sizeof(key)));
      if (i % (1 << 20) == 0 && !options_.keep_loading(i)) {
        return Unexpected(Error{ErrorCode::kStopped, "loading took too long"});
      }
    }
    key_count_ = count;
    return writer->Finish();
  }

  Status Add(uint64_t key, std::string_view text) override {
    if (text_ == nullptr) {
      NEPHILA_TRY(text_, Create(text_path_));
    }
    batch_[size_] = {static_cast<uint32_t>(key >> 32),
                     static_cast<uint32_t>(key), static_cast<uint32_t>(size_)};
    ++size_;
    char length[kLongestVarint];
    NEPHILA_RETURN_IF_ERROR(
        text_->Append(length, PutVarint(text.size(), length)));
    NEPHILA_RETURN_IF_ERROR(text_->Append(text.data(), text.size()));
    if (size_ < capacity_ && text_->size() < options_.disk_bytes) return {};
    return Check();
  }

  Status Finish() override { return size_ == 0 ? Status() : Check(); }

  StoreReport report() override {
    StoreReport report;
    report.passes = passes_;
    report.bytes_read = counters_.bytes_read;
    report.bytes_written = counters_.bytes_written;
    report.keys = key_count_;
    report.bytes_of_keys = key_count_ * sizeof(uint64_t);
    report.extra = {{"batch_links", static_cast<double>(capacity_)}};
    return report;
  }

 private:
  static size_t BufferBytes(uint64_t memory_bytes) {
    uint64_t bytes = memory_bytes / 64 / kDirectAlignment * kDirectAlignment;
    return std::clamp<uint64_t>(bytes, kDirectAlignment, uint64_t{1} << 20);
  }

  // Two files are open at a time, with two buffers each; a link takes its entry
  // and a bit.
  static size_t Capacity(uint64_t memory_bytes, size_t buffer_bytes) {
    uint64_t buffers = 4 * uint64_t{buffer_bytes};
    uint64_t left = memory_bytes > buffers ? memory_bytes - buffers : 0;
    uint64_t links = left * 8 / (8 * sizeof(KeyedPosition) + 1);
    return std::clamp<uint64_t>(links, 1024, ~uint32_t{0});
  }

  Result<std::unique_ptr<SequentialWriter>> Create(const std::string& path) {
    return SequentialWriter::Create(*fs_, path, buffer_bytes_, &counters_);
  }

  Status Check() {
    NEPHILA_RETURN_IF_ERROR(text_->Finish());
    text_.reset();
    SortByKey(batch_.get(), size_, options_.threads);
    std::fill(is_new_.begin(), is_new_.end(), 0);
    NEPHILA_RETURN_IF_ERROR(Merge());
    NEPHILA_RETURN_IF_ERROR(HandOn());
    size_ = 0;
    ++passes_;
    return {};
  }

  Status Merge() {
    NEPHILA_TRY(auto writer, Create(new_keys_path_));
    next_ = 0;
    if (key_count_ > 0) {
      NEPHILA_TRY(
          auto reader,
          SequentialReader::Open(*fs_, keys_path_, buffer_bytes_, &counters_));
      while (true) {
        NEPHILA_TRY(auto piece, reader->Next());
        if (piece.empty()) break;
        NEPHILA_RETURN_IF_ERROR(
            MergePiece(reinterpret_cast<const uint64_t*>(piece.data()),
                       piece.size() / sizeof(uint64_t), writer.get()));
      }
    }
    while (next_ < size_) NEPHILA_RETURN_IF_ERROR(TakeNext(writer.get()));
    NEPHILA_RETURN_IF_ERROR(writer->Finish());
    return fs_->Rename(new_keys_path_, keys_path_);
  }

  Status MergePiece(const uint64_t* keys, size_t count,
                    SequentialWriter* writer) {
    size_t at = 0;
    while (at < count && next_ < size_) {
      uint64_t key = batch_[next_].key();
      size_t end = SkipBelow(keys, at, count, key);
      NEPHILA_RETURN_IF_ERROR(
          writer->Append(keys + at, (end - at) * sizeof(uint64_t)));
      at = end;
      if (at == count) return {};
      if (keys[at] == key) {
        while (next_ < size_ && batch_[next_].key() == key) ++next_;
      } else {
        NEPHILA_RETURN_IF_ERROR(TakeNext(writer));
      }
    }
    return writer->Append(keys + at, (count - at) * sizeof(uint64_t));
  }

  // The next key of the batch is new; the link that came first stands for it.
  Status TakeNext(SequentialWriter* writer) {
    uint64_t key = batch_[next_].key();
    uint32_t first = batch_[next_].position;
    for (++next_; next_ < size_ && batch_[next_].key() == key; ++next_) {
      first = std::min(first, batch_[next_].position);
    }
    is_new_[first / 64] |= uint64_t{1} << first % 64;
    ++key_count_;
    return writer->Append(&key, sizeof(key));
  }

  Status HandOn() {
    NEPHILA_TRY(auto file, SequentialReader::Open(*fs_, text_path_,
                                                  buffer_bytes_, &counters_));
    RecordReader reader(std::move(file));
    for (size_t i = 0; i < size_; ++i) {
      NEPHILA_TRY(uint64_t length, reader.Varint());
      NEPHILA_TRY(std::string_view text, reader.Bytes(length));
      if ((is_new_[i / 64] >> i % 64 & 1) == 0) continue;
      options_.sink->Take(KeyedHash(text, options_.hash_seed), text);
    }
    return {};
  }

  const StoreOptions options_;
  std::unique_ptr<FileSystem> fs_;
  const std::string keys_path_;
  const std::string new_keys_path_;
  const std::string text_path_;
  const size_t buffer_bytes_;
  const size_t capacity_;
  IoCounters counters_;
  std::unique_ptr<KeyedPosition[]> batch_;
  std::vector<uint64_t> is_new_;  // a bit for each position
  std::unique_ptr<SequentialWriter> text_;
  size_t size_ = 0;
  size_t next_ = 0;  // of the batch, while merging
  uint64_t key_count_ = 0;
  uint64_t passes_ = 0;
};

}  // namespace

Result<StorePtr> MakeMercatorStore(const StoreOptions& options) {
  return StorePtr(std::make_unique<MercatorStore>(options));
}

}  // namespace nephila::bench
