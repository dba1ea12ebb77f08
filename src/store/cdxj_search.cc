#include "store/cdxj_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "store/line_file.h"

namespace nephila::store {
namespace {

constexpr size_t kBlockBytes = 4096;

// Where the first line begins that stands at `offset` or behind it; the size
// of the file if there is none.
Result<uint64_t> LineFrom(File& file, uint64_t offset, uint64_t size) {
  if (offset == 0) return uint64_t{0};
  std::array<char, kBlockBytes> block{};
  // The end of the line before may be the byte before.
  for (uint64_t at = offset - 1; at < size;) {
    NEPHILA_TRY(const size_t read,
                file.Read(at, std::as_writable_bytes(std::span(block))));
    if (read == 0) break;
    const auto* const end = std::find(block.data(), block.data() + read, '\n');
    if (end != block.data() + read) {
      return at + static_cast<uint64_t>(end - block.data()) + 1;
    }
    at += read;
  }
  return size;
}

}  // namespace

Status FindInIndex(FileSystem& fs, const std::string& path,
                   std::string_view key,
                   const std::function<void(const CdxjLine&)>& take) {
  NEPHILA_TRY(const auto file, fs.Open(path, OpenMode::kRead));
  NEPHILA_TRY(const uint64_t size, file->Size());
  // A key has no space, and a space sorts before all that a key has.
  const std::string wanted = std::string(key) + " ";
  std::string line;
  // The first line that is not below `wanted` begins in [low, high].
  uint64_t low = 0;
  uint64_t high = size;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    NEPHILA_TRY(const uint64_t begin, LineFrom(*file, middle, size));
    if (begin >= high) {
      high = middle;
      continue;
    }
    LineReader reader(*file, kLongestCdxjLine, begin);
    NEPHILA_TRY(const bool is_there, reader.Next(&line));
    if (!is_there || line.compare(0, wanted.size(), wanted) >= 0) {
      high = middle;
    } else {
      low = begin + 1;
    }
  }
  NEPHILA_TRY(const uint64_t begin, LineFrom(*file, low, size));
  LineReader reader(*file, kLongestCdxjLine, begin);
  while (true) {
    NEPHILA_TRY(const bool is_there, reader.Next(&line));
    if (!is_there || !line.starts_with(wanted)) return {};
    const auto parsed = ParseCdxj(line);
    if (!parsed.has_value()) {
      return Unexpected(
          Error{ErrorCode::kCorruption,
                fmt::format("{}: {}", path, CdxjErrorText(parsed.error()))});
    }
    take(*parsed);
  }
}

}  // namespace nephila::store
