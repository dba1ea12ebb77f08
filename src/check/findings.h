// Findings: what a check has found so far, part by part: a line for each part,
// the damages (at most so many of them with their words, all of them counted),
// and notes: what is odd and no damage, such as a file that a crash left and
// the next start removes.
//   In: damages and notes as they come up.   Out: a CheckReport.
//   Threads: one.   Memory: `most` damages and as many notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/damage.h"

namespace nephila::check {

struct CheckReport {
  struct Part {
    std::string name;
    std::string text;  // "3 runs, 1204331 keys, 5.2MiB"
    uint64_t damages = 0;
  };
  std::vector<Part> parts;
  // The first ones; paths are relative to the job.
  std::vector<Damage> damages;
  uint64_t damage_count = 0;
  std::vector<Damage> notes;
  uint64_t note_count = 0;

  bool sound() const { return damage_count == 0; }
};

class Findings {
 public:
  // Paths are shown without `dir`.
  Findings(std::string dir, size_t most) : dir_(std::move(dir)), most_(most) {}

  void Report(Damage damage) {
    ++report_.damage_count;
    Keep(std::move(damage), &report_.damages);
  }
  void Report(std::string file, std::optional<uint64_t> offset,
              std::string what) {
    Report({std::move(file), offset, std::move(what)});
  }
  void Note(std::string file, std::optional<uint64_t> offset,
            std::string what) {
    ++report_.note_count;
    Keep({std::move(file), offset, std::move(what)}, &report_.notes);
  }
  // Ends a part: all damages since the one before are its own, but for those
  // of the next part.
  void EndPart(std::string name, std::string text, uint64_t of_next = 0) {
    const uint64_t own = report_.damage_count - counted_ - of_next;
    report_.parts.push_back({std::move(name), std::move(text), own});
    counted_ += own;
  }
  DamageSink sink() {
    return [this](Damage damage) { Report(std::move(damage)); };
  }
  uint64_t damages() const { return report_.damage_count; }
  CheckReport Take() { return std::move(report_); }

 private:
  void Keep(Damage damage, std::vector<Damage>* into) {
    if (into->size() >= most_) return;
    damage.file = WithoutDir(damage.file);
    // The readers' own words have the whole path.
    for (size_t at = damage.what.find(dir_ + "/"); at != std::string::npos;
         at = damage.what.find(dir_ + "/", at)) {
      damage.what.erase(at, dir_.size() + 1);
    }
    into->push_back(std::move(damage));
  }
  std::string WithoutDir(const std::string& path) const {
    return path.starts_with(dir_ + "/") ? path.substr(dir_.size() + 1) : path;
  }

  const std::string dir_;
  const size_t most_;
  CheckReport report_;
  uint64_t counted_ = 0;
};

}  // namespace nephila::check
