#include "robots/rules_log.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/commit_file.h"
#include "base/hash.h"

namespace nephila::robots {
namespace {

constexpr std::string_view kPrefix = "rules-";
// One is forgotten at a time: an eighth of what is known.
constexpr uint64_t kFiles = 8;

uint64_t SaltOf(uint64_t key, uint64_t file, uint64_t offset) {
  std::string bytes;
  ByteWriter writer(bytes);
  writer.U64(file);
  writer.U64(offset);
  return KeyedHash(bytes, key);
}

}  // namespace

RulesLog::RulesLog(FileSystem& fs, std::string dir, uint64_t max_bytes)
    : fs_(fs),
      dir_(std::move(dir)),
      max_bytes_(std::max(max_bytes, kLeastBytes)) {}

std::string RulesLog::PathOf(uint64_t number) const {
  return fmt::format("{}/{}", dir_, CommitFileName(kPrefix, number));
}

std::unique_ptr<RulesLog> RulesLog::Create(FileSystem& fs,
                                           const std::string& dir,
                                           uint64_t max_bytes) {
  return std::unique_ptr<RulesLog>(new RulesLog(fs, dir, max_bytes));
}

Result<std::unique_ptr<RulesLog>> RulesLog::Open(FileSystem& fs,
                                                 const std::string& dir,
                                                 uint64_t max_bytes,
                                                 ByteReader& state) {
  auto log = Create(fs, dir, max_bytes);
  if (!log->ReadState(state)) {
    return Unexpected(Error{ErrorCode::kCorruption,
                            dir + ": the state of the log of rules is "
                                  "damaged"});
  }
  NEPHILA_RETURN_IF_ERROR(log->RemoveOthers());
  NEPHILA_RETURN_IF_ERROR(log->CutFiles());
  return log;
}

bool RulesLog::ReadState(ByteReader& state) {
  const auto generation = state.Varint();
  const auto next_file = state.Varint();
  const auto files = state.Varint();
  if (!generation.has_value() || !next_file.has_value() || !files.has_value() ||
      *files > *next_file) {
    return false;
  }
  generation_ = *generation;
  next_file_ = *next_file;
  for (uint64_t i = 0; i < *files; ++i) {
    const auto number = state.Varint();
    const auto end = state.Varint();
    if (!number.has_value() || !end.has_value() || *number >= next_file_) {
      return false;
    }
    files_[*number].end = *end;
  }
  const auto forgotten = state.Varint();
  if (!forgotten.has_value() || *forgotten > next_file_) return false;
  for (uint64_t i = 0; i < *forgotten; ++i) {
    const auto number = state.Varint();
    const auto last = state.Varint();
    if (!number.has_value() || !last.has_value()) return false;
    forgotten_.push_back({*number, *last});
  }
  return true;
}

// What commits that are void wrote. Forgotten files stay as long as an earlier
// commit may be asked for.
Status RulesLog::RemoveOthers() {
  std::set<std::string> keep;
  for (const auto& [number, file] : files_) {
    keep.insert(CommitFileName(kPrefix, number));
  }
  for (const Forgotten& file : forgotten_) {
    keep.insert(CommitFileName(kPrefix, file.number));
  }
  return RemoveOtherFiles(fs_, dir_, kPrefix, keep);
}

Status RulesLog::CutFiles() {
  for (auto& [number, file] : files_) {
    auto opened = fs_.Open(PathOf(number), OpenMode::kReadWrite);
    if (!opened.has_value()) {
      // Its rules are asked for again.
      if (opened.error().code == ErrorCode::kNotFound) continue;
      return Unexpected(std::move(opened).error());
    }
    file.file = *std::move(opened);
    NEPHILA_TRY(const uint64_t size, file.file->Size());
    if (size > file.end) {
      NEPHILA_RETURN_IF_ERROR(file.file->Truncate(file.end));
      file.dirty = true;
    }
  }
  return {};
}

Status RulesLog::BeginFile() {
  NEPHILA_TRY(std::shared_ptr<File> file,
              fs_.Open(PathOf(next_file_), OpenMode::kCreate));
  NEPHILA_RETURN_IF_ERROR(file->Truncate(0));
  LogFile& added = files_[next_file_];
  added.file = std::move(file);
  ++next_file_;
  names_changed_ = true;
  while (files_.size() > kFiles) {
    forgotten_.push_back({files_.begin()->first, generation_});
    files_.erase(files_.begin());
  }
  return {};
}

Result<RulesPlace> RulesLog::Append(uint64_t key, std::string_view rules) {
  if (files_.empty() || files_.rbegin()->second.file == nullptr ||
      files_.rbegin()->second.end >= max_bytes_ / kFiles) {
    NEPHILA_RETURN_IF_ERROR(BeginFile());
  }
  const uint64_t number = files_.rbegin()->first;
  LogFile& file = files_.rbegin()->second;
  std::string frame;
  AppendFrame(frame, rules, SaltOf(key, number, file.end));
  file.dirty = true;
  // What was written in part is written over by the next attempt.
  NEPHILA_RETURN_IF_ERROR(file.file->Write(
      file.end, std::as_bytes(std::span(frame.data(), frame.size()))));
  const RulesPlace place{number, file.end, rules.size()};
  file.end += frame.size();
  return place;
}

Result<std::string> RulesLog::Read(uint64_t key, const RulesPlace& place) {
  const auto found = files_.find(place.file);
  if (found == files_.end() || found->second.file == nullptr) {
    return Unexpected(
        Error{ErrorCode::kNotFound, PathOf(place.file) + ": forgotten"});
  }
  File& file = *found->second.file;
  const auto damaged = [&file, &place] {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              FilePlace("rules of", file.path(), place.offset) + ": damaged"});
  };
  if (place.offset > found->second.end ||
      place.size + kFrameHeaderBytes > found->second.end - place.offset) {
    return damaged();
  }
  std::string frame(place.size + kFrameHeaderBytes, '\0');
  NEPHILA_RETURN_IF_ERROR(file.ReadExact(
      place.offset,
      std::as_writable_bytes(std::span(frame.data(), frame.size()))));
  ByteReader reader{std::string_view(frame)};
  const auto rules = ReadFrame(reader, SaltOf(key, place.file, place.offset),
                               static_cast<uint32_t>(place.size));
  if (!rules.has_value() || rules->size() != place.size) return damaged();
  return std::string(*rules);
}

Status RulesLog::BeginCommit(ByteWriter& writer) {
  const uint64_t next = generation_ + 1;
  // Two commits that do not name it are durable.
  while (!forgotten_.empty() && forgotten_.front().generation + 3 <= next) {
    const std::string path = PathOf(forgotten_.front().number);
    NEPHILA_TRY(const bool there, fs_.Exists(path));
    if (there) NEPHILA_RETURN_IF_ERROR(fs_.Remove(path));
    forgotten_.erase(forgotten_.begin());
  }
  generation_ = next;
  writer.Varint(generation_);
  writer.Varint(next_file_);
  writer.Varint(files_.size());
  to_sync_.clear();
  for (auto& [number, file] : files_) {
    writer.Varint(number);
    writer.Varint(file.end);
    if (file.dirty && file.file != nullptr) to_sync_.push_back(file.file);
    file.dirty = false;
  }
  writer.Varint(forgotten_.size());
  for (const Forgotten& file : forgotten_) {
    writer.Varint(file.number);
    writer.Varint(file.generation);
  }
  sync_dir_ = names_changed_;
  names_changed_ = false;
  return {};
}

Status RulesLog::FinishCommit() {
  for (const auto& file : to_sync_) NEPHILA_RETURN_IF_ERROR(file->Sync());
  if (sync_dir_) NEPHILA_RETURN_IF_ERROR(fs_.SyncDir(dir_));
  return {};
}

std::vector<RulesLog::NamedFile> RulesLog::files() const {
  std::vector<NamedFile> files;
  files.reserve(files_.size() + forgotten_.size());
  for (const auto& [number, file] : files_) {
    files.push_back({PathOf(number), file.end});
  }
  for (const Forgotten& file : forgotten_) {
    files.push_back({PathOf(file.number), 0});
  }
  return files;
}

uint64_t RulesLog::bytes() const {
  uint64_t bytes = 0;
  for (const auto& [number, file] : files_) bytes += file.end;
  return bytes;
}

}  // namespace nephila::robots
