// LMDB as a set of keys, tuned for it: a writable map without syncs, no
// read-ahead, sorted batches of insertions in one transaction.
//
// Its memory is the page cache, which it cannot be told to bound: the report
// names how much of its file lies there (page_cache_bytes), beside the memory
// that was asked for.

#include <fcntl.h>
#include <lmdb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/key_batch.h"
#include "bench/preload.h"
#include "bench/process.h"
#include "bench/stores.h"

namespace nephila::bench {
namespace {

constexpr size_t kBatch = 1 << 16;
constexpr uint64_t kKeysOfTransaction = 1 << 20;
// Of address space; the file has holes up to there.
constexpr size_t kMapBytes = size_t{1} << 38;

Status Translate(int code) {
  if (code == MDB_SUCCESS) return {};
  return Unexpected(
      Error{ErrorCode::kIo, std::string("lmdb: ") + mdb_strerror(code)});
}

// The bytes of a file that are in the page cache.
uint64_t CachedBytes(const std::string& path, uint64_t size) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || size == 0) return 0;
  void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED) return 0;
  auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((size + page - 1) / page);
  uint64_t pages = 0;
  if (mincore(map, size, resident.data()) == 0) {
    for (unsigned char byte : resident) pages += byte & 1U;
  }
  munmap(map, size);
  return pages * page;
}

class LmdbStore : public LinkStore {
 public:
  LmdbStore(const StoreOptions& options, MDB_env* env, MDB_dbi dbi)
      : options_(options), env_(env), dbi_(dbi), io_(ReadProcessIo()) {}
  ~LmdbStore() override { mdb_env_close(env_); }
  LmdbStore(const LmdbStore&) = delete;
  LmdbStore& operator=(const LmdbStore&) = delete;

  Status Preload(uint64_t count) override {
    PreloadKeys keys(count);
    for (uint64_t done = 0; done < count;) {
      if (!options_.keep_loading(done)) {
        return Unexpected(Error{ErrorCode::kStopped, "loading took too long"});
      }
      uint64_t part = std::min(kKeysOfTransaction, count - done);
      Status status = InTransaction([&](MDB_txn* txn) -> Status {
        for (uint64_t i = 0; i < part; ++i) {
          NEPHILA_RETURN_IF_ERROR(Translate(Put(txn, keys.Next(), MDB_APPEND)));
        }
        return {};
      });
      if (!status) return status;
      done += part;
    }
    key_count_ = count;
    return {};
  }

  Status Add(uint64_t key, std::string_view text) override {
    batch_.Add(key, text);
    return batch_.size() < kBatch ? Status() : Check();
  }

  Status Finish() override {
    NEPHILA_RETURN_IF_ERROR(Check());
    return Translate(mdb_env_sync(env_, 1));
  }

  StoreReport report() override {
    StoreReport report;
    ProcessIo now = ReadProcessIo();
    report.bytes_read = now.bytes_read - io_.bytes_read;
    report.bytes_written = now.bytes_written - io_.bytes_written;
    report.keys = key_count_;
    MDB_envinfo info{};
    MDB_stat stat{};
    mdb_env_info(env_, &info);
    mdb_env_stat(env_, &stat);
    report.bytes_of_keys =
        (uint64_t{info.me_last_pgno} + 1) * uint64_t{stat.ms_psize};
    report.extra = {{"page_cache_bytes", static_cast<double>(CachedBytes(
                                             options_.directory + "/data.mdb",
                                             report.bytes_of_keys))}};
    return report;
  }

 private:
  int Put(MDB_txn* txn, uint64_t key, unsigned flags) const {
    MDB_val key_value{sizeof(key), &key};
    MDB_val nothing{0, nullptr};
    return mdb_put(txn, dbi_, &key_value, &nothing, flags);
  }

  template <typename Work>
  Status InTransaction(Work work) {
    MDB_txn* txn = nullptr;
    NEPHILA_RETURN_IF_ERROR(Translate(mdb_txn_begin(env_, nullptr, 0, &txn)));
    if (Status status = work(txn); !status) {
      mdb_txn_abort(txn);
      return status;
    }
    return Translate(mdb_txn_commit(txn));
  }

  Status Check() {
    Status status = InTransaction([this](MDB_txn* txn) -> Status {
      for (const KeyBatch::Item& item : batch_.Distinct()) {
        int code = Put(txn, item.key, MDB_NOOVERWRITE);
        if (code == MDB_KEYEXIST) continue;
        NEPHILA_RETURN_IF_ERROR(Translate(code));
        options_.sink->Take(item.key, batch_.TextOf(item));
        ++key_count_;
      }
      return {};
    });
    batch_.Clear();
    return status;
  }

  const StoreOptions options_;
  MDB_env* const env_;
  const MDB_dbi dbi_;
  const ProcessIo io_;
  KeyBatch batch_;
  uint64_t key_count_ = 0;
};

Result<MDB_dbi> OpenTable(MDB_env* env, const std::string& directory) {
  NEPHILA_RETURN_IF_ERROR(Translate(mdb_env_set_mapsize(env, kMapBytes)));
  constexpr unsigned kFlags =
      MDB_NOSYNC | MDB_NOMETASYNC | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOLOCK;
  NEPHILA_RETURN_IF_ERROR(
      Translate(mdb_env_open(env, directory.c_str(), kFlags, 0600)));
  MDB_txn* txn = nullptr;
  NEPHILA_RETURN_IF_ERROR(Translate(mdb_txn_begin(env, nullptr, 0, &txn)));
  MDB_dbi dbi = 0;
  if (Status status = Translate(
          mdb_dbi_open(txn, nullptr, MDB_CREATE | MDB_INTEGERKEY, &dbi));
      !status) {
    mdb_txn_abort(txn);
    return Unexpected(std::move(status).error());
  }
  NEPHILA_RETURN_IF_ERROR(Translate(mdb_txn_commit(txn)));
  return dbi;
}

}  // namespace

Result<StorePtr> MakeLmdbStore(const StoreOptions& options) {
  MDB_env* env = nullptr;
  NEPHILA_RETURN_IF_ERROR(Translate(mdb_env_create(&env)));
  auto dbi = OpenTable(env, options.directory);
  if (!dbi) {
    mdb_env_close(env);
    return Unexpected(std::move(dbi).error());
  }
  return StorePtr(std::make_unique<LmdbStore>(options, env, *dbi));
}

}  // namespace nephila::bench
