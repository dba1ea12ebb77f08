#include "sim/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace nephila::sim {
namespace {

// What zlib unpacks, up to the end of the member with its CRC and length.
// Counts only, if `out` is null.
bool Unpack(std::string packed, std::string* out, uint64_t* bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string part(1 << 16, '\0');
  int result = Z_OK;
  *bytes = 0;
  while (result == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    result = inflate(&stream, Z_NO_FLUSH);
    const size_t size = part.size() - stream.avail_out;
    *bytes += size;
    if (out != nullptr) out->append(part, 0, size);
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_in == 0;
}

TEST(GzipTest, UnpacksToWhatWentIn) {
  Gzip gzip;
  for (size_t size : {size_t{0}, size_t{1}, size_t{21'000}, size_t{300'000}}) {
    std::string text;
    for (size_t i = 0; text.size() < size; ++i) text += std::to_string(i * i);
    text.resize(size);
    std::string packed = "before";
    gzip.Append(text, &packed);
    std::string unpacked;
    uint64_t bytes = 0;
    ASSERT_TRUE(Unpack(packed.substr(6), &unpacked, &bytes)) << size;
    EXPECT_EQ(unpacked, text);
  }
}

TEST(GzipTest, PacksWhatCannotBePacked) {
  std::string noise;
  uint64_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 6364136223846793005 + 1;
    noise += static_cast<char>(state >> 56);
  }
  Gzip gzip;
  std::string packed;
  gzip.Append(noise, &packed);
  std::string unpacked;
  uint64_t bytes = 0;
  ASSERT_TRUE(Unpack(packed, &unpacked, &bytes));
  EXPECT_EQ(unpacked, noise);
}

TEST(GzipBombTest, IsAWholeMemberAThousandthOfWhatItUnpacksTo) {
  GzipBomb bomb(uint64_t{20} << 20);
  std::string packed;
  while (bomb.Next(&packed)) {
  }
  uint64_t bytes = 0;
  ASSERT_TRUE(Unpack(packed, nullptr, &bytes));
  EXPECT_EQ(bytes, uint64_t{20} << 20);
  EXPECT_LT(packed.size(), bytes / 200);
}

}  // namespace
}  // namespace nephila::sim
