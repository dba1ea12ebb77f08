#include "bench/bench_coding.h"

#include <fmt/core.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/cpu_time.h"
#include "bench/html_corpus.h"
#include "coding/content_decoder.h"

namespace nephila::bench {
namespace {

constexpr size_t kPageBytes = 21'000;
constexpr size_t kMostPages = 500;

Bytef* BytesOf(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

std::string Pack(std::string_view page) {
  z_stream stream{};
  NEPHILA_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                             Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, page.size()) + 32, '\0');
  stream.next_in = BytesOf(page);
  stream.avail_in = static_cast<uInt>(page.size());
  stream.next_out = BytesOf(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  NEPHILA_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Each undoes one page and returns how long it is.
using Decoder = std::function<size_t(std::string_view packed)>;

Decoder Ours(size_t step) {
  auto decoder = std::make_shared<coding::ContentDecoder>();
  auto page = std::make_shared<std::string>();
  return [decoder, page, step](std::string_view packed) {
    page->clear();
    auto sink = [&](std::string_view piece) { page->append(piece); };
    decoder->Begin("gzip");
    for (size_t at = 0; at < packed.size(); at += step) {
      decoder->Feed(packed.substr(at, step), sink);
    }
    NEPHILA_CHECK(decoder->Finish(sink) == coding::DecodeState::kWhole);
    return page->size();
  };
}

Decoder Zlib() {
  auto stream = std::shared_ptr<z_stream>(new z_stream{}, [](z_stream* s) {
    inflateEnd(s);
    delete s;
  });
  NEPHILA_CHECK(inflateInit2(stream.get(), MAX_WBITS + 16) == Z_OK);
  auto page = std::make_shared<std::string>(2 * kPageBytes, '\0');
  return [stream, page](std::string_view packed) {
    inflateReset(stream.get());
    stream->next_in = BytesOf(packed);
    stream->avail_in = static_cast<uInt>(packed.size());
    stream->next_out = BytesOf(*page);
    stream->avail_out = static_cast<uInt>(page->size());
    NEPHILA_CHECK(inflate(stream.get(), Z_NO_FLUSH) == Z_STREAM_END);
    return static_cast<size_t>(stream->total_out);
  };
}

Decoder Libdeflate() {
  auto decompressor = std::shared_ptr<libdeflate_decompressor>(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  auto page = std::make_shared<std::string>(2 * kPageBytes, '\0');
  return [decompressor, page](std::string_view packed) {
    size_t size = 0;
    NEPHILA_CHECK(libdeflate_gzip_decompress(
                      decompressor.get(), packed.data(), packed.size(),
                      page->data(), page->size(), &size) == LIBDEFLATE_SUCCESS);
    return size;
  };
}

double MicrosPerPage(const Decoder& decoder,
                     const std::vector<std::string>& pages, int passes) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < passes; ++i) {
    const double begin = ThreadCpuSeconds();
    for (const std::string& page : pages) {
      NEPHILA_CHECK(decoder(page) == kPageBytes);
    }
    best = std::min(best, ThreadCpuSeconds() - begin);
  }
  return best * 1e6 / static_cast<double>(pages.size());
}

}  // namespace

Status RunBenchCoding(const BenchCodingOptions& options, std::ostream& out) {
  NEPHILA_TRY(const HtmlCorpus corpus, LoadHtml(options.corpus, /*all=*/false));
  std::vector<std::string> packed;
  packed.reserve(kMostPages);
  size_t packed_bytes = 0;
  for (const HtmlFile& file : corpus.pages) {
    const std::string_view bytes = file.bytes;
    // One of each, so that large pages are not most of them.
    if (bytes.size() < kPageBytes || packed.size() == kMostPages) continue;
    packed.push_back(Pack(bytes.substr(0, kPageBytes)));
    packed_bytes += packed.back().size();
  }
  const double ratio = static_cast<double>(packed.size() * kPageBytes) /
                       static_cast<double>(std::max<size_t>(1, packed_bytes));
  if (!options.json) {
    out << fmt::format("{} pages of 21 KB of {}, gzip 1:{:.1f}\n",
                       packed.size(), corpus.source, ratio);
  }
  constexpr size_t kSegment = 1'400;  // what a network brings at once
  const std::pair<const char*, Decoder> kDecoders[] = {
      {"nephila", Ours(std::numeric_limits<size_t>::max() / 2)},
      {"nephila, in segments", Ours(kSegment)},
      {"zlib", Zlib()},
      {"libdeflate", Libdeflate()}};
  for (const auto& [name, decoder] : kDecoders) {
    const double micros = MicrosPerPage(decoder, packed, options.passes);
    if (options.json) {
      nlohmann::ordered_json line;
      line["bench"] = "coding";
      line["decoder"] = name;
      line["source"] = corpus.source;
      line["pages"] = packed.size();
      line["ratio"] = ratio;
      line["us_per_page"] = micros;
      out << line.dump() << '\n';
    } else {
      out << fmt::format("{:<21} {:6.1f} us a page\n", name, micros);
    }
  }
  return {};
}

}  // namespace nephila::bench
