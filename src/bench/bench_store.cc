#include "bench/bench_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <vector>

#include "base/cpu_time.h"
#include "bench/html_corpus.h"
#include "store/compressor.h"
#include "store/digest.h"
#include "store/warc_record.h"

namespace nephila::bench {
namespace {

constexpr size_t kSmallestPage = 10'000;
constexpr size_t kLargestPage = 48'000;
// The unit of "CPU per record": the mean HTML page of IRLbot's crawl.
constexpr double kRecordBytes = 21e3;

// As a server of today sends it.
constexpr std::string_view kHttpHead =
    "HTTP/1.1 200 OK\r\n"
    "Date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
    "Content-Type: text/html; charset=utf-8\r\n"
    "Connection: keep-alive\r\n"
    "Vary: Accept-Encoding\r\n"
    "Cache-Control: max-age=600, public\r\n"
    "Strict-Transport-Security: max-age=31536000; includeSubDomains\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Server: cloudflare\r\n\r\n";

struct Candidate {
  std::string name;
  int level;
  std::unique_ptr<store::Compressor> compressor;  // null: the digests alone
  bool digests = true;
  double best_seconds = std::numeric_limits<double>::infinity();
  uint64_t packed_bytes = 0;
};

std::vector<Candidate> MakeCandidates() {
  using store::CompressorKind;
  struct Choice {
    CompressorKind kind;
    std::string_view name;
    std::vector<int> levels;
  };
  const Choice choices[] = {
      {CompressorKind::kZlib, "zlib", {1, 6}},
      {CompressorKind::kLibdeflate, "libdeflate", {1, 3, 6}},
      {CompressorKind::kIsal, "isal", {0, 1, 2, 3}},
      {CompressorKind::kZstd, "zstd", {1, 3, 6}},
  };
  std::vector<Candidate> candidates;
  candidates.push_back({"digests alone", 0, nullptr});
  for (const Choice& choice : choices) {
    for (const int level : choice.levels) {
      candidates.push_back({std::string(choice.name), level,
                            store::MakeCompressor(choice.kind, level)});
    }
  }
  // What the default costs without its digests.
  const int level = store::DefaultLevel(CompressorKind::kIsal);
  candidates.push_back({"isal without digests", level,
                        store::MakeCompressor(CompressorKind::kIsal, level),
                        false});
  return candidates;
}

class RecordMaker {
 public:
  // Appends the record to `out`.
  void Make(std::string_view page, Candidate& candidate, std::string* out) {
    std::string block = "sha1:TN3WAYLTYUZE7L4TR2Y6OXFZV5A7ZJRC";
    std::string payload = block;
    if (candidate.digests) {
      digester_.Begin();
      digester_.AddToBlock(kHttpHead);
      digester_.AddToBoth(page);
      const auto digests = digester_.End();
      block = digests.block.Text();
      payload = digests.payload.Text();
    }
    if (candidate.compressor == nullptr) return;
    FormatHeader(page.size(), block, payload);
    const uint64_t total = header_text_.size() + kHttpHead.size() +
                           page.size() + store::kRecordEnd.size();
    store::Compressor& compressor = *candidate.compressor;
    compressor.Begin(total, out);
    for (const std::string_view piece :
         {std::string_view(header_text_), kHttpHead, page, store::kRecordEnd}) {
      compressor.Add(piece, store::Effort::kCompress);
    }
    compressor.End();
  }

 private:
  void FormatHeader(size_t page_bytes, std::string_view block,
                    std::string_view payload) {
    header_.Reset("1.1");
    header_.Add("WARC-Type", "response");
    header_.Add(
        "WARC-Record-ID",
        fmt::format("<urn:uuid:00000000-0000-4000-8000-{:012x}>", ++records_));
    header_.Add("WARC-Date", "2026-01-01T00:00:00.000000Z");
    header_.Add("WARC-Target-URI", "https://www.example.com/some/page.html");
    header_.Add("WARC-IP-Address", "192.0.2.1");
    header_.Add("WARC-Warcinfo-ID",
                "<urn:uuid:11111111-2222-4333-8444-555555555555>");
    header_.Add("WARC-Block-Digest", block);
    header_.Add("WARC-Payload-Digest", payload);
    header_.Add("WARC-Identified-Payload-Type", "text/html");
    header_.Add("Content-Type", "application/http; msgtype=response");
    header_.Add("Content-Length",
                std::to_string(kHttpHead.size() + page_bytes));
    header_text_.clear();
    header_.AppendTo(header_text_);
  }

  store::BlockDigester digester_{store::DigestKind::kSha1};
  store::WarcHeader header_;
  std::string header_text_;
  uint64_t records_ = 0;
};

void RunPass(const std::vector<HtmlFile>& pages, Candidate* candidate) {
  RecordMaker maker;
  std::string out;
  uint64_t packed = 0;
  const double begin = ThreadCpuSeconds();
  for (const HtmlFile& page : pages) {
    out.clear();
    maker.Make(page.bytes, *candidate, &out);
    packed += out.size();
  }
  candidate->best_seconds =
      std::min(candidate->best_seconds, ThreadCpuSeconds() - begin);
  candidate->packed_bytes = packed;
}

}  // namespace

Status RunBenchStore(const BenchStoreOptions& options, std::ostream& out) {
  NEPHILA_TRY(HtmlCorpus corpus, LoadHtml(options.corpus, false));
  std::erase_if(corpus.pages, [](const HtmlFile& page) {
    return page.bytes.size() < kSmallestPage ||
           page.bytes.size() > kLargestPage;
  });
  if (corpus.pages.empty()) {
    return Unexpected(Error{ErrorCode::kInvalidArgument,
                            options.corpus + ": no page of 10 to 48 KB"});
  }
  std::vector<Candidate> candidates = MakeCandidates();
  for (int pass = 0; pass < options.passes; ++pass) {
    for (Candidate& candidate : candidates) RunPass(corpus.pages, &candidate);
  }
  uint64_t bytes = 0;
  for (const HtmlFile& page : corpus.pages) {
    bytes += page.bytes.size() + kHttpHead.size();
  }
  const auto reference =
      std::ranges::find_if(candidates, [](const Candidate& candidate) {
        return candidate.name == "zlib" && candidate.level == 6;
      });
  const auto reference_bytes = static_cast<double>(reference->packed_bytes);
  if (!options.json) {
    out << fmt::format("{} pages of {} ({:.1f} KB each), both SHA-1 digests\n",
                       corpus.pages.size(), corpus.source,
                       static_cast<double>(bytes) / 1e3 /
                           static_cast<double>(corpus.pages.size()));
  }
  for (const Candidate& candidate : candidates) {
    const double mb_per_s =
        static_cast<double>(bytes) / 1e6 / candidate.best_seconds;
    const double us_per_record = kRecordBytes / mb_per_s;
    const double size =
        static_cast<double>(candidate.packed_bytes) / reference_bytes;
    if (options.json) {
      nlohmann::ordered_json line;
      line["bench"] = "store";
      line["source"] = corpus.source;
      line["pages"] = corpus.pages.size();
      line["bytes"] = bytes;
      line["compressor"] = candidate.name;
      line["level"] = candidate.level;
      line["digests"] = candidate.digests;
      line["mb_per_s"] = mb_per_s;
      line["cpu_us_per_21kb_record"] = us_per_record;
      line["packed_bytes"] = candidate.packed_bytes;
      line["size_to_zlib6"] = size;
      out << line.dump() << '\n';
    } else {
      out << fmt::format(
          "{:<22}{:>3}{:>8.0f} MB/s{:>8.1f} us a 21 KB record{:>+8.1f} %\n",
          candidate.name, candidate.level, mb_per_s, us_per_record,
          100 * (size - 1));
    }
  }
  return {};
}

}  // namespace nephila::bench
