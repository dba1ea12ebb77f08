#include "job/journal_file.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/commit_file.h"
#include "base/hash.h"
#include "base/random.h"

namespace nephila::job {
namespace {

constexpr std::string_view kPrefix = "journal-";
constexpr std::string_view kSuffix = ".log";
constexpr std::string_view kMagic = "nephila journal";

}  // namespace

std::string JournalFileName(uint64_t first) {
  return CommitFileName(kPrefix, first).append(kSuffix);
}

std::optional<uint64_t> JournalFileFirst(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto first = CommitFileGeneration(kPrefix, name);
  // One number, one name.
  if (!first || *first == 0 || CommitFileName(kPrefix, *first) != name) {
    return std::nullopt;
  }
  return first;
}

Result<std::vector<uint64_t>> ListJournal(FileSystem& fs,
                                          const std::string& dir) {
  NEPHILA_TRY(const std::vector<DirEntry> entries, fs.List(dir));
  std::vector<uint64_t> files;
  files.reserve(entries.size());
  for (const DirEntry& entry : entries) {
    if (const auto first = JournalFileFirst(entry.name)) {
      files.push_back(*first);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string JournalHead(uint64_t first, uint64_t salt) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.Varint(kJournalVersion);
  writer.U64(salt);
  std::string frame;
  AppendFrame(frame, payload, JournalHeadSalt(first));
  return frame;
}

uint64_t JournalHeadSalt(uint64_t first) { return KeyedHash(kMagic, first); }

std::optional<JournalHeadFields> ReadJournalHead(std::string_view payload) {
  ByteReader reader(payload);
  const auto magic = reader.Sized();
  if (!magic || *magic != kMagic) return std::nullopt;
  const auto version = reader.Varint();
  if (!version) return std::nullopt;
  // What follows is for that version to say.
  if (*version != kJournalVersion) return JournalHeadFields{*version, 0};
  const auto salt = reader.U64();
  if (!salt || !reader.AtEnd()) return std::nullopt;
  return JournalHeadFields{*version, *salt};
}

uint64_t JournalEntrySalt(uint64_t salt, uint64_t number) {
  return KeyedHash("entry", salt + number * kSplitMixStep);
}

}  // namespace nephila::job
