#include "bench/bench_queue.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/cpu_time.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "bench/corpus.h"
#include "disk_queue/queue_set.h"

namespace nephila::bench {
namespace {

constexpr uint64_t kCommitEvery = 100'000;

double WallSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Timer {
  double cpu = ThreadCpuSeconds();
  double wall = WallSeconds();
};

struct Figures {
  Timer spent_appending{0, 0};
  Timer spent_reading{0, 0};
  uint64_t record_bytes = 0;
  uint64_t disk_bytes = 0;
  uint64_t segments = 0;
};

Timer Since(const Timer& begin) {
  return {ThreadCpuSeconds() - begin.cpu, WallSeconds() - begin.wall};
}

// The n-th record: 34 bytes that hardly repeat, as keys, parent, depth and
// time of discovery are, then a URL.
void MakeRecord(uint64_t n, const std::string& url, std::string& record) {
  record.clear();
  uint64_t state = n;
  ByteWriter writer(record);
  for (int i = 0; i < 2; ++i) writer.U64(NextSplitMix(state));
  writer.U64(1'700'000'000'000 + n);
  writer.U16(static_cast<uint16_t>(n % 12));
  writer.U64(0);
  record += url;
}

class QueueBench {
 public:
  QueueBench(const BenchQueueOptions& options, const UrlCorpus& corpus,
             FileSystem& fs, std::string directory)
      : options_(options),
        corpus_(corpus),
        fs_(fs),
        directory_(std::move(directory)) {}

  Result<Figures> Run(uint64_t queues, Codec codec) {
    const std::string dir = directory_ + "/queues";
    NEPHILA_RETURN_IF_ERROR(RemoveAll(fs_, dir));
    disk_queue::QueueSetOptions set_options;
    set_options.memory_bytes = options_.memory_bytes;
    set_options.codec = codec;
    NEPHILA_TRY(set_, disk_queue::QueueSet::Create(fs_, dir, set_options));
    Figures figures;
    NEPHILA_RETURN_IF_ERROR(AppendAll(queues, figures));
    NEPHILA_RETURN_IF_ERROR(ReadAll(queues, figures));
    set_.reset();
    NEPHILA_RETURN_IF_ERROR(RemoveAll(fs_, dir));
    return figures;
  }

 private:
  const std::string& UrlOf(uint64_t n) const {
    return corpus_.urls[n % corpus_.urls.size()];
  }

  Status AppendAll(uint64_t queues, Figures& figures) {
    Random random(1);
    std::string record;
    sum_ = 0;
    const Timer begin;
    for (uint64_t n = 0; n < options_.records; ++n) {
      MakeRecord(n, UrlOf(n), record);
      sum_ += KeyedHash(record, 0);
      figures.record_bytes += record.size();
      NEPHILA_RETURN_IF_ERROR(
          set_->Append(random.Below(queues), record).and_then([](uint64_t) {
            return Status();
          }));
      if (n % kCommitEvery == kCommitEvery - 1) {
        NEPHILA_RETURN_IF_ERROR(
            set_->Commit().and_then([](uint64_t) { return Status(); }));
      }
    }
    figures.spent_appending = Since(begin);
    const disk_queue::QueueSetStats stats = set_->stats();
    figures.disk_bytes = stats.segment_bytes;
    figures.segments = stats.segments;
    return {};
  }

  Status ReadAll(uint64_t queues, Figures& figures) {
    uint64_t left = options_.records;
    const auto sink = [&](const disk_queue::Record& record) {
      sum_ -= KeyedHash(record.bytes, 0);
      --left;
    };
    const Timer begin;
    for (uint64_t queue = 0; queue < queues; ++queue) {
      size_t done = 1;
      while (done > 0) {
        NEPHILA_TRY(done, set_->Read(queue, 1000, sink));
      }
    }
    figures.spent_reading = Since(begin);
    if (left != 0 || sum_ != 0) {
      return Unexpected(Error{ErrorCode::kCorruption,
                              "the records that came back are not those that "
                              "were appended"});
    }
    return {};
  }

  const BenchQueueOptions& options_;
  const UrlCorpus& corpus_;
  FileSystem& fs_;
  const std::string directory_;
  std::unique_ptr<disk_queue::QueueSet> set_;
  uint64_t sum_ = 0;
};

void Print(const BenchQueueOptions& options, const UrlCorpus& corpus,
           uint64_t queues, Codec codec, const Figures& figures,
           std::ostream& out) {
  const auto records = static_cast<double>(options.records);
  const auto bytes = static_cast<double>(figures.record_bytes);
  const auto ns = [&](double seconds) { return seconds * 1e9 / records; };
  const auto mb = [&](double seconds) { return bytes / seconds / 1e6; };
  const double ratio = figures.disk_bytes == 0
                           ? 0
                           : bytes / static_cast<double>(figures.disk_bytes);
  if (!options.json) {
    out << fmt::format(
        "{} queues, {}: append {:.0f} ns CPU ({:.0f} MB/s by the clock), read "
        "{:.0f} ns CPU ({:.0f} MB/s), {} segments, {:.2f} : 1\n",
        queues, CodecName(codec), ns(figures.spent_appending.cpu),
        mb(figures.spent_appending.wall), ns(figures.spent_reading.cpu),
        mb(figures.spent_reading.wall), figures.segments, ratio);
    return;
  }
  nlohmann::ordered_json line;
  line["source"] = corpus.source;
  line["records"] = options.records;
  line["bytes_per_record"] = bytes / records;
  line["queues"] = queues;
  line["codec"] = CodecName(codec);
  line["append_cpu_ns"] = ns(figures.spent_appending.cpu);
  line["append_mb_per_s"] = mb(figures.spent_appending.wall);
  line["read_cpu_ns"] = ns(figures.spent_reading.cpu);
  line["read_mb_per_s"] = mb(figures.spent_reading.wall);
  line["segments"] = figures.segments;
  line["disk_ratio"] = ratio;
  out << line.dump() << '\n';
}

}  // namespace

Status RunBenchQueue(const BenchQueueOptions& options, std::ostream& out) {
  NEPHILA_TRY(const UrlCorpus corpus, LoadUrls(options.urls_file));
  if (corpus.urls.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            corpus.source + ": there are no URLs in it"});
  }
  const auto fs = MakeRealFileSystem();
  NEPHILA_TRY(const uint64_t unique, RandomSeed());
  const std::string directory = fmt::format(
      "{}/nephila-bench-queue-{:08x}",
      options.directory.empty() ? "." : options.directory, unique & 0xFFFFFFFF);
  NEPHILA_RETURN_IF_ERROR(fs->MakeDirs(directory));
  QueueBench bench(options, corpus, *fs, directory);
  const auto run = [&]() -> Status {
    for (const uint64_t queues : options.queues) {
      for (const Codec codec : options.codecs) {
        NEPHILA_TRY(const Figures figures, bench.Run(queues, codec));
        Print(options, corpus, queues, codec, figures, out);
      }
    }
    return {};
  };
  Status status = run();
  IgnoreError(RemoveAll(*fs, directory), "the result is the run's");
  return status;
}

}  // namespace nephila::bench
