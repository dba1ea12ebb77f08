// AuxBlockReader and AddSpilled take any bytes; what they accept, a builder
// writes again, and that reads the same. The first byte has flags: bit 0, the
// block has buckets. The seeds are made by aux_block_test.cc.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "drum/aux_block.h"

namespace nephila::drum {
namespace {

constexpr uint32_t kMaxRawBytes = 1 << 20;

void CheckBlock(std::string_view payload, bool has_buckets) {
  Decompressor decompressor;
  AuxBlockReader reader;
  if (!reader.Open(payload, has_buckets, decompressor, kMaxRawBytes)) return;
  AuxBlockBuilder builder(has_buckets);
  uint32_t bucket = 0;
  std::string_view aux;
  while (reader.Next(&bucket, &aux)) builder.Add(bucket, aux);
  NEPHILA_CHECK(builder.records() == reader.records());
  NEPHILA_CHECK(builder.raw_bytes() <= kMaxRawBytes);
  Compressor compressor;
  BlockBuffer buffer;
  const auto codec = static_cast<Codec>(payload.size() % kCodecs);
  const size_t bytes = builder.Encode(codec, compressor, buffer);
  AuxBlockReader again;
  NEPHILA_CHECK(again
                    .Open({buffer.payload(), bytes}, has_buckets, decompressor,
                          kMaxRawBytes)
                    .has_value());
  NEPHILA_CHECK(reader.Open(payload, has_buckets, decompressor, kMaxRawBytes)
                    .has_value());
  uint32_t bucket_again = bucket;
  std::string_view aux_again;
  while (reader.Next(&bucket, &aux)) {
    NEPHILA_CHECK(again.Next(&bucket_again, &aux_again));
    NEPHILA_CHECK(bucket == bucket_again && aux == aux_again);
  }
  NEPHILA_CHECK(!again.Next(&bucket_again, &aux_again));
}

void CheckSpilled(std::string_view spilled, bool has_buckets) {
  AuxBlockBuilder builder(has_buckets);
  ByteReader reader(spilled);
  if (!builder.AddSpilled(reader)) {
    NEPHILA_CHECK(builder.raw_bytes() == 0 && builder.empty());
    return;
  }
  std::string again;
  builder.AppendRecordsFrom(0, again);
  NEPHILA_CHECK(again == spilled.substr(0, reader.position()));
}

}  // namespace
}  // namespace nephila::drum

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool has_buckets = (data[0] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1,
                               size - 1);
  nephila::drum::CheckBlock(bytes, has_buckets);
  nephila::drum::CheckSpilled(bytes, has_buckets);
  return 0;
}
