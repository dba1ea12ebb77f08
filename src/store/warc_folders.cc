// Which folder a WarcWriter writes to, when there are several.
#include <algorithm>
#include <utility>

#include "store/warc_writer.h"

namespace nephila::store {
namespace {

// So much more free than at a refusal is worth another try.
constexpr uint64_t kWorthATry = uint64_t{1} << 20;

}  // namespace

std::vector<std::string> WarcWriter::Folders(bool old_too) const {
  std::vector<std::string> folders = {options_.folder};
  folders.insert(folders.end(), options_.other_folders.begin(),
                 options_.other_folders.end());
  if (old_too) {
    folders.insert(folders.end(), options_.old_folders.begin(),
                   options_.old_folders.end());
  }
  return folders;
}

bool WarcWriter::HasRoom(const std::string& folder) const {
  // Within a folder the open file is the last.
  if (late_ && late_->place.folder == folder) return false;
  // A disk that cannot say what it has is not the one to go to.
  const uint64_t free = fs_.FreeSpace(folder).value_or(0);
  const auto refused = refused_.find(folder);
  if (refused != refused_.end() && free < refused->second + kWorthATry) {
    return false;
  }
  const uint64_t margin =
      options_.floor_bytes > 0 ? options_.margin_bytes : uint64_t{0};
  return free > 0 && free >= options_.floor_bytes + margin;
}

bool WarcWriter::HasRoomElsewhere() const {
  const std::vector<std::string> folders = Folders(/*old_too=*/false);
  return std::any_of(folders.begin(), folders.end(),
                     [this](const std::string& folder) {
                       return folder != folder_ && HasRoom(folder);
                     });
}

// The first with room; else the one that has the most, since what is in flight
// is still to be written.
void WarcWriter::ChooseFolder() {
  if (options_.other_folders.empty()) {
    folder_ = options_.folder;
    return;
  }
  uint64_t most = 0;
  std::string best = options_.folder;
  for (std::string& folder : Folders(/*old_too=*/false)) {
    if (HasRoom(folder)) {
      folder_ = std::move(folder);
      return;
    }
    const uint64_t free = fs_.FreeSpace(folder).value_or(0);
    if (free > most && !(late_ && late_->place.folder == folder)) {
      most = free;
      best = std::move(folder);
    }
  }
  folder_ = std::move(best);
}

void WarcWriter::NoteRefusal() {
  if (options_.other_folders.empty()) return;
  refused_[folder_] = fs_.FreeSpace(folder_).value_or(0);
}

void WarcWriter::NoteIfLow() {
  if (options_.other_folders.empty() || options_.floor_bytes == 0) return;
  is_low_ = fs_.FreeSpace(folder_).value_or(0) < options_.floor_bytes &&
            HasRoomElsewhere();
}

Status WarcWriter::Leave() {
  Status finished = FinishFile();
  // Its index has no room. There may be one such file; it was synced.
  if (finished || finished.error().code != ErrorCode::kNoSpace || late_) {
    return finished;
  }
  late_ = Late{{folder_, name_}, std::move(index_)};
  file_.reset();
  index_ = IndexBuilder();
  warcinfo_id_.clear();
  is_low_ = false;
  return {};
}

Status WarcWriter::FinishLate() {
  if (!late_) return {};
  NEPHILA_RETURN_IF_ERROR(Publish(late_->place, late_->index));
  late_.reset();
  return {};
}

}  // namespace nephila::store
