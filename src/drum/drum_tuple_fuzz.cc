// The reader of a bucket's tuples takes any bytes; what it reads lies inside
// of them and is spelled by exactly the bytes that it took.
//
// The first byte of the input chooses the format, the next two the bucket.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "drum/batch.h"

namespace nephila::drum {
namespace {

constexpr std::array<int, 4> kBucketBits = {0, 7, 8, 14};

TupleFormat FormatOf(uint8_t choice) {
  TupleFormat format;
  format.value.kind = static_cast<ValueKind>(choice % 3);
  if (format.value.kind == ValueKind::kFixed) format.value.bytes = 4;
  const int only = choice / 3 % 4;
  if (only < 3) format.only = static_cast<Operation>(only);
  format.bucket_bits = kBucketBits[choice / 12 % 4U];
  return format;
}

// As batch.h says that a tuple is spelled.
std::string Spell(const TupleFormat& format, uint32_t bucket,
                  const BucketTuple& tuple) {
  std::string bytes;
  ByteWriter writer(bytes);
  if (!format.only) writer.U8(static_cast<uint8_t>(tuple.operation));
  std::string key;
  ByteWriter(key).U64(tuple.key - format.FirstKey(bucket));
  writer.Raw(std::string_view(key).substr(0, KeyBytes(format.bucket_bits)));
  if (!Updates(tuple.operation)) return bytes;
  if (format.value.kind == ValueKind::kFixed) writer.Raw(tuple.value);
  if (format.value.kind == ValueKind::kVariable) writer.Sized(tuple.value);
  return bytes;
}

void CheckBytes(const TupleFormat& format, uint32_t bucket,
                std::string_view bytes) {
  // Memory of its own, for the sanitizer to see a read past its end.
  const std::vector<char> copy(bytes.begin(), bytes.end());
  const std::string_view view(copy.data(), copy.size());
  TupleReader reader(format, bucket, view);
  while (!reader.AtEnd()) {
    const size_t at = view.size() - reader.remaining();
    BucketTuple tuple{};
    if (!reader.Next(tuple)) break;
    const size_t end = view.size() - reader.remaining();
    NEPHILA_CHECK(end > at);
    NEPHILA_CHECK(format.BucketOf(tuple.key) == bucket);
    NEPHILA_CHECK(!format.only || tuple.operation == *format.only);
    NEPHILA_CHECK(Updates(tuple.operation) || tuple.value.empty());
    NEPHILA_CHECK(Spell(format, bucket, tuple) == view.substr(at, end - at));
  }
}

}  // namespace
}  // namespace nephila::drum

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const nephila::drum::TupleFormat format = nephila::drum::FormatOf(data[0]);
  const uint32_t bucket = (data[1] | uint32_t{data[2]} << 8) % format.buckets();
  nephila::drum::CheckBytes(
      format, bucket, {reinterpret_cast<const char*>(data) + 3, size - 3});
  return 0;
}
