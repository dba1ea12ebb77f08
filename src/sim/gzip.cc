#include "sim/gzip.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <array>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::sim {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
// Magic, deflate, no flags, no time, no extra flags, unknown system (RFC 1952).
constexpr std::string_view kHead("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);

uint8_t* Bytes(const char* text) {
  // ISA-L reads through pointers that are not const.
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text));
}

const std::string& Zeros() {
  static const std::string kZeros(kPiece, '\0');
  return kZeros;
}

// 1 MiB of zeros as deflate blocks that end at a byte and are not the last.
const std::string& PackedZeros() {
  static const std::string kPacked = [] {
    std::vector<uint8_t> level_buffer(ISAL_DEF_LVL1_DEFAULT);
    isal_zstream stream{};
    isal_deflate_init(&stream);
    stream.level = 1;
    stream.level_buf = level_buffer.data();
    stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
    stream.flush = FULL_FLUSH;
    stream.next_in = Bytes(Zeros().data());
    stream.avail_in = static_cast<uint32_t>(kPiece);
    std::string packed(size_t{1} << 16, '\0');
    stream.next_out = Bytes(packed.data());
    stream.avail_out = static_cast<uint32_t>(packed.size());
    NEPHILA_CHECK(isal_deflate(&stream) == COMP_OK && stream.avail_in == 0);
    packed.resize(stream.total_out);
    return packed;
  }();
  return kPacked;
}

}  // namespace

struct Gzip::State {
  std::array<uint8_t, ISAL_DEF_LVL1_DEFAULT> level_buffer;
  isal_zstream stream;
};

Gzip::Gzip() : state_(std::make_unique<State>()) {}
Gzip::~Gzip() = default;

void Gzip::Append(std::string_view bytes, std::string* out) {
  isal_zstream& stream = state_->stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = state_->level_buffer.data();
  stream.level_buf_size = static_cast<uint32_t>(state_->level_buffer.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = Bytes(bytes.data());
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  const size_t begin = out->size();
  // Stored blocks are the worst: 5 bytes for each 64 KiB, and head and tail.
  out->resize(begin + bytes.size() + bytes.size() / 1024 + 512);
  stream.next_out = Bytes(out->data() + begin);
  stream.avail_out = static_cast<uint32_t>(out->size() - begin);
  NEPHILA_CHECK(isal_deflate_stateless(&stream) == COMP_OK);
  out->resize(begin + stream.total_out);
}

GzipBomb::GzipBomb(uint64_t bytes) : left_((bytes + kPiece - 1) / kPiece) {}

bool GzipBomb::Next(std::string* out) {
  if (done_ == 0) out->append(kHead);
  if (left_ > 0) {
    --left_;
    ++done_;
    crc_ = crc32_gzip_refl(crc_, Bytes(Zeros().data()), kPiece);
    out->append(PackedZeros());
    return true;
  }
  // An empty last block (fixed codes, end of block), then CRC and length.
  out->append("\x03\x00", 2);
  ByteWriter writer(*out);
  writer.U32(crc_);
  writer.U32(static_cast<uint32_t>(done_ * kPiece));
  return false;
}

}  // namespace nephila::sim
