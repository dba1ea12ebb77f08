#include "cli/status_text.h"

#include <fmt/core.h>

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

#include "base/text.h"
#include "control/limit.h"

namespace nephila::cli {
namespace {

using Json = nlohmann::ordered_json;
using control::Grouped;

// What a damaged or older manifest has in place of a number is none.
double Number(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}
std::string Count(const Json& json, const char* name) {
  const double number = Number(json, name);
  return number < 0 ? "-" + Grouped(static_cast<uint64_t>(-number))
                    : Grouped(static_cast<uint64_t>(number));
}
std::string Size(const Json& json, const char* name) {
  return HumanSize(static_cast<uint64_t>(Number(json, name)));
}
std::string Text(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string()
             ? EscapeForTerminal(found->get<std::string>())
             : "";
}
std::string Length(double seconds) {
  return HumanDuration(
      std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9)));
}

class Printer {
 public:
  explicit Printer(std::ostream& out) : out_(out) {}

  void Line(std::string_view name, const std::string& text) {
    out_ << fmt::format("{:<12} {}\n", name, text);
  }
  // "name count, name count".
  void Counts(std::string_view name, const Json& counts) {
    std::string text;
    for (const auto& [key, value] : counts.items()) {
      if (!value.is_number()) continue;
      if (!text.empty()) text += ", ";
      text += fmt::format("{} {}", EscapeForTerminal(key),
                          Grouped(value.get<uint64_t>()));
    }
    if (!text.empty()) Line(name, text);
  }
  void Stages(const Json& stages) {
    out_ << fmt::format("\n{:<12}{:>14}{:>14}{:>14}{:>12}  {}\n", "stage", "in",
                        "made", "out", "held", "dropped");
    for (const auto& [name, stage] : stages.items()) {
      if (!stage.is_object()) continue;
      std::string dropped;
      const auto reasons = stage.find("dropped");
      if (reasons != stage.end() && reasons->is_object()) {
        for (const auto& [reason, count] : reasons->items()) {
          if (!count.is_number()) continue;
          dropped += fmt::format("{}{} {}", dropped.empty() ? "" : ", ",
                                 EscapeForTerminal(reason),
                                 Grouped(count.get<uint64_t>()));
        }
      }
      out_ << fmt::format("{:<12}{:>14}{:>14}{:>14}{:>12}  {}\n",
                          EscapeForTerminal(name), Count(stage, "in"),
                          Count(stage, "made"), Count(stage, "out"),
                          Count(stage, "held"), dropped);
    }
  }

 private:
  std::ostream& out_;
};

void PrintState(const Json& status, Printer* printer) {
  std::string state = Text(status, "state");
  const std::string end = Text(status, "end");
  if (state == "stopped") {
    if (end.empty()) {
      state += ", not at its end: the next run goes on";
    } else if (end != state) {
      state += " (" + end + ")";
    }
  }
  printer->Line("state", state);
  if (const std::string limit = Text(status, "limit"); !limit.empty()) {
    printer->Line("limit", limit);
  }
  if (const std::string disk = Text(status, "disk"); !disk.empty()) {
    printer->Line("", disk);
  }
}

void PrintPages(const Json& status, Printer* printer) {
  printer->Line("pages",
                fmt::format("{}, {}; {} URLs failed, {} retries, {} robots.txt",
                            Count(status, "pages"), Size(status, "bytes"),
                            Count(status, "failed"), Count(status, "retries"),
                            Count(status, "robots")));
  const auto rates = status.find("rates");
  if (rates != status.end() && rates->is_object()) {
    const Json& bytes = status.value("byte_rates", Json::object());
    printer->Line(
        "rate",
        fmt::format("{:.1f} pages/s, {}/s now; {:.1f} in the last minute; "
                    "{:.1f} over {}",
                    Number(*rates, "now"), Size(bytes, "now"),
                    Number(*rates, "minute"), Number(*rates, "run"),
                    Length(Number(status, "elapsed"))));
  } else {
    printer->Line("rate",
                  fmt::format("{:.1f} pages/s over {}", Number(status, "rate"),
                              Length(Number(status, "elapsed"))));
  }
  printer->Line("URLs",
                fmt::format("{} seen, {} wait, {} ready, {} parked",
                            Count(status, "seen"), Count(status, "waiting"),
                            Count(status, "ready"), Count(status, "parked")));
}

void PrintHosts(const Json& status, Printer* printer) {
  const auto hosts = status.find("hosts");
  if (hosts == status.end() || !hosts->is_object()) return;
  const Json& transfers = status.value("transfers", Json::object());
  printer->Line(
      "transfers",
      fmt::format("{} of {} in flight; {} names wait",
                  Count(transfers, "in_flight"), Count(transfers, "most"),
                  Count(status.value("names", Json::object()), "resolving")));
  printer->Line(
      "hosts",
      fmt::format("{} in memory: {} ready, {} wait for their delay, {} in "
                  "flight, {} idle; {} parked, {} dead",
                  Count(*hosts, "in_memory"), Count(*hosts, "ready"),
                  Count(*hosts, "waiting"), Count(*hosts, "in_flight"),
                  Count(*hosts, "idle"), Count(*hosts, "parked"),
                  Count(*hosts, "dead")));
  const Json& robots = status.value("robots_queues", Json::object());
  printer->Line(
      "robots.txt",
      fmt::format("{} URLs checked, {} wait for one; {} queued, {} "
                  "asked for",
                  Count(robots, "checking"), Count(robots, "waiting"),
                  Count(robots, "queued"), Count(robots, "requested")));
}

void PrintMachine(const Json& status, Printer* printer) {
  const auto budget = status.find("budget");
  if (budget != status.end() && budget->is_object()) {
    printer->Line(
        "budget",
        fmt::format("queue {} of {}, {} splits; {} URLs in queues, {} in Q_F, "
                    "{} wait for a pass",
                    Count(*budget, "current"), Count(*budget, "queues"),
                    Count(*budget, "splits"), Count(*budget, "in_queues"),
                    Count(*budget, "in_qf"), Count(*budget, "in_pass")));
  }
  const auto memory = status.find("memory");
  if (memory != status.end() && memory->is_object()) {
    printer->Line("memory", fmt::format("{} of {}", Size(*memory, "resident"),
                                        Size(*memory, "most")));
  }
  const auto disk = status.find("disk_space");
  if (disk != status.end() && disk->is_object()) {
    printer->Line("disk",
                  fmt::format("{} used, {} free, floor {}", Size(*disk, "used"),
                              Size(*disk, "free"), Size(*disk, "floor")));
  }
  const auto checkpoint = status.find("checkpoint");
  if (checkpoint != status.end() && checkpoint->is_object()) {
    std::string text = "number " + Count(*checkpoint, "number");
    if (const auto age = checkpoint->find("age");
        age != checkpoint->end() && age->is_number()) {
      text += ", " + Length(age->get<double>()) + " ago";
    }
    printer->Line("checkpoint", text);
  }
}

}  // namespace

void PrintStatus(const Json& status, std::ostream& out) {
  Printer printer(out);
  PrintState(status, &printer);
  PrintPages(status, &printer);
  PrintHosts(status, &printer);
  PrintMachine(status, &printer);
  for (const char* group : {"outcomes", "statuses"}) {
    const auto found = status.find(group);
    if (found == status.end() || !found->is_object()) continue;
    printer.Counts(group, *found);
  }
  const auto settings = status.find("settings");
  if (settings != status.end() && settings->is_object()) {
    for (const auto& [name, value] : settings->items()) {
      printer.Line(
          "set", EscapeForTerminal(name + " = " +
                                   (value.is_string() ? value.get<std::string>()
                                                      : value.dump())));
    }
  }
  const auto stages = status.find("stages");
  if (stages != status.end() && stages->is_object()) printer.Stages(*stages);
}

}  // namespace nephila::cli
