#include "report/figures.h"

#include <algorithm>

namespace nephila::report {
namespace {

double Ratio(uint64_t count, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
}

}  // namespace

double DegreeBin::Mean() const { return Ratio(pages, domains); }
double DegreeBin::VisitedMean() const { return Ratio(pages, visited); }

double Figures::PagesPerSecond() const {
  if (elapsed_s > 0 && status) {
    return static_cast<double>(status->pages) / elapsed_s;
  }
  return status ? status->rate() : 0;
}

uint64_t Figures::LinksFound() const {
  if (!status) return 0;
  const auto parse = std::ranges::find(status->stages, "parse",
                                       &crawl::CrawlStatus::Stage::name);
  return parse == status->stages.end() ? 0 : parse->totals.made;
}

}  // namespace nephila::report
