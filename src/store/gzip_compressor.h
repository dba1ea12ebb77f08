// GzipCompressor: what is the same in a gzip member whoever deflates it:
// header, stored blocks, checksum and length (RFC 1951 s3.2.4, RFC 1952 s2.3).
//
// A deflating library gives a class that derives from this one and makes the
// blocks. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/compressor.h"

namespace nephila::store {

class GzipCompressor : public Compressor {
 public:
  void Begin(uint64_t total_bytes, std::string* out) final;
  void Add(std::string_view bytes, Effort effort) final;
  void End() final;

 protected:
  // Forgets whatever was begun before.
  virtual void BeginBlocks(uint64_t total_bytes) = 0;
  // May keep bytes back.
  virtual void AddToBlocks(std::string_view bytes, std::string* out) = 0;
  // Writes what was kept back and ends at a whole byte, before stored blocks.
  virtual void FlushBlocks(std::string* out) = 0;
  // Writes the last block of the member.
  virtual void EndBlocks(std::string* out) = 0;

  static void AppendStored(std::string_view bytes, std::string* out);

 private:
  std::string* out_ = nullptr;
  bool storing_ = false;
  uint32_t crc_ = 0;
  uint32_t size_ = 0;  // modulo 2^32, as the format has it
};

}  // namespace nephila::store
