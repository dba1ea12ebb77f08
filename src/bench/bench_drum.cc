#include "bench/bench_drum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/real_file_system.h"
#include "base/text.h"
#include "bench/drum_prediction.h"
#include "bench/link_source.h"
#include "bench/process.h"
#include "bench/stores.h"
#include "bench/text_ratio.h"
#include "model/drum_model.h"

namespace nephila::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr uint64_t kLinksBetweenLooks = 4096;
constexpr double kSecondsBetweenLines = 5;

double SecondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

double Over(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

// A directory of its own, gone with this.
class WorkDirectory {
 public:
  static Result<std::unique_ptr<WorkDirectory>> Make(const std::string& parent,
                                                     uint64_t unique) {
    auto fs = MakeRealFileSystem();
    std::string path = fmt::format("{}/nephila-bench-{:08x}",
                                   parent.empty() ? "." : parent, unique);
    NEPHILA_RETURN_IF_ERROR(fs->MakeDirs(path));
    return std::unique_ptr<WorkDirectory>(
        new WorkDirectory(std::move(fs), std::move(path)));
  }
  ~WorkDirectory() {
    IgnoreError(RemoveAll(*fs_, path_), "nothing to be done");
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  WorkDirectory(std::unique_ptr<FileSystem> fs, std::string path)
      : fs_(std::move(fs)), path_(std::move(path)) {}
  std::unique_ptr<FileSystem> fs_;
  const std::string path_;
};

// What is measured, up to now or at the end.
struct Measured {
  uint64_t links = 0;
  uint64_t link_bytes = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  double preload_seconds = 0;
  uint64_t preloaded = 0;
  bool not_reached = false;
  uint64_t rss_bytes = 0;
  TextSample text;
  StoreReport loaded;  // before the run
  StoreReport report;  // the run alone
};

class Run {
 public:
  Run(const BenchDrumOptions& options, std::ostream& progress)
      : options_(options), progress_(progress) {}

  Status Execute(const std::string& directory) {
    StoreOptions store_options;
    store_options.directory = directory;
    store_options.memory_bytes = options_.memory_bytes;
    store_options.disk_bytes = options_.disk_bytes;
    store_options.expected_keys =
        options_.preload +
        static_cast<uint64_t>(options_.unique_share *
                              static_cast<double>(options_.links));
    store_options.threads = options_.threads;
    store_options.codec = options_.codec;
    store_options.page_cache = options_.page_cache;
    store_options.hash_seed = kHashSeed;
    store_options.sink = &sink_;
    store_options.keep_loading = [this](uint64_t keys) {
      return Loading(keys);
    };
    NEPHILA_TRY(store_, MakeStore(options_.store, store_options));
    NEPHILA_TRY(measured_.text, SampleTextOf(options_));
    NEPHILA_TRY(source_, MakeSource(options_));
    NEPHILA_TRY(bool loaded, Load());
    if (!loaded) return {};
    ResetPeak();
    measured_.loaded = store_->report();
    begin_ = SteadyClock::now();
    double cpu = CpuSeconds();
    NEPHILA_RETURN_IF_ERROR(Feed());
    NEPHILA_RETURN_IF_ERROR(store_->Finish());
    measured_.cpu_seconds = CpuSeconds() - cpu;
    Look();
    measured_.rss_bytes = PeakResidentBytes();
    return {};
  }

  const Measured& measured() const { return measured_; }
  const UniqueSink& sink() const { return sink_; }
  const std::string& source_name() const { return source_.name; }

  double LinksPerSecond() const {
    return static_cast<double>(measured_.links) /
           std::max(measured_.seconds, 1e-9);
  }

  // Bytes read and written, the unique text among them, a byte of text.
  double Alpha() const {
    return Over(measured_.report.bytes_read + measured_.report.bytes_written +
                    sink_.text_bytes(),
                measured_.link_bytes);
  }

  // Theorem 1 with what was measured of the links. It gives a batch half of the
  // memory, and these stores all of it: R is twice theirs.
  std::optional<double> PredictedAlpha() const {
    if (measured_.links == 0) return std::nullopt;
    model::DrumParameters parameters;
    parameters.url_bytes = Over(measured_.link_bytes, measured_.links);
    parameters.unique_share = Over(sink_.links(), measured_.links);
    parameters.known_urls = static_cast<double>(options_.preload);
    auto links = static_cast<double>(measured_.links);
    double ram = 2 * static_cast<double>(options_.memory_bytes);
    if (options_.store == "mercator") {
      return model::AlphaMercatorB(parameters, links, ram);
    }
    if (options_.store == "polybot") {
      // A node of ours is the text and 48 bytes.
      parameters.pointer_bytes = 12;
      parameters.compressed_bytes =
          Over(measured_.report.bytes_of_keys, measured_.report.keys);
      return model::AlphaPolybot(parameters, links, ram);
    }
    if (auto parts = PredictedParts()) return parts->alpha();
    return std::nullopt;
  }

  // Of our own store. The share of new links is the one asked for, as a
  // prediction should not read the answer; of a file nobody knows it before.
  std::optional<model::StoreAlpha> PredictedParts() const {
    if (options_.store != "drum" || measured_.links == 0) return std::nullopt;
    DrumFigures figures;
    figures.link_bytes = Over(measured_.link_bytes, measured_.links);
    figures.text_ratio = measured_.text.arrival_order.ratio;
    figures.unique_share = options_.shuffled ? 1 : options_.unique_share;
    if (!options_.text_file.empty()) {
      figures.unique_share = Over(sink_.links(), measured_.links);
    }
    figures.memory_bytes = options_.memory_bytes;
    figures.disk_bytes = options_.disk_bytes;
    figures.threads = options_.threads;
    figures.known_keys = options_.preload;
    return PredictAlpha(ModelOfDrum(figures),
                        static_cast<double>(measured_.links));
  }

 private:
  // False if the limit ended it.
  Result<bool> Load() {
    if (options_.preload == 0) return true;
    begin_ = last_line_ = SteadyClock::now();
    Status status = store_->Preload(options_.preload);
    measured_.preload_seconds = SecondsSince(begin_);
    if (status) {
      measured_.preloaded = options_.preload;
      return true;
    }
    if (status.error().code != ErrorCode::kStopped) {
      return Unexpected(std::move(status).error());
    }
    measured_.not_reached = true;
    return false;
  }

  bool Loading(uint64_t keys) {
    measured_.preloaded = keys;
    double seconds = SecondsSince(begin_);
    if (SecondsSince(last_line_) >= kSecondsBetweenLines) {
      last_line_ = SteadyClock::now();
      progress_ << fmt::format(
                       "{} of {} keys loaded, {:.0f} keys/s\n", keys,
                       options_.preload,
                       static_cast<double>(keys) / std::max(seconds, 1e-9))
                << std::flush;
    }
    return seconds < options_.load_limit_s;
  }

  Status Feed() {
    last_line_ = begin_;
    std::string_view link;
    uint64_t links = 0;
    uint64_t bytes = 0;
    while (links < options_.links) {
      uint64_t end = std::min(links + kLinksBetweenLooks, options_.links);
      for (; links < end; ++links) {
        if (!source_.links->Next(&link)) return source_.links->status();
        bytes += link.size();
        NEPHILA_RETURN_IF_ERROR(store_->Add(KeyedHash(link, kHashSeed), link));
      }
      measured_.links = links;
      measured_.link_bytes = bytes;
      if (SecondsSince(last_line_) >= kSecondsBetweenLines) PrintProgress();
      if (options_.time_limit_s > 0 &&
          SecondsSince(begin_) >= options_.time_limit_s) {
        break;
      }
    }
    return {};
  }

  void Look() {
    measured_.seconds = SecondsSince(begin_);
    measured_.report = store_->report();
    measured_.report.passes -= measured_.loaded.passes;
    measured_.report.bytes_read -= measured_.loaded.bytes_read;
    measured_.report.bytes_written -= measured_.loaded.bytes_written;
  }

  void PrintProgress() {
    double since = SecondsSince(last_line_);
    last_line_ = SteadyClock::now();
    Look();
    progress_ << fmt::format(
                     "{} links, {:.0f} links/s now, {:.0f} in all; {:.1f} B "
                     "read and {:.1f} B written a link; alpha {:.2f}, {} "
                     "passes, {} resident\n",
                     measured_.links,
                     static_cast<double>(measured_.links - last_links_) / since,
                     LinksPerSecond(),
                     Over(measured_.report.bytes_read, measured_.links),
                     Over(measured_.report.bytes_written, measured_.links),
                     Alpha(), measured_.report.passes,
                     HumanSize(ResidentBytes()))
              << std::flush;
    last_links_ = measured_.links;
  }

  const BenchDrumOptions& options_;
  std::ostream& progress_;
  Source source_;
  UniqueSink sink_;
  StorePtr store_;
  Measured measured_;
  SteadyClock::time_point begin_;
  SteadyClock::time_point last_line_;
  uint64_t last_links_ = 0;
};

// Where measured and predicted differ. A store counts what it reads and writes
// as a whole, and what its log takes; so buckets and Z are one figure.
nlohmann::ordered_json AlphaParts(const Run& run,
                                  const model::StoreAlpha& predicted) {
  const Measured& measured = run.measured();
  const double log = 2 * Over(measured.report.log_bytes, measured.link_bytes);
  const double unique_text = Over(run.sink().text_bytes(), measured.link_bytes);
  return {
      {"measured",
       {{"log", log},
        {"buckets_and_z", run.Alpha() - log - unique_text},
        {"unique_text", unique_text},
        {"read", Over(measured.report.bytes_read, measured.link_bytes)},
        {"written", Over(measured.report.bytes_written, measured.link_bytes)}}},
      {"predicted",
       {{"log", predicted.log},
        {"buckets_and_z",
         predicted.buckets + predicted.z_read + predicted.z_written},
        {"buckets", predicted.buckets},
        {"z_read", predicted.z_read},
        {"z_written", predicted.z_written},
        {"unique_text", predicted.unique_text}}}};
}

nlohmann::ordered_json ToJson(const BenchDrumOptions& options, const Run& run) {
  const Measured& measured = run.measured();
  nlohmann::ordered_json line;
  line["bench"] = "drum";
  line["store"] = options.store;
  line["source"] = run.source_name();
  line["preload"] = options.preload;
  line["memory_bytes"] = options.memory_bytes;
  line["disk_bytes"] = options.disk_bytes;
  line["preload_s"] = measured.preload_seconds;
  line["not_reached"] = nullptr;
  const TextSample& text = measured.text;
  line["text_ratio"] = text.arrival_order.ratio;
  line["text_ratio_bucket_order"] = text.bucket_order.ratio;
  line["text_ns_per_link"] = text.arrival_order.pack_ns_per_link;
  line["text_ns_per_link_bucket_order"] = text.bucket_order.pack_ns_per_link;
  if (measured.not_reached) {
    line["not_reached"] = {
        {"keys_loaded", measured.preloaded},
        {"keys_per_s", static_cast<double>(measured.preloaded) /
                           std::max(measured.preload_seconds, 1e-9)}};
    return line;
  }
  line["links"] = measured.links;
  line["passes"] = measured.report.passes;
  line["links_per_s"] = run.LinksPerSecond();
  line["alpha_measured"] = run.Alpha();
  line["alpha_predicted"] = nullptr;
  if (auto predicted = run.PredictedAlpha()) {
    line["alpha_predicted"] = *predicted;
  }
  if (auto parts = run.PredictedParts()) {
    line["alpha_parts"] = AlphaParts(run, *parts);
  }
  line["bytes_per_key"] = nullptr;
  if (measured.report.keys > 0) {
    line["bytes_per_key"] =
        Over(measured.report.bytes_of_keys, measured.report.keys);
  }
  line["rss_bytes"] = measured.rss_bytes;
  line["unique_share"] = Over(run.sink().links(), measured.links);
  line["unique_xor"] = fmt::format("{:016x}", run.sink().key_xor());
  line["link_bytes"] = Over(measured.link_bytes, measured.links);
  line["seconds"] = measured.seconds;
  line["cpu_s"] = measured.cpu_seconds;
  line["bytes_read"] = measured.report.bytes_read;
  line["bytes_written"] = measured.report.bytes_written;
  line["keys"] = measured.report.keys;
  for (const auto& [name, value] : measured.report.extra) line[name] = value;
  return line;
}

void PrintText(const nlohmann::ordered_json& line, std::ostream& out) {
  for (const auto& [name, value] : line.items()) {
    out << fmt::format(
        "{:<24} {}\n", name,
        value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

Result<uint64_t> ParseCount(std::string_view text) {
  std::string digits(text);
  double scale = 1;
  if (!digits.empty()) {
    constexpr std::string_view kUnits = "kmbt";
    size_t unit = kUnits.find(LowerAscii(digits.substr(digits.size() - 1)));
    if (unit != std::string_view::npos) {
      scale = std::pow(1000.0, static_cast<double>(unit + 1));
      digits.pop_back();
    }
  }
  bool plain = !digits.empty() && digits.size() <= 19 &&
               digits.find_first_not_of("0123456789.") == std::string::npos &&
               std::count(digits.begin(), digits.end(), '.') <= 1 &&
               digits != ".";
  double value = plain ? std::stod(digits) * scale : -1;
  if (value < 0 || value > 1e15 || value != std::floor(value)) {
    return Unexpected(
        Error{ErrorCode::kInvalidArgument,
              std::string(text) + ": not a count such as 500000, 10M or 1.5B"});
  }
  return static_cast<uint64_t>(value);
}

Status RunBenchDrum(const BenchDrumOptions& options, std::ostream& out,
                    std::ostream& progress) {
  NEPHILA_TRY(uint64_t unique, RandomSeed());
  NEPHILA_TRY(auto directory,
              WorkDirectory::Make(options.directory, unique & 0xFFFFFFFF));
  nlohmann::ordered_json line;
  {
    Run run(options, progress);
    NEPHILA_RETURN_IF_ERROR(run.Execute(directory->path()));
    line = ToJson(options, run);
  }
  if (options.json) {
    out << line.dump() << '\n';
  } else {
    PrintText(line, out);
  }
  return {};
}

}  // namespace nephila::bench
