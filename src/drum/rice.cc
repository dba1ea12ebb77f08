#include "drum/rice.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"

namespace nephila::drum {
namespace {

uint64_t FromLittleEndian(uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) {
    return __builtin_bswap64(word);
  }
  return word;
}

uint64_t LoadWord(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return FromLittleEndian(word);
}

// The word that begins at `offset`, with zeros for what is behind the end.
uint64_t LoadWordWithin(std::string_view bytes, size_t offset) {
  uint64_t word = 0;
  if (offset < bytes.size()) {
    std::memcpy(&word, bytes.data() + offset,
                std::min(sizeof(word), bytes.size() - offset));
  }
  return FromLittleEndian(word);
}

// Fills a row of bits; the room for it is there already.
class RowWriter {
 public:
  explicit RowWriter(char* out) : out_(out) {}

  // REQUIRES: value below 2^bits, bits below 64.
  void Put(uint64_t value, unsigned bits) {
    word_ |= value << used_;
    used_ += bits;
    if (used_ < 64) return;
    Store(sizeof(word_));
    used_ -= 64;
    // A shift by all 64 is none in C++: if used_ is 0, nothing is left.
    word_ = used_ == 0 ? 0 : value >> (bits - used_);
  }
  void Finish() { Store((used_ + 7) / 8); }

 private:
  void Store(size_t bytes) {
    const uint64_t word = FromLittleEndian(word_);
    std::memcpy(out_, &word, bytes);
    out_ += bytes;
  }

  char* out_;
  uint64_t word_ = 0;
  unsigned used_ = 0;
};

constexpr uint64_t BytesOf(uint64_t bits) { return (bits + 7) / 8; }

// The head of a code, read and believed as far as sizes go.
struct Head {
  unsigned parameter;
  std::string_view escapes;
  size_t bytes;
};

std::optional<Head> ReadHead(std::string_view bytes) {
  ByteReader reader(bytes);
  const auto parameter = reader.U8();
  if (!parameter.has_value() || *parameter > kMaxRiceParameter) return {};
  const auto escapes = reader.Varint();
  if (!escapes.has_value() || *escapes > reader.remaining() / 8) return {};
  const auto values = reader.Raw(*escapes * 8);
  if (!values.has_value()) return {};
  return Head{*parameter, *values, reader.position()};
}

// Walks the row of quotients, and keeps the state of a decoding.
class Decoder {
 public:
  Decoder(const Head& head, std::string_view remainders,
          std::string_view quotients, uint64_t first_key)
      : parameter_(head.parameter),
        mask_((uint64_t{1} << head.parameter) - 1),
        escapes_(head.escapes),
        remainders_(remainders),
        quotients_(quotients),
        key_(first_key) {}

  // Decodes keys [begin, end) of `keys`. With kInside their remainders can be
  // loaded without a look at the end of the bytes.
  template <bool kInside>
  bool Fill(std::span<uint64_t> keys, size_t begin, size_t end) {
    // Members are copied: a store through `keys` could otherwise change them,
    // for all that the compiler knows.
    uint64_t word = word_;
    uint64_t word_bit = word_bit_;
    uint64_t next_bit = next_bit_;
    uint64_t key = key_;
    uint64_t remainder_bit = (begin - 1) * parameter_;
    const unsigned parameter = parameter_;
    const uint64_t mask = mask_;
    const char* remainders = remainders_.data();
    bool wrapped = false;
    for (size_t i = begin; i < end; ++i) {
      while (word == 0) {
        word_bit += 64;
        if (word_bit / 8 >= quotients_.size()) return false;
        word = LoadWordWithin(quotients_, word_bit / 8);
      }
      const uint64_t bit =
          word_bit + static_cast<uint64_t>(std::countr_zero(word));
      word &= word - 1;
      uint64_t quotient = bit - next_bit;
      next_bit = bit + 1;
      if (quotient >= kRiceEscape) [[unlikely]] {
        if (!TakeEscape(quotient)) return false;
      }
      const uint64_t load =
          kInside ? LoadWord(remainders + remainder_bit / 8)
                  : LoadWordWithin(remainders_, remainder_bit / 8);
      const uint64_t remainder = (load >> (remainder_bit % 8)) & mask;
      remainder_bit += parameter;
      const uint64_t next = key + ((quotient << parameter) + remainder + 1);
      wrapped |= next <= key;
      key = next;
      keys[i] = key;
    }
    word_ = word;
    word_bit_ = word_bit;
    next_bit_ = next_bit;
    key_ = key;
    return !wrapped;
  }

  void Start() { word_ = LoadWordWithin(quotients_, 0); }
  // Whether all escapes were taken.
  bool Ended() const { return escapes_.empty(); }
  uint64_t quotient_bytes() const { return BytesOf(next_bit_); }

 private:
  // Not inlined: the loop is to stay small.
  [[gnu::noinline]] bool TakeEscape(uint64_t& quotient) {
    if (quotient != kRiceEscape || escapes_.empty()) return false;
    quotient = LoadWord(escapes_.data());
    escapes_.remove_prefix(8);
    // One spelling for a gap; and the shift must not lose bits.
    return quotient >= kRiceEscape &&
           quotient <= std::numeric_limits<uint64_t>::max() >> parameter_;
  }

  const unsigned parameter_;
  const uint64_t mask_;
  std::string_view escapes_;
  const std::string_view remainders_;  // reaches to the end of all bytes
  const std::string_view quotients_;
  uint64_t word_ = 0;      // bits of the row that are yet to be taken
  uint64_t word_bit_ = 0;  // where its first bit is in the row
  uint64_t next_bit_ = 0;  // where the next quotient begins
  uint64_t key_;
};

}  // namespace

unsigned RiceParameter(uint64_t sum, uint64_t gaps) {
  if (gaps == 0) return 0;
  // For geometric gaps one more bit pays while 2^parameter is below
  // ln(golden ratio) times the mean (Kiely 2004); 0.5 corrects for whole
  // numbers to the first order.
  const double mean = static_cast<double>(sum) / static_cast<double>(gaps);
  const double wanted = 0.48121182505960345 * (mean - 0.5);
  unsigned parameter = 0;
  double power = 1;
  while (power < wanted && parameter < kMaxRiceParameter) {
    power *= 2;
    ++parameter;
  }
  return parameter;
}

void RiceEncode(std::span<const uint64_t> keys, unsigned parameter,
                std::string& out) {
  NEPHILA_CHECK(!keys.empty() && keys.size() < size_t{1} << 21);
  NEPHILA_CHECK(parameter <= kMaxRiceParameter);
  std::string escapes;
  uint64_t quotient_bits = 0;
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t quotient = (keys[i] - keys[i - 1] - 1) >> parameter;
    quotient_bits += std::min(quotient, kRiceEscape) + 1;
    if (quotient >= kRiceEscape) [[unlikely]] {
      ByteWriter(escapes).U64(quotient);
    }
  }
  ByteWriter writer(out);
  writer.U8(static_cast<uint8_t>(parameter));
  writer.Varint(escapes.size() / 8);
  writer.Raw(escapes);
  const size_t begin = out.size();
  const uint64_t remainder_bytes = BytesOf((keys.size() - 1) * parameter);
  out.resize(begin + remainder_bytes + BytesOf(quotient_bits));
  RowWriter remainders(out.data() + begin);
  RowWriter quotients(out.data() + begin + remainder_bytes);
  const uint64_t mask = (uint64_t{1} << parameter) - 1;
  for (size_t i = 1; i < keys.size(); ++i) {
    const uint64_t gap = keys[i] - keys[i - 1] - 1;
    const auto unary =
        static_cast<unsigned>(std::min(gap >> parameter, kRiceEscape));
    remainders.Put(gap & mask, parameter);
    quotients.Put(uint64_t{1} << unary, unary + 1);
  }
  remainders.Finish();
  quotients.Finish();
}

std::optional<size_t> RiceDecode(std::string_view bytes,
                                 std::span<uint64_t> keys) {
  NEPHILA_CHECK(!keys.empty() && keys.size() < size_t{1} << 21);
  const auto head = ReadHead(bytes);
  if (!head.has_value()) return {};
  const std::string_view rows = bytes.substr(head->bytes);
  const size_t gaps = keys.size() - 1;
  const uint64_t remainder_bytes = BytesOf(gaps * head->parameter);
  if (remainder_bytes > rows.size()) return {};
  const std::string_view quotients = rows.substr(remainder_bytes);
  // Every quotient has its bit: hostile counts end here.
  if (gaps > quotients.size() * 8) return {};
  Decoder decoder(*head, rows, quotients, keys.front());
  decoder.Start();
  // Remainder i begins in byte i * parameter / 8 and is loaded as 8 bytes; for
  // those below `inside` all 8 are there.
  size_t inside = 0;
  if (rows.size() >= 8) {
    inside = head->parameter == 0
                 ? gaps
                 : std::min<uint64_t>(
                       gaps, ((rows.size() - 8) * 8 + 7) / head->parameter + 1);
  }
  if (!decoder.Fill<true>(keys, 1, 1 + inside)) return {};
  if (!decoder.Fill<false>(keys, 1 + inside, keys.size())) return {};
  if (!decoder.Ended() || decoder.quotient_bytes() > quotients.size()) {
    return {};
  }
  return head->bytes + remainder_bytes + decoder.quotient_bytes();
}

}  // namespace nephila::drum
