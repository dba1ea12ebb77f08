#include "report/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "report/html_text.h"
#include "report/words.h"

namespace nephila::report {
namespace {

// Of the SVG, which has no size of its own.
constexpr double kSide = 1000;
// About as many lines of an axis.
constexpr double kLines = 5;
constexpr double kMinute = 60;
constexpr double kHour = 60 * kMinute;
constexpr double kDay = 24 * kHour;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// The place of a value, from 0 to 1.
class Scale {
 public:
  Scale(Axis axis, double low, double high)
      : is_log_(axis == Axis::kLog), low_(At(low)), span_(At(high) - low_) {}
  double Place(double value) const {
    if (span_ <= 0) return 0.5;
    return std::clamp((At(value) - low_) / span_, 0.0, 1.0);
  }

 private:
  double At(double value) const { return is_log_ ? std::log10(value) : value; }

  const bool is_log_;
  const double low_;
  const double span_;
};

struct Frame {
  Scale x;
  Scale y;
  std::vector<double> x_ticks;
  std::vector<double> y_ticks;
};

bool CanBeShown(const Plot& plot, const PlotPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) &&
         (plot.x != Axis::kLog || point.x > 0) &&
         (plot.y != Axis::kLog || point.y > 0);
}

std::vector<double> Ticks(Axis axis, const Range& range) {
  switch (axis) {
    case Axis::kLog:
      return LogTicks(range.low, range.high);
    case Axis::kTime:
      return TimeTicks(range.high);
    case Axis::kLinear:
      break;
  }
  return LinearTicks(std::min(0.0, range.low), range.high);
}

// Lines go up and down with the SVG, so their steps are whole.
std::string Place(double x, double y) {
  return fmt::format("{:.1f} {:.1f}", x * kSide, (1 - y) * kSide);
}

std::vector<PlotPoint> Thinned(const Plot& plot, const Series& series) {
  std::vector<PlotPoint> points;
  const size_t step = series.points.size() / kMostPoints + 1;
  bool gap = true;
  for (size_t i = 0; i < series.points.size(); ++i) {
    const PlotPoint& point = series.points[i];
    gap = gap || point.gap || !CanBeShown(plot, point);
    const bool is_kept = gap || i % step == 0 || i + 1 == series.points.size();
    if (!is_kept || !CanBeShown(plot, point)) continue;
    points.push_back({point.x, point.y, gap});
    gap = false;
  }
  return points;
}

void AddSeries(const Plot& plot, const Frame& frame, const Series& series,
               std::string* svg) {
  const char* const color = series.is_second ? "second" : "first";
  std::string line;
  std::string dots;
  std::string area;
  double begin = 0;
  double last = 0;
  const auto close_area = [&] {
    if (area.empty()) return;
    *svg += fmt::format("<path class=\"area\" d=\"{}L{}L{}Z\"/>", area,
                        Place(last, 0), Place(begin, 0));
    area.clear();
  };
  for (const PlotPoint& point : Thinned(plot, series)) {
    const double x = frame.x.Place(point.x);
    const std::string place = Place(x, frame.y.Place(point.y));
    if (point.gap) {
      if (series.has_area) close_area();
      begin = x;
    }
    line += (point.gap ? "M" : "L") + place;
    if (series.has_area) area += (point.gap ? "M" : "L") + place;
    // A line without length has round ends, whatever the SVG is stretched to.
    if (series.has_dots) dots += "M" + place + "h0.01";
    last = x;
  }
  close_area();
  *svg += fmt::format("<path class=\"line {}\" d=\"{}\"/>", color, line);
  if (!dots.empty()) {
    *svg += fmt::format("<path class=\"dots {}\" d=\"{}\"/>", color, dots);
  }
}

std::string GridOf(const Frame& frame) {
  std::string path;
  for (const double tick : frame.y_ticks) {
    path += "M" + Place(0, frame.y.Place(tick)) + "H1000";
  }
  return fmt::format("<path class=\"grid\" d=\"{}\"/>", path);
}

std::string StopsOf(const Plot& plot, const Frame& frame) {
  std::string path;
  for (const double stop : plot.stops) {
    path += "M" + Place(frame.x.Place(stop), 0) + "V0";
  }
  if (path.empty()) return path;
  return fmt::format("<path class=\"stop\" d=\"{}\"/>", path);
}

std::string LabelsOf(const Plot& plot, const Frame& frame) {
  std::string html;
  for (const double tick : frame.y_ticks) {
    html += fmt::format(
        "<span class=\"y\" style=\"bottom:{:.2f}%\">{}</span>",
        100 * frame.y.Place(tick),
        HtmlText(plot.y_text ? plot.y_text(tick) : ShortNumber(tick)));
  }
  for (size_t i = 0; i < frame.x_ticks.size(); ++i) {
    const double tick = frame.x_ticks[i];
    // Every second one is left out where there is no room.
    html += fmt::format(
        "<span class=\"x{}\" style=\"left:{:.2f}%\">{}</span>",
        i % 2 == 1 ? " odd" : "", 100 * frame.x.Place(tick),
        HtmlText(plot.x == Axis::kTime ? ShortTime(tick) : ShortNumber(tick)));
  }
  return html;
}

std::string LegendOf(const Plot& plot) {
  std::string html;
  for (const Series& series : plot.series) {
    if (series.name.empty() || series.points.empty()) continue;
    html += fmt::format("<span class=\"key {}\">{}</span>",
                        series.is_second ? "second" : "first",
                        HtmlText(series.name));
  }
  return html.empty() ? html : "<div class=\"legend\">" + html + "</div>";
}

}  // namespace

std::vector<double> LinearTicks(double low, double high) {
  if (!(high > low)) high = low + 1;
  const double rough = (high - low) / kLines;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const auto first = static_cast<int64_t>(std::floor(low / step));
  const auto last = static_cast<int64_t>(std::ceil(high / step - 1e-9));
  for (int64_t i = first; i <= last; ++i) {
    ticks.push_back(static_cast<double>(i) * step);
  }
  return ticks;
}

std::vector<double> TimeTicks(double high) {
  constexpr double kSteps[] = {0.1,
                               0.2,
                               0.5,
                               1,
                               2,
                               5,
                               10,
                               15,
                               30,
                               kMinute,
                               2 * kMinute,
                               5 * kMinute,
                               10 * kMinute,
                               15 * kMinute,
                               30 * kMinute,
                               kHour,
                               2 * kHour,
                               3 * kHour,
                               6 * kHour,
                               12 * kHour,
                               kDay,
                               2 * kDay,
                               5 * kDay,
                               10 * kDay,
                               20 * kDay,
                               50 * kDay,
                               100 * kDay};
  const auto* const step =
      std::ranges::lower_bound(kSteps, high / (kLines + 1));
  const double used = step == std::end(kSteps) ? high / kLines : *step;
  std::vector<double> ticks;
  for (int i = 0; i * used <= high * (1 + 1e-9); ++i) ticks.push_back(i * used);
  return ticks;
}

std::vector<double> LogTicks(double low, double high) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  if (last <= first) last = first + 1;
  std::vector<double> ticks;
  constexpr int kMostFine = 4;  // decades with lines in between
  if (last - first <= kMostFine) {
    for (int i = first; i <= last; ++i) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        ticks.push_back(factor * std::pow(10, i));
      }
    }
    while (ticks.size() > 2 && ticks[1] <= low) ticks.erase(ticks.begin());
    while (ticks.size() > 2 && ticks[ticks.size() - 2] >= high) {
      ticks.pop_back();
    }
    return ticks;
  }
  const int step = (last - first) / 8 + 1;
  for (int i = first; i < last + step; i += step) {
    ticks.push_back(std::pow(10, i));
  }
  return ticks;
}

std::string PlotHtml(const Plot& plot) {
  Range x_range;
  Range y_range;
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      if (!CanBeShown(plot, point)) continue;
      x_range.Add(point.x);
      y_range.Add(point.y);
    }
  }
  if (x_range.low > x_range.high) return "";
  std::vector<double> x_ticks = Ticks(plot.x, x_range);
  std::vector<double> y_ticks = Ticks(plot.y, y_range);
  // A time ends where it ends; all else at a line.
  const double x_high = plot.x == Axis::kTime ? x_range.high : x_ticks.back();
  const Frame frame{Scale(plot.x, x_ticks.front(), x_high),
                    Scale(plot.y, y_ticks.front(), y_ticks.back()),
                    std::move(x_ticks), std::move(y_ticks)};
  std::string svg = GridOf(frame) + StopsOf(plot, frame);
  for (const Series& series : plot.series) {
    AddSeries(plot, frame, series, &svg);
  }
  return fmt::format(
      "<figure><h3>{0}</h3>{1}<div class=\"plot\"><svg "
      "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 1000\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}\">{2}</svg>"
      "{3}</div><figcaption>{4}</figcaption></figure>\n",
      HtmlText(plot.title), LegendOf(plot), svg, LabelsOf(plot, frame),
      HtmlText(plot.note));
}

}  // namespace nephila::report
