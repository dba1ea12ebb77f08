// Whatever bytes come in, as an archive of any codec: reading ends, offsets go
// forward, what is read whole by one size of buffer is by another, and an
// archive cut where a scan says so is whole.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/memory_file_system.h"
#include "store/archive_index.h"
#include "store/verify.h"
#include "store/warc_reader.h"

namespace nephila::store {
namespace {

struct Read {
  bool operator==(const Read&) const = default;
  uint64_t offset;
  uint64_t end;
  uint64_t block;
};

std::vector<Read> ReadAll(FileSystem& fs, size_t buffer_bytes) {
  ReaderOptions options;
  options.member.buffer_bytes = buffer_bytes;
  options.member.max_window_log = 20;
  std::vector<Read> reads;
  auto reader = WarcReader::Open(fs, "a.warc", options);
  if (!reader) return reads;
  uint64_t last = 0;
  while (true) {
    auto state = (*reader)->Next();
    NEPHILA_CHECK(state.has_value());
    if (*state == ReadState::kEnd) return reads;
    if (*state == ReadState::kRecord) {
      NEPHILA_CHECK((*reader)->offset() >= last);
      last = (*reader)->offset();
      uint64_t block = 0;
      for (auto piece = (*reader)->ReadBlock(); !piece->empty();
           piece = (*reader)->ReadBlock()) {
        block += piece->size();
      }
      state = (*reader)->Finish();
      NEPHILA_CHECK(state.has_value());
      if (*state == ReadState::kRecord) {
        NEPHILA_CHECK(block == (*reader)->block_length());
        // The end of one that shares its member is not known yet.
        reads.push_back({(*reader)->offset(),
                         (*reader)->ends_member() ? (*reader)->end() : 0,
                         block});
        continue;
      }
    }
    NEPHILA_CHECK((*reader)->damage_offset() >= last);
    NEPHILA_CHECK((*reader)->Resync().has_value());
  }
}

void CheckCut(MemoryFileSystem& fs) {
  auto scan = ScanFrom(fs, "a.warc", 0);
  if (!scan) return;
  auto file = fs.Open("a.warc", OpenMode::kReadWrite);
  NEPHILA_CHECK(file.has_value());
  NEPHILA_CHECK((*file)->Truncate(scan->end).has_value());
  auto again = ScanFrom(fs, "a.warc", 0);
  NEPHILA_CHECK(again.has_value());
  NEPHILA_CHECK(again->state == ReadState::kEnd);
  NEPHILA_CHECK(again->end == scan->end);
}

}  // namespace
}  // namespace nephila::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nephila::store;  // NOLINT(google-build-using-namespace)
  nephila::MemoryFileSystem fs;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  NEPHILA_CHECK(nephila::PublishFile(fs, "a.warc", bytes).has_value());
  NEPHILA_CHECK(ReadAll(fs, 65'536) == ReadAll(fs, 7));
  auto ignore = [](const Finding&) {};
  if (VerifyArchive(fs, "a.warc", {}, ignore)) {
    NEPHILA_CHECK(
        RepairArchive(fs, "a.warc", {}, [](const std::string&) {}).has_value());
  }
  NEPHILA_CHECK(nephila::PublishFile(fs, "a.warc", bytes).has_value());
  CheckCut(fs);
  return 0;
}
