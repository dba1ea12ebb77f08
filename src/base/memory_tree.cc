#include "base/memory_tree.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace nephila {

MemoryTree::MemoryTree()
    : root_(directories_.emplace_back(std::make_unique<MemoryDirectory>())
                .get()) {}

Result<MemoryPlace> MemoryTree::Resolve(std::string_view action,
                                        const std::string& path) const {
  MemoryPlace place{{root_}, {}, nullptr};
  for (std::string_view rest = path; !rest.empty();) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") return FileError(action, path, EINVAL);
    if (!place.name.empty()) {
      if (place.entry == nullptr) return FileError(action, path, ENOENT);
      if (place.entry->dir == nullptr) return FileError(action, path, ENOTDIR);
      place.way.push_back(place.entry->dir);
    }
    place.name = part;
    const auto it = place.dir()->now.find(place.name);
    place.entry = it == place.dir()->now.end() ? nullptr : &it->second;
  }
  return place;
}

Result<MemoryDirectory*> MemoryTree::ResolveDir(std::string_view action,
                                                const std::string& path) const {
  NEPHILA_TRY(const MemoryPlace place, Resolve(action, path));
  if (place.name.empty()) return root_;
  if (place.entry == nullptr) return FileError(action, path, ENOENT);
  if (place.entry->dir == nullptr) return FileError(action, path, ENOTDIR);
  return place.entry->dir;
}

void MemoryTree::Link(const MemoryPlace& place, MemoryEntry entry) {
  Change change;
  change.to_dir = place.dir();
  change.to = place.name;
  change.entry = std::move(entry);
  change.touched = {place.dir()};
  Commit(std::move(change));
}

void MemoryTree::LinkNewDirectory(const MemoryPlace& place) {
  MemoryDirectory* const dir =
      directories_.emplace_back(std::make_unique<MemoryDirectory>()).get();
  Link(place, MemoryEntry{nullptr, dir});
}

void MemoryTree::Unlink(const MemoryPlace& place) {
  Change change;
  change.from_dir = place.dir();
  change.from = place.name;
  change.touched = {place.dir()};
  Commit(std::move(change));
}

void MemoryTree::Move(const MemoryPlace& from, const MemoryPlace& to) {
  Change change;
  change.from_dir = from.dir();
  change.from = from.name;
  change.to_dir = to.dir();
  change.to = to.name;
  change.entry = *from.entry;
  change.touched = {to.dir(), from.dir()};
  if (change.entry.dir != nullptr) {
    // What brought the directories above the new place there has to last
    // too, or two could end up within each other.
    change.touched.insert(change.touched.end(), to.way.begin(), to.way.end());
  }
  Commit(std::move(change));
}

void MemoryTree::Sync(MemoryDirectory* dir) {
  for (const Change& change : TakeChanges(dir)) MakeDurable(change);
}

void MemoryTree::FailSync(MemoryDirectory* dir) {
  diverged_ |= !TakeChanges(dir).empty();
}

void MemoryTree::LosePower(LossMode mode, Random& random) {
  ++restarts_;
  KeepEntries(mode, random);
  RestartFrom(*root_);
  std::erase_if(directories_, [restarts = restarts_](const auto& dir) {
    return dir->reached != restarts;
  });
  diverged_ = false;
}

void MemoryTree::ForEachFile(const FileVisitor& visit) const {
  for (const auto& dir : directories_) {
    for (const auto& [name, entry] : dir->now) {
      if (entry.file != nullptr) visit(*entry.file);
    }
  }
}

void MemoryTree::ForEachKnownFile(const FileVisitor& visit) const {
  ForEachFile(visit);
  for (const auto& dir : directories_) {
    for (const auto& [name, entry] : dir->durable) {
      if (entry.file != nullptr) visit(*entry.file);
    }
  }
  for (const Change& change : journal_) {
    if (change.entry.file != nullptr) visit(*change.entry.file);
  }
}

bool MemoryTree::Change::Touches(const std::set<MemoryDirectory*>& dirs) const {
  return std::any_of(
      touched.begin(), touched.end(),
      [&dirs](MemoryDirectory* dir) { return dirs.contains(dir); });
}

void MemoryTree::Play(const Change& change, State state) {
  if (change.from_dir != nullptr) (change.from_dir->*state).erase(change.from);
  if (change.to_dir != nullptr) {
    (change.to_dir->*state)[change.to] = change.entry;
  }
}

void MemoryTree::Commit(Change change) {
  Play(change, &MemoryDirectory::now);
  journal_.push_back(std::move(change));
}

void MemoryTree::MakeDurable(const Change& change) {
  // If a rename was lost before, its old name may still be on the disk; but
  // nothing is ever found in two places.
  if (diverged_ && change.to_dir != nullptr) {
    for (const auto& dir : directories_) {
      std::erase_if(dir->durable, [&change](const auto& named) {
        return named.second == change.entry;
      });
    }
  }
  Play(change, &MemoryDirectory::durable);
}

std::vector<MemoryTree::Change> MemoryTree::TakeChanges(MemoryDirectory* dir) {
  // Backwards, so that the directories a change depends on are known before
  // their own earlier changes come up.
  std::set<MemoryDirectory*> wanted = {dir};
  std::vector<bool> taken(journal_.size(), false);
  for (size_t i = journal_.size(); i-- > 0;) {
    if (!journal_[i].Touches(wanted)) continue;
    taken[i] = true;
    wanted.insert(journal_[i].touched.begin(), journal_[i].touched.end());
  }
  std::vector<Change> changes;
  std::vector<Change> rest;
  for (size_t i = 0; i < journal_.size(); ++i) {
    (taken[i] ? changes : rest).push_back(std::move(journal_[i]));
  }
  journal_ = std::move(rest);
  return changes;
}

void MemoryTree::KeepEntries(LossMode mode, Random& random) {
  std::map<MemoryDirectory*, uint64_t> changes;
  for (const Change& change : journal_) {
    for (MemoryDirectory* dir : change.touched) ++changes[dir];
  }
  // How many of its changes a directory keeps, drawn in the order of the
  // journal: that of the map is one of addresses, new in each run.
  std::map<MemoryDirectory*, uint64_t> left;
  std::set<MemoryDirectory*> ended;
  for (const Change& change : journal_) {
    bool lasts = mode == LossMode::kEverything;
    if (mode == LossMode::kTorn) {
      lasts = !change.Touches(ended);
      for (MemoryDirectory* dir : change.touched) {
        const auto [it, is_new] = left.try_emplace(dir, 0);
        if (is_new) it->second = random.Below(changes[dir] + 1);
        if (it->second == 0) lasts = false;
        if (it->second > 0) --it->second;
      }
    }
    if (lasts) {
      MakeDurable(change);
    } else {
      ended.insert(change.touched.begin(), change.touched.end());
    }
  }
  journal_.clear();
}

void MemoryTree::RestartFrom(MemoryDirectory& dir) {
  dir.reached = restarts_;
  dir.now = dir.durable;
  for (const auto& [name, entry] : dir.now) {
    if (entry.dir != nullptr) RestartFrom(*entry.dir);
  }
}

}  // namespace nephila
