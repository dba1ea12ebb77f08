#include "base/bytes.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/checksum.h"

namespace nephila {
namespace {

// By shifts, so that the machine's byte order does not matter; compilers turn
// both loops into one move.
template <typename T>
std::array<char, sizeof(T)> ToLittleEndian(T value) {
  std::array<char, sizeof(T)> bytes;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  }
  return bytes;
}

template <typename T>
T FromLittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    const uint64_t byte = static_cast<unsigned char>(bytes[i]);
    value |= byte << (8 * i);
  }
  return static_cast<T>(value);
}

template <typename T>
void AppendFixed(std::string& out, T value) {
  const auto bytes = ToLittleEndian(value);
  out.append(bytes.data(), bytes.size());
}

uint32_t FrameHead(uint64_t salt, uint32_t length) {
  const auto salt_bytes = ToLittleEndian(salt);
  const auto length_bytes = ToLittleEndian(length);
  const uint32_t crc =
      ExtendCrc32c(Crc32c({salt_bytes.data(), salt_bytes.size()}),
                   {length_bytes.data(), length_bytes.size()});
  // One salt in 2^32 would make zeros an empty frame.
  return crc != 0 ? crc : 1;
}

void AppendFrameHeader(std::string& out, std::string_view payload,
                       uint64_t salt) {
  NEPHILA_CHECK(payload.size() <= std::numeric_limits<uint32_t>::max());
  const auto length = static_cast<uint32_t>(payload.size());
  const uint32_t head = FrameHead(salt, length);
  ByteWriter writer(out);
  writer.U32(length);
  writer.U32(head);
  writer.U32(ExtendCrc32c(head, payload));
}

}  // namespace

void ByteWriter::U8(uint8_t value) { AppendFixed(out_, value); }
void ByteWriter::U16(uint16_t value) { AppendFixed(out_, value); }
void ByteWriter::U32(uint32_t value) { AppendFixed(out_, value); }
void ByteWriter::U64(uint64_t value) { AppendFixed(out_, value); }

void ByteWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void ByteWriter::Sized(std::string_view bytes) {
  Varint(bytes.size());
  Raw(bytes);
}

void ByteWriter::Raw(std::string_view bytes) { out_.append(bytes); }

template <typename T>
Result<T, ReadError> ByteReader::Fixed() {
  if (remaining() < sizeof(T)) return Unexpected(ReadError::kTruncated);
  const T value = FromLittleEndian<T>(bytes_.data() + position_);
  position_ += sizeof(T);
  return value;
}

Result<uint8_t, ReadError> ByteReader::U8() { return Fixed<uint8_t>(); }
Result<uint16_t, ReadError> ByteReader::U16() { return Fixed<uint16_t>(); }
Result<uint32_t, ReadError> ByteReader::U32() { return Fixed<uint32_t>(); }
Result<uint64_t, ReadError> ByteReader::U64() { return Fixed<uint64_t>(); }

Result<uint64_t, ReadError> ByteReader::Varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < 10; ++i) {
    if (i >= remaining()) return Unexpected(ReadError::kTruncated);
    const uint64_t byte = static_cast<unsigned char>(bytes_[position_ + i]);
    // The tenth byte has room for one bit and for no continuation.
    if (i == 9 && byte > 1) break;
    value |= (byte & 0x7F) << (7 * i);
    if (byte >= 0x80) continue;
    if (byte == 0 && i > 0) break;
    position_ += i + 1;
    return value;
  }
  return Unexpected(ReadError::kOverlong);
}

Result<std::string_view, ReadError> ByteReader::Sized() {
  const size_t start = position_;
  NEPHILA_TRY(const uint64_t size, Varint());
  auto bytes = Raw(size);
  if (!bytes.has_value()) position_ = start;
  return bytes;
}

Result<std::string_view, ReadError> ByteReader::Raw(uint64_t size) {
  if (remaining() < size) return Unexpected(ReadError::kTruncated);
  const auto bytes = bytes_.substr(position_, static_cast<size_t>(size));
  position_ += bytes.size();
  return bytes;
}

void AppendFrame(std::string& out, std::string_view payload, uint64_t salt) {
  AppendFrameHeader(out, payload, salt);
  out.append(payload);
}

void SealFrame(char* frame, size_t payload_bytes, uint64_t salt) {
  std::string header;
  AppendFrameHeader(header, {frame + kFrameHeaderBytes, payload_bytes}, salt);
  std::copy(header.begin(), header.end(), frame);
}

Result<std::string_view, FrameError> ReadFrame(ByteReader& reader,
                                               uint64_t salt,
                                               uint32_t max_payload) {
  if (reader.AtEnd()) return Unexpected(FrameError::kEnd);
  if (reader.remaining() < kFrameHeaderBytes) {
    return Unexpected(FrameError::kTruncated);
  }
  // On a copy, so that a broken frame leaves the reader before it.
  ByteReader ahead = reader;
  const uint32_t length = *ahead.U32();
  const uint32_t head = *ahead.U32();
  const uint32_t body = *ahead.U32();
  if (head != FrameHead(salt, length) || length > max_payload) {
    return Unexpected(FrameError::kCorrupt);
  }
  const auto payload = ahead.Raw(length);
  if (!payload.has_value()) return Unexpected(FrameError::kTruncated);
  if (ExtendCrc32c(head, *payload) != body) {
    return Unexpected(FrameError::kCorrupt);
  }
  reader = ahead;
  return *payload;
}

}  // namespace nephila
