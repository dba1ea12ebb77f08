#include "bench/text_ratio.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace nephila::bench {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
constexpr int kBucketShift = 64 - 9;

double Ratio(std::string_view text) {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(
      ZSTD_createCCtx(), &ZSTD_freeCCtx);
  std::string packed(ZSTD_compressBound(kBlock), '\0');
  size_t sum = 0;
  for (size_t begin = 0; begin < text.size(); begin += kBlock) {
    size_t size = std::min(kBlock, text.size() - begin);
    sum += ZSTD_compressCCtx(context.get(), packed.data(), packed.size(),
                             text.data() + begin, size, 1);
  }
  return static_cast<double>(sum) /
         static_cast<double>(std::max<size_t>(1, text.size()));
}

}  // namespace

Result<TextRatios> MeasureTextRatios(LinkSource* source, size_t sample_bytes,
                                     uint64_t hash_seed) {
  struct Line {
    uint32_t bucket;
    uint32_t begin;
    uint32_t size;
  };
  std::string text;
  std::vector<Line> lines;
  std::string_view link;
  while (text.size() < sample_bytes) {
    if (!source->Next(&link)) return Unexpected(source->status().error());
    auto bucket =
        static_cast<uint32_t>(KeyedHash(link, hash_seed) >> kBucketShift);
    lines.push_back({bucket, static_cast<uint32_t>(text.size()),
                     static_cast<uint32_t>(link.size() + 1)});
    text.append(link).append("\n");
  }
  std::stable_sort(
      lines.begin(), lines.end(),
      [](const Line& a, const Line& b) { return a.bucket < b.bucket; });
  std::string by_bucket;
  by_bucket.reserve(text.size());
  for (const Line& line : lines) by_bucket.append(text, line.begin, line.size);
  return TextRatios{Ratio(text), Ratio(by_bucket)};
}

}  // namespace nephila::bench
