#include "report/over_time.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/words.h"

namespace nephila::report {
namespace {

double Span(const Figures& figures) {
  return figures.history.empty() ? 0 : figures.history.back().elapsed_s;
}

// Between two points of a run the time is crawled; from one run to the next
// nothing is.
std::vector<double> StopsOf(const Figures& figures) {
  std::vector<double> stops;
  for (size_t i = 1; i < figures.history.size(); ++i) {
    if (figures.history[i].run != figures.history[i - 1].run) {
      stops.push_back(figures.history[i].elapsed_s);
    }
  }
  return stops;
}

// How fast a counter grows: its means over parts of the time. A part has at
// least two records of one run.
std::vector<PlotPoint> RatesOf(const Figures& figures,
                               uint64_t TimePoint::*counter) {
  std::vector<PlotPoint> points;
  const double least = Span(figures) / kRateBins;
  const TimePoint* from = nullptr;
  bool gap = true;
  for (const TimePoint& point : figures.history) {
    if (from == nullptr || from->run != point.run) {
      from = &point;
      gap = true;
      continue;
    }
    const double span = point.elapsed_s - from->elapsed_s;
    if (span <= 0 || span < least) continue;
    // Counters go back a little when a crash was in between.
    const uint64_t before = std::min(from->*counter, point.*counter);
    const double rate = static_cast<double>(point.*counter - before) / span;
    points.push_back({from->elapsed_s + span / 2, rate, gap});
    from = &point;
    gap = false;
  }
  return points;
}

std::vector<PlotPoint> ValuesOf(const Figures& figures,
                                uint64_t TimePoint::*counter) {
  std::vector<PlotPoint> points;
  uint64_t run = 0;
  for (const TimePoint& point : figures.history) {
    points.push_back({point.elapsed_s, static_cast<double>(point.*counter),
                      point.run != run});
    run = point.run;
  }
  return points;
}

Plot TimePlot(const Figures& figures, std::string title, std::string note) {
  Plot plot;
  plot.title = std::move(title);
  plot.note = std::move(note);
  plot.x = Axis::kTime;
  plot.stops = StopsOf(figures);
  return plot;
}

}  // namespace

Plot RatePlot(const Figures& figures) {
  std::string note = "Over the time of crawling";
  const double part = Span(figures) / kRateBins;
  if (part >= 1) note += ", means of " + ShortTime(part);
  Plot plot = TimePlot(figures, "Download rate, pages a second", note + ".");
  Series series;
  series.has_area = true;
  series.points = RatesOf(figures, &TimePoint::pages);
  plot.series.push_back(std::move(series));
  return plot;
}

Plot BytesPlot(const Figures& figures) {
  Plot plot = TimePlot(figures, "Bandwidth, Mbit/s",
                       "Of the bodies of pages, as transferred.");
  Series series;
  series.points = RatesOf(figures, &TimePoint::bytes);
  constexpr double kMegabit = 1e6 / 8;
  for (PlotPoint& point : series.points) point.y /= kMegabit;
  plot.series.push_back(std::move(series));
  return plot;
}

Plot UniquePlot(const Figures& figures) {
  Plot plot = TimePlot(
      figures, "Share of links that are new",
      "Of the links that were looked up, those to URLs that were not known.");
  plot.y_text = [](double share) { return fmt::format("{:.0f} %", share); };
  Series now;
  now.name = "of late";
  now.is_second = true;
  Series all;
  all.name = "since the beginning";
  // What is new comes in batches.
  const double least = Span(figures) / kShareBins;
  const TimePoint* from = nullptr;
  uint64_t run = 0;
  bool is_new_run = true;
  const auto share = [](uint64_t unique, uint64_t links) {
    return 100 * static_cast<double>(unique) / static_cast<double>(links);
  };
  for (const TimePoint& point : figures.history) {
    const bool gap = point.run != run;
    if (point.links > 0) {
      all.points.push_back(
          {point.elapsed_s, share(point.unique, point.links), gap});
      run = point.run;
    }
    if (from == nullptr || from->run != point.run) {
      from = &point;
      is_new_run = true;
      continue;
    }
    if (point.elapsed_s - from->elapsed_s < least ||
        point.links <= from->links || point.unique < from->unique) {
      continue;
    }
    now.points.push_back(
        {(point.elapsed_s + from->elapsed_s) / 2,
         share(point.unique - from->unique, point.links - from->links),
         is_new_run});
    from = &point;
    is_new_run = false;
  }
  plot.series.push_back(std::move(now));
  plot.series.push_back(std::move(all));
  return plot;
}

Plot WaitingPlot(const Figures& figures) {
  Plot plot = TimePlot(figures, "URLs that wait",
                       "In all stages together, in memory and on disk.");
  Series series;
  series.has_area = true;
  series.points = ValuesOf(figures, &TimePoint::waiting);
  plot.series.push_back(std::move(series));
  return plot;
}

Plot MemoryPlot(const Figures& figures) {
  Plot plot =
      TimePlot(figures, "Memory, MiB", "Resident memory of the process.");
  Series series;
  series.points = ValuesOf(figures, &TimePoint::memory_bytes);
  constexpr double kMiB = 1 << 20;
  for (PlotPoint& point : series.points) point.y /= kMiB;
  std::erase_if(series.points, [](const PlotPoint& one) { return one.y == 0; });
  plot.series.push_back(std::move(series));
  return plot;
}

Plot DegreePlot(const Figures& figures) {
  Plot plot;
  plot.title = "Pages of a domain by its in-degree";
  plot.note =
      "In-degree from left to right, mean pages from bottom to top, both "
      "logarithmic; a point is for a doubling of the in-degree. Budgets work "
      "if the line rises.";
  plot.x = Axis::kLog;
  plot.y = Axis::kLog;
  Series visited;
  visited.name = "domains with a page";
  visited.has_dots = true;
  Series known;
  known.name = "all known domains";
  known.is_second = true;
  known.has_dots = true;
  for (const DegreeBin& bin : figures.degrees) {
    if (bin.from == 0) continue;
    // Most domains of a bin are at its lower end.
    const auto x = static_cast<double>(bin.from);
    visited.points.push_back({x, bin.VisitedMean(), false});
    known.points.push_back({x, bin.Mean(), false});
  }
  plot.series.push_back(std::move(known));
  plot.series.push_back(std::move(visited));
  return plot;
}

}  // namespace nephila::report
