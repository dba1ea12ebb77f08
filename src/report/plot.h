// Plot: lines and points over one axis, as HTML with an SVG inside.
//
// Lines are in the SVG, which is stretched to whatever room there is; words are
// HTML beside it, so they have the size of text on a phone too.
//   In: series of numbers; texts are escaped here.   Out: a <figure>.
//   Threads: any.   Cost: some 10 bytes a point; at most kMostPoints are drawn.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace nephila::report {

struct PlotPoint {
  double x = 0;
  double y = 0;
  bool gap = false;  // no line leads here
};

struct Series {
  std::string name;        // "": it is the only one
  bool is_second = false;  // of the two colours
  bool has_dots = false;
  bool has_area = false;  // below it
  std::vector<PlotPoint> points;
};

enum class Axis { kLinear, kTime, kLog };

struct Plot {
  std::string title;
  std::string note;  // what is on which axis, in a sentence
  Axis x = Axis::kLinear;
  Axis y = Axis::kLinear;
  std::function<std::string(double)> y_text;  // null: ShortNumber
  std::vector<Series> series;
  std::vector<double> stops;  // where a run ended and another began
};

// More are thinned.
inline constexpr size_t kMostPoints = 600;

// "" without a point to draw.
std::string PlotHtml(const Plot& plot);

// Values for the lines of an axis, from the first at or below `low` to the
// last at or above `high`.
std::vector<double> LinearTicks(double low, double high);
std::vector<double> TimeTicks(double high);
std::vector<double> LogTicks(double low, double high);

}  // namespace nephila::report
