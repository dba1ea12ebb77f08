// RocksDB as a set of keys, tuned for it: Bloom filters of 10 bits a key,
// sorted keys by MultiGet on several threads, no log, direct I/O, no
// compression (random keys have nothing to compress), and its caches sized by
// the memory given.
//
// The text of a link stays in memory for its batch and is handed on at once.

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/slice.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "bench/key_batch.h"
#include "bench/preload.h"
#include "bench/process.h"
#include "bench/sequential_file.h"
#include "bench/stores.h"

namespace nephila::bench {
namespace {

constexpr size_t kBatch = 8192;
constexpr size_t kKeysOfGet = 256;  // asked for in one call
// Measured: what a key takes in the files, and of its filter and index.
constexpr double kBytesOfKey = 19;
constexpr double kBytesOfFilter = 1.4;
constexpr uint64_t kKeysOfFile = uint64_t{8} << 20;

// Big-endian, so that RocksDB's order is that of the numbers.
std::array<char, 8> Encode(uint64_t key) {
  return std::bit_cast<std::array<char, 8>>(__builtin_bswap64(key));
}
rocksdb::Slice SliceOf(const std::array<char, 8>& key) {
  return {key.data(), key.size()};
}

Status Translate(const rocksdb::Status& status) {
  if (status.ok()) return {};
  return Unexpected(Error{ErrorCode::kIo, "rocksdb: " + status.ToString()});
}

rocksdb::Options Tuned(const StoreOptions& options) {
  // Three memtables of a twelfth each and a cache of the rest, where blocks,
  // filters and indexes are; what iterators and files take is small beside.
  uint64_t memtable =
      std::max<uint64_t>(options.memory_bytes / 12, uint64_t{64} << 10);
  uint64_t cache =
      std::max<uint64_t>(options.memory_bytes * 3 / 4, uint64_t{1} << 20);
  auto filters = static_cast<uint64_t>(
      kBytesOfFilter * static_cast<double>(options.expected_keys));

  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  if (filters < cache / 2) {
    // All of them stay in memory, beside the cache: less to do for each key.
    cache -= filters;
  } else {
    // Those of a billion keys do not fit into memory; parts of them do.
    table.cache_index_and_filter_blocks = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 4096;
  }
  table.block_cache = rocksdb::NewLRUCache(cache);
  table.block_size = 4096;

  rocksdb::Options tuned;
  tuned.create_if_missing = true;
  tuned.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  tuned.compression = rocksdb::kNoCompression;
  tuned.write_buffer_size = memtable;
  tuned.max_write_buffer_number = 3;
  tuned.max_background_jobs = std::max(2, options.threads);
  tuned.use_direct_reads = true;
  tuned.use_direct_io_for_flush_and_compaction = true;
  tuned.compaction_readahead_size = size_t{2} << 20;
  tuned.level_compaction_dynamic_level_bytes = true;
  tuned.max_bytes_for_level_base = std::max<uint64_t>(4 * memtable, 16 << 20);
  tuned.info_log_level = rocksdb::ERROR_LEVEL;
  return tuned;
}

// Threads that look keys up. Where memory holds everything more than the cores
// only wait for each other; else the disk is to have many reads.
size_t LookupThreads(const StoreOptions& options) {
  bool in_memory = kBytesOfKey * static_cast<double>(options.expected_keys) <
                   0.75 * static_cast<double>(options.memory_bytes);
  return in_memory ? static_cast<size_t>(std::max(1, options.threads)) : 8;
}

class RocksDbStore : public LinkStore {
 public:
  RocksDbStore(const StoreOptions& options, rocksdb::DB* db)
      : options_(options),
        db_(db),
        io_(ReadProcessIo()),
        helpers_(LookupThreads(options) - 1) {}

  Status Preload(uint64_t count) override {
    PreloadKeys keys(count);
    std::vector<std::string> files;
    for (uint64_t done = 0; done < count;) {
      if (!options_.keep_loading(done)) {
        return Unexpected(Error{ErrorCode::kStopped, "loading took too long"});
      }
      uint64_t part = std::min(kKeysOfFile, count - done);
      files.push_back(options_.directory + "/load" +
                      std::to_string(files.size()) + ".sst");
      NEPHILA_RETURN_IF_ERROR(WriteFile(files.back(), part, &keys));
      done += part;
    }
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    if (files.empty()) return {};
    NEPHILA_RETURN_IF_ERROR(Translate(db_->IngestExternalFile(files, ingest)));
    key_count_ = count;
    return {};
  }

  Status Add(uint64_t key, std::string_view text) override {
    batch_.Add(key, text);
    return batch_.size() < kBatch ? Status() : Check();
  }

  Status Finish() override {
    NEPHILA_RETURN_IF_ERROR(Check());
    return Translate(db_->Flush(rocksdb::FlushOptions()));
  }

  StoreReport report() override {
    StoreReport report;
    ProcessIo now = ReadProcessIo();
    report.bytes_read = now.bytes_read - io_.bytes_read;
    report.bytes_written = now.bytes_written - io_.bytes_written;
    report.keys = key_count_;
    db_->GetIntProperty("rocksdb.total-sst-files-size", &report.bytes_of_keys);
    for (const char* name :
         {"block-cache-usage", "cur-size-all-mem-tables",
          "estimate-table-readers-mem", "estimate-pending-compaction-bytes"}) {
      uint64_t value = 0;
      db_->GetIntProperty(std::string("rocksdb.") + name, &value);
      report.extra.emplace_back(name, static_cast<double>(value));
    }
    return report;
  }

 private:
  Status WriteFile(const std::string& path, uint64_t count,
                   PreloadKeys* keys) const {
    rocksdb::Options options = db_->GetOptions();
    rocksdb::SstFileWriter writer((rocksdb::EnvOptions(options)), options);
    NEPHILA_RETURN_IF_ERROR(Translate(writer.Open(path)));
    for (uint64_t i = 0; i < count; ++i) {
      std::array<char, 8> key = Encode(keys->Next());
      NEPHILA_RETURN_IF_ERROR(Translate(writer.Put(SliceOf(key), {})));
    }
    return Translate(writer.Finish());
  }

  // Each thread looks up its part of the sorted batch, so that the disk has
  // several reads to do at a time.
  Status Check() {
    const std::vector<KeyBatch::Item>& items = batch_.Distinct();
    is_new_.assign(items.size(), 0);
    size_t part = items.size() / (helpers_.size() + 1) + 1;
    size_t begin = 0;
    for (Helper& helper : helpers_) {
      helper.Start([this, begin, part] { return Lookup(begin, part); });
      begin += part;
    }
    Status status = Lookup(begin, part);
    for (Helper& helper : helpers_) {
      if (Status other = helper.Wait(); !other) status = std::move(other);
    }
    if (!status) return status;
    rocksdb::WriteBatch news;
    for (size_t i = 0; i < items.size(); ++i) {
      if (is_new_[i] == 0) continue;
      std::array<char, 8> key = Encode(items[i].key);
      NEPHILA_RETURN_IF_ERROR(Translate(news.Put(SliceOf(key), {})));
      options_.sink->Take(items[i].key, batch_.TextOf(items[i]));
      ++key_count_;
    }
    rocksdb::WriteOptions no_log;
    no_log.disableWAL = true;
    batch_.Clear();
    return Translate(db_->Write(no_log, &news));
  }

  Status Lookup(size_t begin, size_t count) {
    const std::vector<KeyBatch::Item>& items = batch_.items();
    std::array<std::array<char, 8>, kKeysOfGet> keys;
    std::array<rocksdb::Slice, kKeysOfGet> slices;
    std::array<rocksdb::PinnableSlice, kKeysOfGet> values;
    std::array<rocksdb::Status, kKeysOfGet> statuses;
    size_t end = std::min(begin + count, items.size());
    while (begin < end) {
      size_t part = std::min(kKeysOfGet, end - begin);
      for (size_t i = 0; i < part; ++i) {
        keys[i] = Encode(items[begin + i].key);
        slices[i] = SliceOf(keys[i]);
        values[i].Reset();
      }
      db_->MultiGet(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), part,
                    slices.data(), values.data(), statuses.data(),
                    /*sorted_input=*/true);
      for (size_t i = 0; i < part; ++i) {
        if (statuses[i].IsNotFound()) {
          is_new_[begin + i] = 1;
        } else {
          NEPHILA_RETURN_IF_ERROR(Translate(statuses[i]));
        }
      }
      begin += part;
    }
    return {};
  }

  const StoreOptions options_;
  std::unique_ptr<rocksdb::DB> db_;
  const ProcessIo io_;
  KeyBatch batch_;
  uint64_t key_count_ = 0;
  std::vector<char> is_new_;  // of each item of the batch
  std::vector<Helper> helpers_;
};

}  // namespace

Result<StorePtr> MakeRocksDbStore(const StoreOptions& options) {
  rocksdb::DB* db = nullptr;
  NEPHILA_RETURN_IF_ERROR(Translate(
      rocksdb::DB::Open(Tuned(options), options.directory + "/db", &db)));
  return StorePtr(std::make_unique<RocksDbStore>(options, db));
}

}  // namespace nephila::bench
