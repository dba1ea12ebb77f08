#include "bench/bench_sim.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "base/cpu_time.h"
#include "sim/web.h"

namespace nephila::bench {
namespace {

constexpr int kPages = 200;

std::vector<sim::PageId> DrawPages(const sim::Web& web) {
  sim::Draw draw(5);
  std::vector<sim::PageId> pages;
  pages.reserve(kPages);
  for (int i = 0; i < kPages; ++i) {
    const uint64_t pld = draw.Below(web.pld_count());
    const sim::HostId host{pld, draw.Below(web.HostsOf(pld))};
    pages.push_back({host, draw.Below(web.PagesOf(host))});
  }
  return pages;
}

uint64_t MakePages(const sim::Web& web, const std::vector<sim::PageId>& pages,
                   std::string* buffer) {
  uint64_t bytes = 0;
  for (const sim::PageId& page : pages) {
    buffer->clear();
    web.AppendPage(page, "", buffer);
    bytes += buffer->size();
  }
  return bytes;
}

}  // namespace

Status RunBenchSim(const BenchSimOptions& options, std::ostream& out) {
  sim::Shape shape;
  shape.hosts = 1'000'000;
  NEPHILA_TRY(const sim::Web web, sim::Web::Make(shape));
  const std::vector<sim::PageId> pages = DrawPages(web);
  std::string buffer;
  uint64_t bytes = MakePages(web, pages, &buffer);  // to warm up
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < options.passes; ++i) {
    const double begin = ThreadCpuSeconds();
    bytes = MakePages(web, pages, &buffer);
    best = std::min(best, (ThreadCpuSeconds() - begin) * 1e6 / kPages);
  }
  const double bytes_per_page = static_cast<double>(bytes) / kPages;
  if (options.json) {
    nlohmann::ordered_json line;
    line["bench"] = "sim";
    line["passes"] = options.passes;
    line["us_per_page"] = best;
    line["bytes_per_page"] = bytes_per_page;
    out << line.dump() << '\n';
  } else {
    out << fmt::format("{:.1f} us a page of {:.0f} bytes\n", best,
                       bytes_per_page);
  }
  return {};
}

}  // namespace nephila::bench
