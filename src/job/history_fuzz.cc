// Any bytes as the history of a job, as they are and as frames whose checksums
// fit: what is read is in bounds, and the reading ends.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "job/history.h"

namespace nephila::job {
namespace {

constexpr uint64_t kSalt = 5;

void Check(std::string bytes) {
  const size_t size = bytes.size();
  auto reader = HistoryReader::Read(std::move(bytes), "history", kSalt);
  if (!reader.has_value()) {
    NEPHILA_CHECK(reader.error().code == ErrorCode::kCorruption ||
                  reader.error().code == ErrorCode::kUnsupported);
    return;
  }
  HistoryRecord record;
  while (reader->Next(&record)) {
    NEPHILA_CHECK(record.numbers.size() <= kMostHistoryNumbers);
    NEPHILA_CHECK(reader->end() <= size);
  }
  for (const uint64_t offset : reader->damaged()) NEPHILA_CHECK(offset < size);
}

// The input as payloads, each a length and so many bytes, behind a head.
std::string Sealed(std::string_view input) {
  const uint64_t frame_salt = KeyedHash("nephila history", kSalt);
  std::string head;
  ByteWriter writer(head);
  writer.Sized("nephila history");
  writer.Varint(1);
  writer.U64(frame_salt);
  writer.Varint(0);
  writer.Varint(0);
  std::string bytes;
  AppendFrame(bytes, head, KeyedHash("nephila history", 0));
  ByteReader reader(input);
  while (!reader.AtEnd()) {
    const auto payload = reader.Sized();
    if (!payload.has_value()) break;
    AppendFrame(bytes, *payload, frame_salt);
  }
  return bytes;
}

}  // namespace
}  // namespace nephila::job

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  nephila::job::Check(std::string(bytes));
  nephila::job::Check(nephila::job::Sealed(bytes));
  return 0;
}
