// Polybot's batch check (Polybot s3.3, IRLbot s4.1).
//
// New texts wait in a red-black tree in memory; when that is full it is merged,
// in one scan, with the file of all texts seen, sorted and without the prefix
// that each shares with the one before. As in mercator_store.cc there is no
// second tree to fill during the merge: one has all of the memory.

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <set>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "base/real_file_system.h"
#include "bench/preload.h"
#include "bench/record_reader.h"
#include "bench/sequential_file.h"
#include "bench/stores.h"

namespace nephila::bench {
namespace {

// A node: three pointers and a colour, and where the text lies.
constexpr size_t kNodeBytes = 48;

// Texts in rising order, each as the length of the prefix it shares, the length
// of the rest, and the rest.
class PrefixWriter {
 public:
  explicit PrefixWriter(std::unique_ptr<SequentialWriter> file)
      : file_(std::move(file)) {}

  Status Append(std::string_view text) {
    size_t shared = static_cast<size_t>(
        std::mismatch(last_.begin(), last_.end(), text.begin(), text.end())
            .first -
        last_.begin());
    char head[2 * kLongestVarint];
    size_t size = PutVarint(shared, head);
    size += PutVarint(text.size() - shared, head + size);
    NEPHILA_RETURN_IF_ERROR(file_->Append(head, size));
    last_.assign(text);
    return file_->Append(text.data() + shared, text.size() - shared);
  }
  Status Finish() { return file_->Finish(); }
  uint64_t size() const { return file_->size(); }

 private:
  std::unique_ptr<SequentialWriter> file_;
  std::string last_;
};

class PrefixReader {
 public:
  explicit PrefixReader(std::unique_ptr<SequentialReader> file)
      : reader_(std::move(file)) {}

  // False at the end; else text() is the next.
  Result<bool> Next() {
    NEPHILA_TRY(bool at_end, reader_.AtEnd());
    if (at_end) return false;
    NEPHILA_TRY(uint64_t shared, reader_.Varint());
    NEPHILA_TRY(uint64_t size, reader_.Varint());
    NEPHILA_TRY(std::string_view rest, reader_.Bytes(size));
    text_.resize(shared);
    text_.append(rest);
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  RecordReader reader_;
  std::string text_;
};

class PolybotStore : public LinkStore {
 public:
  explicit PolybotStore(const StoreOptions& options)
      : options_(options),
        fs_(MakeRealFileSystem()),
        path_(options.directory + "/texts"),
        new_path_(options.directory + "/texts.new"),
        buffer_bytes_(std::clamp<uint64_t>(
            options.memory_bytes / 64 / kDirectAlignment * kDirectAlignment,
            kDirectAlignment, uint64_t{1} << 20)),
        arena_bytes_(std::max<uint64_t>(options.memory_bytes,
                                        4 * buffer_bytes_ + (64 << 10)) -
                     4 * buffer_bytes_),
        arena_(new std::byte[arena_bytes_]) {
    MakeTree();
  }

  Status Preload(uint64_t count) override {
    NEPHILA_TRY(auto file, Create());
    PrefixWriter writer(std::move(file));
    PreloadKeys keys(count);
    for (uint64_t i = 0; i < count; ++i) {
      NEPHILA_RETURN_IF_ERROR(
          writer.Append(fmt::format("http://www.{:016x}.com/", keys.Next())));
      if (i % (1 << 18) == 0 && !options_.keep_loading(i)) {
        return Unexpected(Error{ErrorCode::kStopped, "loading took too long"});
      }
    }
    text_count_ = count;
    return Publish(&writer);
  }

  Status Add(uint64_t /*key*/, std::string_view text) override {
    auto place = tree_->lower_bound(text);
    if (place != tree_->end() && *place == text) return {};
    // Nodes are aligned to 8.
    size_t needed = (text.size() + 7) / 8 * 8 + kNodeBytes;
    if (used_ + needed > arena_bytes_) {
      NEPHILA_RETURN_IF_ERROR(Merge());
      place = tree_->end();
    }
    auto* copy = static_cast<char*>(resource_->allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    tree_->emplace_hint(place, copy, text.size());
    used_ += needed;
    return {};
  }

  Status Finish() override { return tree_->empty() ? Status() : Merge(); }

  StoreReport report() override {
    StoreReport report;
    report.passes = passes_;
    report.bytes_read = counters_.bytes_read;
    report.bytes_written = counters_.bytes_written;
    report.keys = text_count_;
    report.bytes_of_keys = file_bytes_;
    return report;
  }

 private:
  using Tree = std::pmr::set<std::string_view>;

  void MakeTree() {
    tree_.reset();
    resource_ = std::make_unique<std::pmr::monotonic_buffer_resource>(
        arena_.get(), arena_bytes_, std::pmr::null_memory_resource());
    tree_ = std::make_unique<Tree>(resource_.get());
    used_ = 0;
  }

  Result<std::unique_ptr<SequentialWriter>> Create() {
    return SequentialWriter::Create(*fs_, new_path_, buffer_bytes_, &counters_);
  }

  Status Publish(PrefixWriter* writer) {
    NEPHILA_RETURN_IF_ERROR(writer->Finish());
    file_bytes_ = writer->size();
    return fs_->Rename(new_path_, path_);
  }

  Status Merge() {
    NEPHILA_TRY(auto file, Create());
    PrefixWriter writer(std::move(file));
    auto next = tree_->begin();
    auto take = [&] {
      options_.sink->Take(KeyedHash(*next, options_.hash_seed), *next);
      ++text_count_;
      return writer.Append(*next++);
    };
    if (file_bytes_ > 0) {
      NEPHILA_TRY(auto old, SequentialReader::Open(*fs_, path_, buffer_bytes_,
                                                   &counters_));
      PrefixReader reader(std::move(old));
      while (true) {
        NEPHILA_TRY(bool more, reader.Next());
        if (!more) break;
        int order = -1;
        while (next != tree_->end() &&
               (order = next->compare(reader.text())) < 0) {
          NEPHILA_RETURN_IF_ERROR(take());
        }
        if (next != tree_->end() && order == 0) ++next;
        NEPHILA_RETURN_IF_ERROR(writer.Append(reader.text()));
      }
    }
    while (next != tree_->end()) NEPHILA_RETURN_IF_ERROR(take());
    NEPHILA_RETURN_IF_ERROR(Publish(&writer));
    MakeTree();
    ++passes_;
    return {};
  }

  const StoreOptions options_;
  std::unique_ptr<FileSystem> fs_;
  const std::string path_;
  const std::string new_path_;
  const size_t buffer_bytes_;
  const size_t arena_bytes_;
  IoCounters counters_;
  std::unique_ptr<std::byte[]> arena_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> resource_;
  std::unique_ptr<Tree> tree_;
  size_t used_ = 0;
  uint64_t text_count_ = 0;
  uint64_t file_bytes_ = 0;
  uint64_t passes_ = 0;
};

}  // namespace

Result<StorePtr> MakePolybotStore(const StoreOptions& options) {
  return StorePtr(std::make_unique<PolybotStore>(options));
}

}  // namespace nephila::bench
