// Any bytes as a commit, alone and behind a copy of itself: it is refused, or
// a set can be made from it, and its queues are read to their end or to an
// error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/memory_file_system.h"
#include "disk_queue/commit_log.h"
#include "disk_queue/queue_set.h"

namespace nephila::disk_queue {
namespace {

constexpr uint64_t kSalt = 5;

void PutFile(FileSystem& fs, const std::string& path, std::string_view bytes) {
  const auto file = fs.Open(path, OpenMode::kCreate);
  NEPHILA_CHECK(file.has_value());
  NEPHILA_CHECK((*file)->Truncate(0));
  NEPHILA_CHECK(
      (*file)->Write(0, std::as_bytes(std::span(bytes.data(), bytes.size()))));
}

void Append(std::string& log, std::string_view commit) {
  std::string frame(kFrameHeaderBytes, '\0');
  frame += commit;
  SealCommit(kSalt, log.size(), frame);
  log += frame;
}

void CheckCommit(std::string_view commit) {
  MemoryFileSystem fs;
  NEPHILA_CHECK(fs.MakeDir("set"));
  std::string log = LogHead({kSalt, {4096, 4}}, 1);
  Append(log, commit);
  Append(log, commit);
  PutFile(fs, "set/" + LogName(1), log);
  const auto loaded = LoadSet(fs, "set", 1);
  if (!loaded.has_value()) {
    NEPHILA_CHECK(loaded.error().code == ErrorCode::kCorruption);
    return;
  }
  // A segment with a block, for what names it.
  const uint64_t queue =
      loaded->state.queues.empty() ? 0 : loaded->state.queues.begin()->first;
  std::string segment = SegmentHead(kSalt, 1, queue);
  std::string raw;
  AppendRecord(raw, "record");
  BlockPacker packer(Codec::kNone);
  AppendFrame(segment, packer.Pack(0, 1, raw),
              BlockSalt(kSalt, 1, segment.size()));
  PutFile(fs, "set/" + SegmentFileName(0), segment);
  const auto set = QueueSet::Open(fs, "set", QueueSetOptions(), 1);
  if (!set.has_value()) return;
  uint64_t budget = 10000;
  for (const uint64_t id : (*set)->Queues()) {
    const auto read = (*set)->Read(id, budget, [](const Record&) {});
    if (read.has_value()) budget -= *read;
    static_cast<void>((*set)->Append(id, "more").has_value());
  }
  NEPHILA_CHECK((*set)->Commit().has_value());
  NEPHILA_CHECK(LoadSet(fs, "set", 2).has_value());
}

}  // namespace
}  // namespace nephila::disk_queue

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nephila::disk_queue::CheckCommit({reinterpret_cast<const char*>(data), size});
  return 0;
}
