#include "bench/bench_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <vector>

#include "base/random.h"
#include "bench/corpus.h"
#include "bench/instructions.h"
#include "url/canonicalizer.h"

namespace nephila::bench {
namespace {

struct Pass {
  double ns_per_url;
  std::optional<double> instructions_per_url;
};

// The URLs in random order, one behind the other as a parser would hand them
// on: what is measured is the stage, not the memory that the corpus lies in.
class ShuffledUrls {
 public:
  explicit ShuffledUrls(std::vector<std::string> urls) {
    Random random(1);
    random.Shuffle(std::span<std::string>(urls));
    for (const std::string& url : urls) {
      text_ += url;
      ends_.push_back(text_.size());
    }
  }
  size_t size() const { return ends_.size(); }
  size_t bytes() const { return text_.size(); }
  std::string_view operator[](size_t i) const {
    size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

Pass RunPass(const ShuffledUrls& urls, url::Canonicalizer* canonicalizer,
             uint64_t* checksum) {
  InstructionCounter counter;
  auto begin = std::chrono::steady_clock::now();
  counter.Start();
  for (size_t i = 0; i < urls.size(); ++i) {
    auto canonical = canonicalizer->Canonicalize(urls[i], nullptr);
    if (canonical) *checksum += canonical->keys.url.value;
  }
  std::optional<uint64_t> instructions = counter.Stop();
  std::chrono::duration<double, std::nano> elapsed =
      std::chrono::steady_clock::now() - begin;
  auto count = static_cast<double>(urls.size());
  Pass pass{elapsed.count() / count, std::nullopt};
  if (instructions) {
    pass.instructions_per_url = static_cast<double>(*instructions) / count;
  }
  return pass;
}

}  // namespace

Status RunBenchUrl(const cli::Setup& setup, const BenchUrlOptions& options,
                   std::ostream& out) {
  NEPHILA_TRY(UrlCorpus corpus, LoadUrls(options.urls_file));
  ShuffledUrls urls(std::move(corpus.urls));
  url::Canonicalizer canonicalizer(setup.settings.url, setup.suffixes, 0);
  uint64_t checksum = 0;
  RunPass(urls, &canonicalizer, &checksum);  // to warm up
  std::vector<Pass> passes;
  passes.reserve(static_cast<size_t>(options.passes));
  for (int i = 0; i < options.passes; ++i) {
    passes.push_back(RunPass(urls, &canonicalizer, &checksum));
  }
  std::sort(passes.begin(), passes.end(), [](const Pass& a, const Pass& b) {
    return a.ns_per_url < b.ns_per_url;
  });
  const Pass& best = passes.front();
  double median = passes[passes.size() / 2].ns_per_url;
  double bytes_per_url =
      static_cast<double>(urls.bytes()) / static_cast<double>(urls.size());
  uint64_t dropped = canonicalizer.account().Totals().DroppedSum() /
                     static_cast<uint64_t>(options.passes + 1);

  if (options.json) {
    nlohmann::ordered_json line;
    line["bench"] = "url";
    line["source"] = corpus.source;
    line["urls"] = urls.size();
    line["bytes_per_url"] = bytes_per_url;
    line["dropped"] = dropped;
    line["passes"] = options.passes;
    line["ns_per_url"] = best.ns_per_url;
    line["ns_per_url_median"] = median;
    line["instructions_per_url"] = nullptr;
    if (best.instructions_per_url) {
      line["instructions_per_url"] = *best.instructions_per_url;
    }
    line["checksum"] = fmt::format("{:016x}", checksum);
    out << line.dump() << '\n';
  } else {
    out << fmt::format(
        "{} URLs of {} ({:.1f} bytes each, {} dropped)\n"
        "parse + normalise + domain + keys: {:.0f} ns a URL "
        "(median of {} passes {:.0f} ns)\n",
        urls.size(), corpus.source, bytes_per_url, dropped, best.ns_per_url,
        options.passes, median);
    out << (best.instructions_per_url
                ? fmt::format("{:.0f} instructions a URL\n",
                              *best.instructions_per_url)
                : "this machine does not count instructions\n");
  }
  return {};
}

}  // namespace nephila::bench
