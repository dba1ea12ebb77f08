#include "report/log_figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "store/line_file.h"

namespace nephila::report {
namespace {

constexpr size_t kMostLine = size_t{1} << 20;
constexpr int kNameFound = 1;
constexpr int kOk = 200;
constexpr size_t kMostHops = 50;
constexpr std::string_view kRobotsHop = "P";

uint64_t ReadNumber(std::string_view digits) {
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::vector<NamedCount> ByCount(
    const std::function<void(
        const std::function<void(const std::string&, uint64_t, uint64_t)>&)>&
        each) {
  std::vector<NamedCount> list;
  each([&](const std::string& name, uint64_t count, uint64_t bytes) {
    list.push_back({name, count, bytes});
  });
  std::ranges::sort(list, [](const NamedCount& a, const NamedCount& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  return list;
}

// Each whole line of a file, with its number, while `take` says so.
Status ForEachLine(
    FileSystem& fs, const std::string& path,
    const std::function<Result<bool>(std::string_view line, uint64_t number,
                                     bool is_last)>& take) {
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kRead));
  NEPHILA_TRY(const uint64_t size, file->Size());
  store::LineReader reader(*file, kMostLine);
  std::string line;
  uint64_t offset = 0;
  while (true) {
    NEPHILA_TRY(const bool more, reader.Next(&line));
    if (!more) return {};
    offset += line.size() + 1;
    NEPHILA_TRY(const bool go_on, take(line, reader.number(), offset >= size));
    if (!go_on) return {};
  }
}

}  // namespace

void SizeHistogram::Add(uint64_t number, uint64_t count) {
  size_t step = 0;
  if (number > 0) {
    const double place = std::log2(static_cast<double>(number)) * kSteps;
    step = std::min(static_cast<size_t>(place) + 1, counts_.size() - 1);
  }
  counts_[step] += count;
  count_ += count;
}

double SizeHistogram::Quantile(double share) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<uint64_t>(share * static_cast<double>(count_));
  uint64_t passed = 0;
  for (size_t step = 0; step < counts_.size(); ++step) {
    passed += counts_[step];
    if (passed <= rank) continue;
    if (step == 0) return 0;
    // Whole numbers: those of a step are from its first to before the next.
    const auto place = static_cast<double>(step);
    const double first = std::ceil(std::exp2((place - 1) / kSteps));
    const double last =
        std::max(first, std::ceil(std::exp2(place / kSteps)) - 1);
    return std::sqrt(first * last);
  }
  return 0;
}

Status LogFigures::Read(const std::string& path) {
  uint64_t bad = 0;
  uint64_t first_bad = 0;
  const auto take = [&](std::string_view text, uint64_t number,
                        bool is_last) -> Result<bool> {
    const auto line = store::ParseLogLine(text);
    if (!line) {
      if (!is_last && bad++ == 0) first_bad = number;
      return true;
    }
    ++lines_;
    NEPHILA_RETURN_IF_ERROR(TakeLine(*line));
    return true;
  };
  NEPHILA_RETURN_IF_ERROR(ForEachLine(fs_, path, take));
  if (bad > 0) {
    damages_.push_back(
        fmt::format("{}: {} lines are none of crawl.log and are left out, the "
                    "first is line {}",
                    path, bad, first_bad));
  }
  return {};
}

void LogFigures::AddTo(Counts* counts, std::string_view name, uint64_t bytes) {
  auto found = counts->find(name);
  if (found == counts->end()) {
    // Servers may make up as many as they like.
    const bool is_full = counts->size() >= kMostNames;
    found = counts->try_emplace(is_full ? "(others)" : std::string(name)).first;
  }
  ++found->second.count;
  found->second.bytes += bytes;
}

void LogFigures::TakeAnnotations(std::string_view annotations,
                                 std::string* outcome) {
  while (!annotations.empty() && annotations != "-") {
    const size_t comma = std::min(annotations.find(','), annotations.size());
    const std::string_view one = annotations.substr(0, comma);
    AddTo(&annotations_, one, 0);
    if (one.starts_with("duplicate:")) ++revisits_;
    // The outcome stands last.
    *outcome = one;
    annotations.remove_prefix(std::min(comma + 1, annotations.size()));
  }
}

Status LogFigures::TakeLine(const store::LogLine& line) {
  if (line.status == kNameFound) {
    ++names_;
    return {};
  }
  if (line.url.starts_with("dns:")) return {};
  if (line.hop_path == kRobotsHop) {
    std::string outcome = std::to_string(line.status);
    if (line.status <= 0 && line.notes != "-") {
      outcome = line.notes.substr(line.notes.rfind(',') + 1);
    }
    AddTo(&robots_, outcome, line.bytes.value_or(0));
    return {};
  }
  ++attempts_;
  std::string outcome = std::to_string(line.status);
  TakeAnnotations(line.notes, &outcome);
  Sums sums;
  if (line.status > 0) {
    TakePage(line);
    sums = {1, line.bytes.value_or(0), 0, ReadNumber(line.millis)};
  } else {
    AddTo(&failures_, outcome, 0);
    sums.failures = 1;
  }
  const auto url = canonicalizer_.Canonicalize(line.url, nullptr);
  if (!url.has_value()) return {};
  NEPHILA_RETURN_IF_ERROR(hosts_.Add(url->keys.host.value, sums));
  return domains_.Add(url->keys.pld.value, sums);
}

void LogFigures::TakePage(const store::LogLine& line) {
  const uint64_t bytes = line.bytes.value_or(0);
  ++pages_;
  page_bytes_ += bytes;
  AddTo(&statuses_, std::to_string(line.status), bytes);
  if (line.status == kOk) {
    AddTo(&media_types_, line.media_type, bytes);
    sizes_.Add(bytes);
  }
  millis_.Add(ReadNumber(line.millis));
  const size_t hops = line.hop_path == "-" ? 0 : line.hop_path.size();
  ++depths_[std::min(hops, kMostHops)];
  // A seed that is tried again is the same one.
  if (hops > 0 || store::AttemptOf(line) > 1) return;
  ++seed_count_;
  if (seeds_.size() < kMostSeeds) {
    seeds_.push_back(
        {std::string(line.url), static_cast<uint64_t>(line.status), bytes});
  }
}

uint64_t LogFigures::Annotated(std::string_view annotation) const {
  const auto found = annotations_.find(std::string(annotation));
  return found == annotations_.end() ? 0 : found->second.count;
}

void LogFigures::Fill(Figures* figures) const {
  const auto list = [](const Counts& counts) {
    return ByCount([&](const auto& add) {
      for (const auto& [name, one] : counts) add(name, one.count, one.bytes);
    });
  };
  figures->seeds = seeds_;
  figures->seed_count = seed_count_;
  figures->log_lines = lines_;
  figures->pages = pages_;
  figures->page_bytes = page_bytes_;
  figures->attempts = attempts_;
  figures->names_resolved = names_;
  figures->revisits = revisits_;
  constexpr double kMillis = 1000;
  figures->median_s = millis_.Quantile(0.5) / kMillis;
  figures->p95_s = millis_.Quantile(0.95) / kMillis;
  figures->median_bytes = static_cast<uint64_t>(sizes_.Quantile(0.5));
  figures->statuses = list(statuses_);
  figures->failures = list(failures_);
  figures->robots = list(robots_);
  figures->media_types = list(media_types_);
  figures->media_type_count = media_types_.size();
  for (size_t depth = 0; depth < depths_.size(); ++depth) {
    if (depths_[depth] == 0) continue;
    figures->depths.push_back({std::to_string(depth), depths_[depth], 0});
  }
  figures->damages.insert(figures->damages.end(), damages_.begin(),
                          damages_.end());
}

Result<std::vector<std::string>> LogFiles(FileSystem& fs,
                                          const std::string& archive) {
  std::vector<std::string> paths;
  NEPHILA_TRY(const auto entries, fs.List(archive));
  for (const DirEntry& entry : entries) {
    const std::string& name = entry.name;
    const bool is_log = name == "crawl.log" ||
                        (name.starts_with("crawl-") && name.ends_with(".log"));
    if (is_log && !entry.is_directory)
      paths.push_back(fmt::format("{}/{}", archive, name));
  }
  return paths;
}

Status FindNames(FileSystem& fs, const std::vector<std::string>& paths,
                 url::Canonicalizer& canonicalizer,
                 std::unordered_map<uint64_t, std::string>* hosts,
                 std::unordered_map<uint64_t, std::string>* domains) {
  size_t missing = hosts->size() + domains->size();
  const auto name = [&](std::unordered_map<uint64_t, std::string>* names,
                        uint64_t key, std::string_view text) {
    const auto found = names->find(key);
    if (found == names->end() || !found->second.empty()) return;
    found->second = text;
    --missing;
  };
  for (const std::string& path : paths) {
    if (missing == 0) break;
    Status read = ForEachLine(
        fs, path, [&](std::string_view text, uint64_t, bool) -> Result<bool> {
          const auto line = store::ParseLogLine(text);
          if (!line || line->status == kNameFound) return true;
          const auto url = canonicalizer.Canonicalize(line->url, nullptr);
          if (!url.has_value()) return true;
          name(hosts, url->keys.host.value, url->host);
          name(domains, url->keys.pld.value, url->pld);
          return missing > 0;
        });
    // What is damaged was said when its figures were read.
    if (!read && read.error().code != ErrorCode::kCorruption) return read;
  }
  return {};
}

}  // namespace nephila::report
