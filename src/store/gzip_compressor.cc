#include "store/gzip_compressor.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::store {
namespace {

// Deflate, no flags, no time, no hint of effort, an unknown system.
constexpr std::string_view kHeader("\x1F\x8B\x08\0\0\0\0\0\0\xFF", 10);
constexpr size_t kLongestStoredBlock = 65535;

// The header of a stored block at a whole byte, and its bytes.
void AppendStoredBlock(std::string_view bytes, bool last, std::string* out) {
  const auto size = static_cast<uint16_t>(bytes.size());
  ByteWriter writer(*out);
  writer.U8(last ? 1 : 0);
  writer.U16(size);
  writer.U16(static_cast<uint16_t>(~size));
  writer.Raw(bytes);
}

}  // namespace

void GzipCompressor::Begin(uint64_t total_bytes, std::string* out) {
  out_ = out;
  storing_ = false;
  crc_ = 0;
  size_ = 0;
  out_->append(kHeader);
  BeginBlocks(total_bytes);
}

void GzipCompressor::Add(std::string_view bytes, Effort effort) {
  NEPHILA_CHECK(out_ != nullptr);
  if (bytes.empty()) return;
  crc_ = crc32_gzip_refl(
      crc_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  size_ += static_cast<uint32_t>(bytes.size());
  if (effort == Effort::kStore && !storing_) {
    FlushBlocks(out_);
    storing_ = true;
  }
  if (storing_) {
    AppendStored(bytes, out_);
  } else {
    AddToBlocks(bytes, out_);
  }
}

void GzipCompressor::End() {
  NEPHILA_CHECK(out_ != nullptr);
  if (storing_) {
    AppendStoredBlock({}, true, out_);
  } else {
    EndBlocks(out_);
  }
  ByteWriter writer(*out_);
  writer.U32(crc_);
  writer.U32(size_);
  out_ = nullptr;
}

void GzipCompressor::AppendStored(std::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, kLongestStoredBlock);
    AppendStoredBlock(block, false, out);
    bytes.remove_prefix(block.size());
  }
}

}  // namespace nephila::store
