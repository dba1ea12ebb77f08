// Any bytes as a block, in a frame that is right: it is refused, or its records
// are whole and become the same block again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "disk_queue/block.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nephila::disk_queue::Block;
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  nephila::disk_queue::BlockUnpacker unpacker;
  Block block;
  if (!unpacker.Unpack(payload, block).has_value()) return 0;
  size_t at = 0;
  for (uint64_t i = 0; i < block.records; ++i) {
    nephila::disk_queue::NextRecord(block.raw, at);
  }
  NEPHILA_CHECK(at == block.raw.size());
  nephila::disk_queue::BlockPacker packer(nephila::Codec::kLz4);
  const std::string again(packer.Pack(block.first, block.records, block.raw));
  Block same;
  NEPHILA_CHECK(unpacker.Unpack(again, same).has_value());
  NEPHILA_CHECK(same.first == block.first && same.raw == block.raw);
  return 0;
}
