// LoadRobots and GenerateRobots of bench_robots.h.

#include <fmt/core.h>

#include "base/random.h"
#include "bench/bench_robots.h"
#include "bench/corpus.h"
#include "bench/tar.h"

namespace nephila::bench {

Result<RobotsCorpus> LoadRobots(const std::string& folder) {
  NEPHILA_TRY(std::string path,
              FindInCorpus(folder, "robots", "robots-txt.tar.zst"));
  if (path.empty()) return GenerateRobots(500, 1);
  NEPHILA_TRY(std::string tar, ReadMaybeCompressed(path));
  RobotsCorpus corpus;
  corpus.source = "robots-txt.tar.zst";
  NEPHILA_RETURN_IF_ERROR(ForEachTarFile(
      tar, [&corpus](std::string_view /*name*/, std::string_view body) {
        corpus.files.emplace_back(body);
      }));
  return corpus;
}

RobotsCorpus GenerateRobots(size_t count, uint64_t seed) {
  Random random(seed);
  RobotsCorpus corpus;
  corpus.source = "generated";
  corpus.files.reserve(count);
  auto word = [&random] { return fmt::format("w{:x}", random.Below(4096)); };
  for (size_t i = 0; i < count; ++i) {
    std::string text = "# made up\nUser-agent: *\n";
    for (uint64_t rules = random.Below(100); rules > 0; --rules) {
      text += random.Chance(0.1) ? "Allow: /" : "Disallow: /";
      text += random.Chance(0.15) ? fmt::format("*{}", word()) : word();
      for (uint64_t depth = random.Below(3); depth > 0; --depth) {
        text.append("/").append(word());
      }
      text += random.Chance(0.05) ? "$\n" : "\n";
    }
    if (random.Chance(0.3)) text += "Crawl-delay: 10\n";
    if (random.Chance(0.5)) text += "Sitemap: https://a.example/sitemap.xml\n";
    corpus.files.push_back(std::move(text));
  }
  return corpus;
}

}  // namespace nephila::bench
