#include "drum/results.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"

namespace nephila::drum {
namespace {

constexpr uint64_t kMostPieceBytes = uint64_t{64} << 10;

// All cursors together read with about the memory that results may take.
size_t PieceBytes(uint64_t memory_limit, uint32_t buckets) {
  const uint64_t share = memory_limit / buckets / kPageBytes * kPageBytes;
  return std::clamp(share, kPageBytes, kMostPieceBytes) - kFrameHeaderBytes;
}

// Where the first answer ends; npos if `results` begins with no whole one.
size_t AnswerEnd(std::string_view results) {
  ByteReader reader(results);
  const auto head = reader.Varint();
  if (!head || *head / 2 > reader.remaining()) return std::string_view::npos;
  return reader.position() + *head / 2;
}

}  // namespace

void AppendAnswer(std::string& out, bool unique, std::string_view answer) {
  ByteWriter writer(out);
  writer.Varint(answer.size() * 2 + (unique ? 1 : 0));
  writer.Raw(answer);
}

PassResults::PassResults(FileSystem& fs, std::string path, uint64_t salt,
                         IoCounts& counts, uint32_t buckets, bool bits,
                         uint64_t memory_limit)
    : fs_(fs),
      path_(std::move(path)),
      salt_(salt),
      counts_(counts),
      bits_(bits),
      memory_limit_(memory_limit),
      piece_bytes_(PieceBytes(memory_limit, buckets)),
      cursors_(buckets) {}

PassResults::~PassResults() {
  if (file_ == nullptr) return;
  file_.reset();
  // If it stays, the next Open removes it: no commit knows it.
  static_cast<void>(fs_.Remove(path_).has_value());
}

Status PassResults::OpenFile() {
  MutexLock lock(mutex_);
  if (file_ != nullptr) return {};
  NEPHILA_TRY(file_, BlockFile::Create(fs_, path_, salt_, counts_));
  return {};
}

Status PassResults::Put(uint32_t bucket, std::string results) {
  Cursor& cursor = cursors_[bucket];
  const uint64_t bytes = results.size();
  if (memory_bytes_.fetch_add(bytes) + bytes <= memory_limit_) {
    results.shrink_to_fit();
    cursor.memory = std::move(results);
    cursor.left = cursor.memory;
    return {};
  }
  memory_bytes_.fetch_sub(bytes);
  return WriteOut(cursor, results);
}

Status PassResults::WriteOut(Cursor& cursor, std::string_view results) {
  NEPHILA_RETURN_IF_ERROR(OpenFile());
  BlockBuffer buffer(piece_bytes_);
  while (!results.empty()) {
    size_t piece = std::min(results.size(), piece_bytes_);
    if (bits_) {
      if (piece < results.size()) piece = piece / 8 * 8;
    } else {
      // Whole answers, one at least.
      piece = AnswerEnd(results);
      while (piece < results.size()) {
        const size_t more = AnswerEnd(results.substr(piece));
        if (piece + more > piece_bytes_) break;
        piece += more;
      }
    }
    buffer.Reserve(piece);
    std::memcpy(buffer.payload(), results.data(), piece);
    NEPHILA_TRY(const BlockPlace place, file_->Append(buffer, piece));
    cursor.pieces.push_back(place);
    results.remove_prefix(piece);
  }
  return {};
}

Status PassResults::LoadPiece(Cursor& cursor) {
  if (cursor.next_piece == cursor.pieces.size()) {
    return Unexpected(
        Error{ErrorCode::kCorruption,
              path_ + ": the aux log has more records than there are results"});
  }
  NEPHILA_TRY(cursor.left,
              file_->Read(cursor.pieces[cursor.next_piece++], cursor.buffer));
  return {};
}

Status PassResults::NextSlowly(Cursor& cursor, bool& unique,
                               std::string_view& answer) {
  if (cursor.left.empty()) NEPHILA_RETURN_IF_ERROR(LoadPiece(cursor));
  if (bits_) {
    const size_t bytes = std::min(cursor.left.size(), sizeof cursor.bits);
    cursor.bits = 0;
    std::memcpy(&cursor.bits, cursor.left.data(), bytes);
    cursor.left.remove_prefix(bytes);
    cursor.bits_left = static_cast<int>(8 * bytes) - 1;
    unique = (cursor.bits & 1) != 0;
    cursor.bits >>= 1;
    return {};
  }
  ByteReader reader(cursor.left);
  const auto head = reader.Varint();
  const auto bytes = head ? reader.Raw(*head / 2)
                          : Result<std::string_view, ReadError>(
                                Unexpected(ReadError::kTruncated));
  if (!bytes) {
    return Unexpected(
        Error{ErrorCode::kCorruption, path_ + ": a result is damaged"});
  }
  unique = *head % 2 == 1;
  answer = *bytes;
  cursor.left.remove_prefix(reader.position());
  return {};
}

}  // namespace nephila::drum
