#include "store/store_testing.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/file_testing.h"
#include "base/random.h"
#include "store/archive_name.h"
#include "store/digest.h"
#include "store/warc_reader.h"

namespace nephila::store {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

std::string BlockOf(WarcReader& reader) {
  std::string block;
  for (;;) {
    const std::string_view piece = Must(reader.ReadBlock());
    if (piece.empty()) return block;
    block += piece;
  }
}

void CheckDigest(const ReadRecord& record, const std::string& path) {
  const std::string_view claim = record.header.block_digest();
  const DigestKind kind =
      claim.starts_with("sha256:") ? DigestKind::kSha256 : DigestKind::kSha1;
  EXPECT_EQ(claim, DigestOf(kind, record.block).Text())
      << path << " at " << record.offset;
}

}  // namespace

std::vector<ReadRecord> ReadArchive(FileSystem& fs, const std::string& path) {
  const auto reader = Must(WarcReader::Open(fs, path));
  std::vector<ReadRecord> records;
  while (Must(reader->Next()) == ReadState::kRecord) {
    ReadRecord record;
    record.header = reader->header();
    record.block = BlockOf(*reader);
    if (Must(reader->Finish()) != ReadState::kRecord) break;
    record.offset = reader->offset();
    record.length = reader->length();
    EXPECT_TRUE(reader->proper_end());
    EXPECT_FALSE(reader->shares_member());
    CheckDigest(record, path);
    records.push_back(std::move(record));
  }
  EXPECT_EQ(Must(reader->Next()), ReadState::kEnd) << reader->damage();
  return records;
}

std::vector<std::string> ArchivePaths(FileSystem& fs, const std::string& folder,
                                      std::string_view prefix) {
  std::vector<ArchiveName> names;
  for (const DirEntry& entry : Must(fs.List(folder))) {
    if (auto name = ParseArchiveName(prefix, entry.name)) {
      names.push_back(*name);
    }
  }
  std::ranges::sort(names, {}, &ArchiveName::serial);
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const ArchiveName& name : names) {
    paths.push_back(folder + "/" + name.Text());
  }
  return paths;
}

std::vector<CdxjLine> CheckIndex(FileSystem& fs, const std::string& archive) {
  const size_t suffix = archive.rfind(".warc.");
  const std::string text = Must(ReadWholeFile(
      fs, archive.substr(0, suffix) + std::string(kIndexSuffix), kMostBytes));
  std::vector<std::string> texts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    texts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  EXPECT_TRUE(std::ranges::is_sorted(texts));
  const auto reader = Must(WarcReader::Open(fs, archive));
  std::vector<CdxjLine> lines;
  for (const std::string& line_text : texts) {
    const auto line = ParseCdxj(line_text);
    EXPECT_TRUE(line.has_value()) << line_text;
    reader->Seek(line->offset.value_or(0));
    EXPECT_EQ(Must(reader->Next()), ReadState::kRecord) << line_text;
    EXPECT_EQ(reader->header().target_uri(), line->url);
    EXPECT_EQ(Must(reader->Finish()), ReadState::kRecord);
    EXPECT_EQ(reader->length(), line->length.value_or(0)) << line_text;
    EXPECT_EQ(archive, ParentDir(archive) + "/" + line->filename);
    lines.push_back(*line);
  }
  size_t wanted = 0;
  for (const ReadRecord& record : ReadArchive(fs, archive)) {
    const RecordType type = record.header.type();
    wanted += type == RecordType::kResponse || type == RecordType::kRevisit ||
                      type == RecordType::kResource
                  ? 1
                  : 0;
  }
  EXPECT_EQ(lines.size(), wanted);
  return lines;
}

std::string Gunzip(std::string_view packed) {
  std::string text;
  while (!packed.empty()) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    std::array<char, 32768> out{};
    int result = Z_OK;
    while (result == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = out.size();
      result = inflate(&stream, Z_NO_FLUSH);
      text.append(out.data(), out.size() - stream.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    packed.remove_prefix(packed.size() - stream.avail_in);
    inflateEnd(&stream);
    if (result != Z_STREAM_END) break;
  }
  return text;
}

std::string Unzstd(std::string_view packed) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(
      ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::string text;
  std::array<char, 32768> out{};
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  size_t left = 0;
  do {
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    left = ZSTD_decompressStream(context.get(), &output, &input);
    EXPECT_EQ(ZSTD_isError(left), 0U) << ZSTD_getErrorName(left);
    if (ZSTD_isError(left) != 0U) break;
    text.append(out.data(), output.pos);
  } while (input.pos < input.size);
  EXPECT_EQ(left, 0U);
  return text;
}

std::string Noise(size_t count, uint64_t seed) {
  Random random(seed);
  std::string noise(count, '\0');
  for (char& c : noise) c = static_cast<char>(random.Next());
  return noise;
}

TestPage::TestPage(std::string url, std::string body) : url_(std::move(url)) {
  page.outcome = item::FetchOutcome::kResponse;
  page.url = url_;
  page.begin = WallTime(std::chrono::nanoseconds(1'767'323'045'678'901'234));
  page.duration = std::chrono::milliseconds(123);
  page.ip_address = "192.0.2.7";
  request_ = "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n";
  page.request = request_;
  SetHead("HTTP/1.1 200 OK\nContent-Type: text/html\n");
  std::vector<std::string> pieces;
  pieces.push_back(std::move(body));
  SetBody(std::move(pieces));
}

void TestPage::SetHead(std::string_view lines) {
  head_.clear();
  for (const char c : lines) {
    if (c == '\n') head_ += '\r';
    head_ += c;
  }
  head_ += "\r\n";
  page.response_head = head_;
}

void TestPage::SetBody(std::vector<std::string> pieces) {
  body_ = std::move(pieces);
  pieces_.assign(body_.begin(), body_.end());
  page.body = pieces_;
}

}  // namespace nephila::store
