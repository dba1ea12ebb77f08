#include "bench/bench_links.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/cpu_time.h"
#include "bench/html_corpus.h"
#include "bench/link_compare.h"
#include "bench/link_parsers.h"

namespace nephila::bench {
namespace {

double WallSeconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Measured {
  double cpu_s = 1e30;
  double wall_s = 1e30;
  uint64_t links = 0;
};

void RunPass(const HtmlCorpus& corpus, LinkParser* parser, Measured* best) {
  uint64_t links = 0;
  double wall = WallSeconds();
  double cpu = ThreadCpuSeconds();
  for (const HtmlFile& page : corpus.pages) links += parser->Parse(page);
  best->cpu_s = std::min(best->cpu_s, ThreadCpuSeconds() - cpu);
  best->wall_s = std::min(best->wall_s, WallSeconds() - wall);
  best->links = links;
}

void Print(const HtmlCorpus& corpus, std::string_view name,
           const Measured& measured, bool json, std::ostream& out) {
  double megabytes = static_cast<double>(corpus.bytes) / 1e6;
  double rate = megabytes / measured.cpu_s;
  if (!json) {
    out << fmt::format("{:<13} {:7.0f} MB/s (by the wall {:5.0f})  {} links\n",
                       name, rate, megabytes / measured.wall_s, measured.links);
    return;
  }
  nlohmann::ordered_json line;
  line["bench"] = "links";
  line["source"] = corpus.source;
  line["pages"] = corpus.pages.size();
  line["bytes"] = corpus.bytes;
  line["parser"] = name;
  line["mb_per_s"] = rate;
  line["mb_per_s_wall"] = megabytes / measured.wall_s;
  line["links"] = measured.links;
  out << line.dump() << '\n';
}

}  // namespace

Status RunBenchLinks(const cli::Setup& setup, const BenchLinksOptions& options,
                     std::ostream& out) {
  if (options.compare) return CompareLinks(options.corpus, options.json, out);
  NEPHILA_TRY(HtmlCorpus corpus, LoadHtml(options.corpus, options.all));
  if (!options.json) {
    out << fmt::format("{} pages of {}, {:.1f} MB\n", corpus.pages.size(),
                       corpus.source, static_cast<double>(corpus.bytes) / 1e6);
  }
  auto parsers = MakeLinkParsers(setup);
  std::vector<Measured> best(parsers.size());
  for (int pass = 0; pass < options.passes; ++pass) {
    for (size_t i = 0; i < parsers.size(); ++i) {
      bool is_ours = parsers[i]->name().starts_with("nephila");
      if (is_ours || pass % 3 == 0) {
        RunPass(corpus, parsers[i].get(), &best[i]);
      }
    }
  }
  for (size_t i = 0; i < parsers.size(); ++i) {
    Print(corpus, parsers[i]->name(), best[i], options.json, out);
  }
  return {};
}

}  // namespace nephila::bench
