#include "drum/journal.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/commit_file.h"
#include "base/hash.h"

namespace nephila::drum {
namespace {

constexpr std::string_view kMagic = "nephila drum 1";
constexpr uint8_t kAnyOperation = 0xFF;

uint64_t HeaderSalt(uint64_t first_generation) {
  return KeyedHash(kMagic, first_generation);
}

uint64_t CommitSalt(const StoreHeader& header, uint64_t offset) {
  return KeyedHash("commit", header.salt + offset);
}

Error Damaged(const std::string& path, uint64_t offset, std::string_view what) {
  return Error{ErrorCode::kCorruption,
               FilePlace("reading", path, offset) + ": " + std::string(what)};
}

// Frame after frame of a journal, without the whole of it in memory.
class JournalReader {
 public:
  static Result<JournalReader> Open(FileSystem& fs, const std::string& dir,
                                    uint64_t first_generation) {
    JournalReader reader;
    reader.path_ = dir + "/" + JournalName(first_generation);
    NEPHILA_TRY(reader.file_, fs.Open(reader.path_, OpenMode::kRead));
    NEPHILA_TRY(reader.size_, reader.file_->Size());
    auto frame = reader.ReadFrameAt(HeaderSalt(first_generation));
    if (!frame) {
      if (frame.error().code == ErrorCode::kIo) {
        return Unexpected(std::move(frame).error());
      }
      return Unexpected(
          Damaged(reader.path_, 0, "this is no journal of a store"));
    }
    NEPHILA_RETURN_IF_ERROR(reader.ParseHeader(*frame));
    return reader;
  }

  // The next commit; kCorruption where no whole frame stands.
  Result<std::string_view> Next() {
    return ReadFrameAt(CommitSalt(header_, offset_));
  }
  bool AtEnd() const { return offset_ >= size_; }

  // Whether the frame that could not be read is what a machine that stopped
  // leaves of its last append: cut short, unwritten, or the last in the file.
  bool IsTornHere() {
    const uint64_t left = size_ - offset_;
    if (left < kFrameHeaderBytes) return true;
    std::string head(kFrameHeaderBytes, '\0');
    const auto room = std::as_writable_bytes(std::span(head));
    if (!file_->ReadExact(offset_, room)) return false;
    if (head.find_first_not_of('\0') == std::string::npos) return true;
    ByteReader reader(head);
    const auto frame =
        ReadFrame(reader, CommitSalt(header_, offset_), kMostCommitBytes);
    if (frame || frame.error() != FrameError::kTruncated) return false;
    ByteReader length(head);
    return kFrameHeaderBytes + *length.U32() >= left;
  }

  const StoreHeader& header() const { return header_; }
  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }

 private:
  Result<std::string_view> ReadFrameAt(uint64_t salt) {
    bytes_.resize(kFrameHeaderBytes);
    NEPHILA_RETURN_IF_ERROR(ReadBytes(0));
    ByteReader length_reader(bytes_);
    const uint32_t length = *length_reader.U32();
    // The length is checked before it is believed, and an empty payload shows
    // whether it is one of ours.
    if (length > kMostCommitBytes || length > size_ - offset_) {
      return Unexpected(Damaged(path_, offset_, "a commit is damaged"));
    }
    bytes_.resize(kFrameHeaderBytes + length);
    NEPHILA_RETURN_IF_ERROR(ReadBytes(kFrameHeaderBytes));
    ByteReader reader(bytes_);
    const auto payload = ReadFrame(reader, salt, kMostCommitBytes);
    if (!payload) {
      return Unexpected(Damaged(path_, offset_, "a commit is damaged"));
    }
    offset_ += bytes_.size();
    return *payload;
  }

  // Fills `bytes_` from `from` on.
  Status ReadBytes(size_t from) {
    if (size_ - offset_ < bytes_.size()) {
      return Unexpected(Damaged(path_, offset_, "a commit is cut short"));
    }
    return file_->ReadExact(
        offset_ + from,
        std::as_writable_bytes(std::span(bytes_.data(), bytes_.size()))
            .subspan(from));
  }

  Status ParseHeader(std::string_view bytes) {
    ByteReader reader(bytes);
    const auto magic = reader.Sized();
    if (!magic || *magic != kMagic) {
      return Unexpected(
          Damaged(path_, 0, "this version of nephila cannot read it"));
    }
    const auto salt = reader.U64();
    const auto kind = reader.U8();
    const auto value_bytes = reader.U32();
    const auto only = reader.U8();
    const auto log_buckets = reader.U8();
    if (!salt || !kind || *kind > 2 || !value_bytes || !only ||
        (*only > static_cast<uint8_t>(Operation::kCheckUpdate) &&
         *only != kAnyOperation) ||
        !log_buckets || !reader.AtEnd()) {
      return Unexpected(Damaged(path_, 0, "its header is damaged"));
    }
    header_.salt = *salt;
    header_.value = {static_cast<ValueKind>(*kind), *value_bytes};
    if (*only != kAnyOperation) header_.only = static_cast<Operation>(*only);
    header_.log_buckets = *log_buckets != 0;
    return {};
  }

  std::string path_;
  std::unique_ptr<File> file_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
  StoreHeader header_;
  std::string bytes_;
};

Result<CommitHead, ReadError> ParseCommitHead(ByteReader& reader) {
  CommitHead head;
  NEPHILA_TRY(const uint8_t whole, reader.U8());
  head.whole = whole != 0;
  NEPHILA_TRY(head.generation, reader.Varint());
  NEPHILA_TRY(head.next_file, reader.Varint());
  NEPHILA_TRY(head.counters.tuples_added, reader.Varint());
  NEPHILA_TRY(head.counters.results_delivered, reader.Varint());
  NEPHILA_TRY(head.counters.uniques_delivered, reader.Varint());
  NEPHILA_TRY(head.counters.passes, reader.Varint());
  NEPHILA_TRY(head.counters.small_passes, reader.Varint());
  NEPHILA_TRY(const uint64_t runs, reader.Varint());
  for (uint64_t i = 0; i < runs; ++i) {
    NEPHILA_TRY(RunInfo run, RunInfo::Parse(reader));
    head.runs.push_back(run);
  }
  NEPHILA_TRY(const uint64_t retired, reader.Varint());
  for (uint64_t i = 0; i < retired; ++i) {
    RetiredFile file;
    NEPHILA_TRY(const std::string_view name, reader.Sized());
    file.name = name;
    NEPHILA_TRY(file.last_named, reader.Varint());
    NEPHILA_TRY(file.batch_bytes, reader.Varint());
    head.retired.push_back(std::move(file));
  }
  return head;
}

class StateBuilder {
 public:
  explicit StateBuilder(const StoreHeader& header) { state_.header = header; }

  // What is wrong with it, or nothing.
  Status Apply(std::string_view commit) {
    ByteReader reader(commit);
    auto head = ParseCommitHead(reader);
    if (!head) return Wrong();
    state_.generation = head->generation;
    state_.next_file = head->next_file;
    state_.counters = head->counters;
    state_.runs = std::move(head->runs);
    state_.retired = std::move(head->retired);
    if (head->whole) {
      state_.memory = {};
      state_.batches.clear();
    }
    NEPHILA_RETURN_IF_ERROR(ApplyMemory(reader));
    NEPHILA_RETURN_IF_ERROR(ApplyBatches(reader));
    return reader.AtEnd() ? Status() : Wrong();
  }

  StoreState Finish() { return std::move(state_); }

 private:
  static Unexpected<Error> Wrong() {
    return Unexpected(Error{ErrorCode::kCorruption, "a commit makes no sense"});
  }

  Status ApplyMemory(ByteReader& reader) {
    const auto emptied = reader.U8();
    const auto changes = reader.Varint();
    if (!emptied || !changes) return Wrong();
    if (*emptied != 0) state_.memory = {};
    for (uint64_t i = 0; i < *changes; ++i) {
      NEPHILA_TRY(MemoryRun run, MemoryRun::Parse(reader, state_.header.value));
      // Runs may stand below.
      state_.memory.Add(std::make_shared<const MemoryRun>(std::move(run)),
                        false);
    }
    return {};
  }

  Status ApplyBatches(ByteReader& reader) {
    const auto count = reader.Varint();
    if (!count || *count > 2) return Wrong();
    std::vector<BatchState> batches;
    for (uint64_t i = 0; i < *count; ++i) {
      const auto number = reader.Varint();
      const auto bits = reader.U8();
      if (!number || !bits || *bits > 16) return Wrong();
      const auto is_it = [&](const BatchState& batch) {
        return batch.number == *number;
      };
      // Once in a commit: a known one is moved from, and has no buckets left.
      if (std::any_of(batches.begin(), batches.end(), is_it)) return Wrong();
      const auto known =
          std::find_if(state_.batches.begin(), state_.batches.end(), is_it);
      if (known != state_.batches.end()) {
        if (known->format.bucket_bits != *bits) return Wrong();
        batches.push_back(std::move(*known));
      } else {
        batches.emplace_back(TupleFormat{state_.header.value,
                                         state_.header.only,
                                         state_.header.log_buckets, *bits});
        batches.back().number = *number;
      }
      NEPHILA_RETURN_IF_ERROR(batches.back().Apply(reader));
    }
    state_.batches = std::move(batches);
    return {};
  }

  StoreState state_;
};

}  // namespace

std::string JournalName(uint64_t first_generation) {
  return CommitFileName(kJournalPrefix, first_generation);
}

std::optional<uint64_t> JournalGeneration(std::string_view name) {
  return CommitFileGeneration(kJournalPrefix, name);
}

std::string JournalHeader(const StoreHeader& header,
                          uint64_t first_generation) {
  std::string payload;
  ByteWriter writer(payload);
  writer.Sized(kMagic);
  writer.U64(header.salt);
  writer.U8(static_cast<uint8_t>(header.value.kind));
  writer.U32(header.value.bytes);
  writer.U8(header.only ? static_cast<uint8_t>(*header.only) : kAnyOperation);
  writer.U8(header.log_buckets ? 1 : 0);
  std::string frame;
  AppendFrame(frame, payload, HeaderSalt(first_generation));
  return frame;
}

std::string CommitFrame(const StoreHeader& header, uint64_t offset,
                        std::string_view commit) {
  std::string frame;
  AppendFrame(frame, commit, CommitSalt(header, offset));
  return frame;
}

void AppendCommitHead(ByteWriter& writer, const CommitHead& head) {
  writer.U8(head.whole ? 1 : 0);
  writer.Varint(head.generation);
  writer.Varint(head.next_file);
  writer.Varint(head.counters.tuples_added);
  writer.Varint(head.counters.results_delivered);
  writer.Varint(head.counters.uniques_delivered);
  writer.Varint(head.counters.passes);
  writer.Varint(head.counters.small_passes);
  writer.Varint(head.runs.size());
  for (const RunInfo& run : head.runs) run.AppendTo(writer);
  writer.Varint(head.retired.size());
  for (const RetiredFile& file : head.retired) {
    writer.Sized(file.name);
    writer.Varint(file.last_named);
    writer.Varint(file.batch_bytes);
  }
}

void AppendMemoryChanges(
    ByteWriter& writer, bool emptied,
    const std::vector<std::shared_ptr<const MemoryRun>>& changes) {
  writer.U8(emptied ? 1 : 0);
  writer.Varint(changes.size());
  for (const auto& change : changes) change->AppendTo(writer);
}

Result<StoreState> LoadState(FileSystem& fs, const std::string& dir,
                             uint64_t generation) {
  NEPHILA_TRY(const std::vector<uint64_t> journals,
              ListCommitFiles(fs, dir, kJournalPrefix));
  const auto after =
      std::upper_bound(journals.begin(), journals.end(), generation);
  if (after == journals.begin()) return NoSuchCommit(dir, generation);
  const uint64_t first = *(after - 1);
  NEPHILA_TRY(JournalReader reader, JournalReader::Open(fs, dir, first));
  StateBuilder builder(reader.header());
  for (uint64_t expected = first; expected <= generation; ++expected) {
    if (reader.AtEnd()) return NoSuchCommit(dir, generation);
    const uint64_t offset = reader.offset();
    NEPHILA_TRY(const std::string_view commit, reader.Next());
    if (Status status = builder.Apply(commit); !status) {
      return Unexpected(Damaged(reader.path(), offset, status.error().message));
    }
  }
  StoreState state = builder.Finish();
  if (state.generation != generation) {
    return Unexpected(Damaged(reader.path(), reader.offset(),
                              "its commits are not in order"));
  }
  state.journal = JournalName(first);
  state.journal_end = reader.offset();
  return state;
}

Result<uint64_t> NewestGeneration(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const std::vector<uint64_t> journals,
              ListCommitFiles(fs, dir, kJournalPrefix));
  if (journals.empty()) {
    return Unexpected(Error{ErrorCode::kNotFound, dir + ": no store is there"});
  }
  NEPHILA_TRY(JournalReader reader,
              JournalReader::Open(fs, dir, journals.back()));
  uint64_t next = journals.back();
  while (!reader.AtEnd()) {
    if (auto commit = reader.Next(); !commit) {
      // A commit that was cut short is none; any other damage is damage.
      if (!reader.IsTornHere()) return Unexpected(std::move(commit).error());
      break;
    }
    ++next;
  }
  if (next == journals.back()) {
    return Unexpected(
        Damaged(reader.path(), reader.offset(), "its first commit is damaged"));
  }
  return next - 1;
}

Result<bool> HasJournal(FileSystem& fs, const std::string& dir) {
  NEPHILA_TRY(const std::vector<uint64_t> journals,
              ListCommitFiles(fs, dir, kJournalPrefix));
  return !journals.empty();
}

}  // namespace nephila::drum
