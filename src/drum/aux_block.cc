#include "drum/aux_block.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace nephila::drum {
namespace {

constexpr size_t kBucketBytes = 2;
// A codec and three varints.
constexpr size_t kMaxHeaderBytes = 1 + 3 * 10;

Unexpected<Error> Corrupt(std::string_view message) {
  return Unexpected(
      Error{ErrorCode::kCorruption, "aux block: " + std::string(message)});
}

std::string Header(Codec codec, uint64_t records, uint64_t lengths_bytes,
                   uint64_t text_bytes) {
  std::string header;
  ByteWriter writer(header);
  writer.U8(static_cast<uint8_t>(codec));
  writer.Varint(records);
  writer.Varint(lengths_bytes);
  writer.Varint(text_bytes);
  return header;
}

// What stands before the body, believed as far as sizes go.
struct Head {
  Codec codec;
  uint32_t records;
  uint64_t lengths_bytes;
  uint64_t text_bytes;
  std::string_view buckets;

  uint64_t body_bytes() const { return lengths_bytes + text_bytes; }
};

std::optional<Head> ReadHead(ByteReader& reader, bool has_buckets,
                             uint64_t max_raw_bytes) {
  auto codec_byte = reader.U8();
  auto records = reader.Varint();
  auto lengths_bytes = reader.Varint();
  auto text_bytes = reader.Varint();
  if (!codec_byte || !records || !lengths_bytes || !text_bytes) {
    return std::nullopt;
  }
  const std::optional<Codec> codec = CodecFromByte(*codec_byte);
  if (!codec.has_value()) return std::nullopt;
  // In this order no sum and no product overflows. A length takes a byte, so
  // there are no more records than bytes of them.
  if (*lengths_bytes > max_raw_bytes || *records > *lengths_bytes ||
      *text_bytes > max_raw_bytes - *lengths_bytes) {
    return std::nullopt;
  }
  const uint64_t buckets_bytes = has_buckets ? *records * kBucketBytes : 0;
  if (buckets_bytes > max_raw_bytes - *lengths_bytes - *text_bytes) {
    return std::nullopt;
  }
  auto buckets = reader.Raw(buckets_bytes);
  if (!buckets) return std::nullopt;
  return Head{*codec, static_cast<uint32_t>(*records), *lengths_bytes,
              *text_bytes, *buckets};
}

// Whether `lengths` are exactly that many varints as Add writes them, and
// together the text.
bool LengthsFit(std::string_view lengths, uint32_t records,
                uint64_t text_bytes) {
  const auto* at = reinterpret_cast<const unsigned char*>(lengths.data());
  const auto* const end = at + lengths.size();
  uint64_t sum = 0;
  uint64_t found = 0;
  for (; at != end; ++found) {
    uint64_t length = *at++;
    if (length >= 0x80) {
      length &= 0x7F;
      for (int shift = 7;; shift += 7) {
        // Five bytes hold any size of a block; a last byte of 0 is overlong.
        if (at == end || shift > 28) return false;
        const uint64_t byte = *at++;
        length |= (byte & 0x7F) << shift;
        if (byte >= 0x80) continue;
        if (byte == 0) return false;
        break;
      }
    }
    // No overflow: below 2^32 lengths of below 2^35.
    sum += length;
  }
  return found == records && sum == text_bytes;
}

}  // namespace

void AuxBlockBuilder::Clear() {
  records_ = 0;
  lengths_.clear();
  text_.clear();
  buckets_.clear();
}

size_t AuxBlockBuilder::Encode(Codec codec, Compressor& compressor,
                               BlockBuffer& out) const {
  const size_t body_bytes = lengths_.size() + text_.size();
  out.Reserve(kMaxHeaderBytes + buckets_.size() + compressor.Bound(body_bytes));
  const std::string header =
      Header(codec, records_, lengths_.size(), text_.size());
  char* at = std::copy(header.begin(), header.end(), out.payload());
  at = std::copy(buckets_.begin(), buckets_.end(), at);
  const auto before = static_cast<size_t>(at - out.payload());
  if (codec != Codec::kNone) {
    std::string& body = compressor.scratch();
    body.assign(lengths_).append(text_);
    auto bytes =
        compressor.Compress(codec, body, at, out.payload_capacity() - before);
    if (bytes.has_value() && *bytes < body_bytes) return before + *bytes;
    IgnoreError(bytes, "whatever kept it from shrinking, it is stored plain");
    *out.payload() = static_cast<char>(Codec::kNone);
  }
  at = std::copy(lengths_.begin(), lengths_.end(), at);
  std::copy(text_.begin(), text_.end(), at);
  return before + body_bytes;
}

void AuxBlockBuilder::AppendRecordsFrom(size_t first_record,
                                        std::string& out) const {
  NEPHILA_CHECK(first_record <= records_);
  ByteReader before(lengths_);
  uint64_t text_before = 0;
  for (size_t i = 0; i < first_record; ++i) text_before += *before.Varint();
  const auto lengths = std::string_view(lengths_).substr(before.position());
  const auto text = std::string_view(text_).substr(text_before);
  out.append(Header(Codec::kNone, records_ - first_record, lengths.size(),
                    text.size()));
  if (log_buckets_) {
    out.append(std::string_view(buckets_).substr(first_record * kBucketBytes));
  }
  out.append(lengths).append(text);
}

Status AuxBlockBuilder::AddSpilled(ByteReader& reader) {
  // What is here is never copied beyond what the reader holds.
  const auto head =
      ReadHead(reader, log_buckets_, std::numeric_limits<uint32_t>::max());
  if (!head.has_value() || head->codec != Codec::kNone) {
    return Corrupt("no spilled records");
  }
  auto body = reader.Raw(head->body_bytes());
  if (!body) return Corrupt("spilled records cut short");
  const std::string_view lengths = body->substr(0, head->lengths_bytes);
  if (!LengthsFit(lengths, head->records, head->text_bytes)) {
    return Corrupt("lengths of spilled records do not fit");
  }
  records_ += head->records;
  lengths_.append(lengths);
  text_.append(body->substr(head->lengths_bytes));
  buckets_.append(head->buckets);
  return {};
}

void AuxBlockReader::Reset() {
  records_ = 0;
  left_ = 0;
}

Status AuxBlockReader::Open(std::string_view payload, bool has_buckets,
                            Decompressor& decompressor,
                            uint32_t max_raw_bytes) {
  Reset();
  ByteReader reader(payload);
  const auto head = ReadHead(reader, has_buckets, max_raw_bytes);
  if (!head.has_value()) return Corrupt("sizes that no block has");
  std::string_view body = *reader.Raw(reader.remaining());
  if (head->codec != Codec::kNone) {
    // Never shrunk: filling it with zeros again would cost more than a copy.
    if (body_.size() < head->body_bytes()) body_.resize(head->body_bytes());
    auto status = decompressor.Decompress(head->codec, body, body_.data(),
                                          head->body_bytes());
    if (!status) return Corrupt(status.error().message);
    body = std::string_view(body_).substr(0, head->body_bytes());
  }
  if (body.size() != head->body_bytes()) return Corrupt("body of another size");
  const std::string_view lengths = body.substr(0, head->lengths_bytes);
  if (!LengthsFit(lengths, head->records, head->text_bytes)) {
    return Corrupt("lengths do not fit");
  }
  records_ = head->records;
  left_ = head->records;
  length_ = reinterpret_cast<const unsigned char*>(lengths.data());
  bucket_ = has_buckets
                ? reinterpret_cast<const unsigned char*>(head->buckets.data())
                : nullptr;
  text_ = body.data() + head->lengths_bytes;
  return {};
}

}  // namespace nephila::drum
