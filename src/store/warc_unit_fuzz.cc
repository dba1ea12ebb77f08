// Whatever a server sends: the records of a fetch are read again as they were
// written, one fetch after the other, and the index leads to them. The first
// byte has flags, the next two say where the head ends; the rest is head, body
// and what else comes from the web.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "base/memory_file_system.h"
#include "store/archive_scan.h"
#include "store/unit_maker.h"
#include "store/warc_reader.h"
#include "store/warc_writer.h"

namespace nephila::store {
namespace {

item::FetchedPage PageOf(uint8_t flags, std::string_view head,
                         std::span<const std::string_view> body) {
  item::FetchedPage page;
  page.outcome = item::FetchOutcome::kResponse;
  page.url = (flags & 1) != 0 ? head : "http://example.com/";
  page.via = head;
  page.cipher_suite = head;
  page.request = (flags & 2) != 0 ? head : std::string_view();
  page.response_head = head;
  page.body = body;
  if ((flags & 4) != 0) page.transfer_coding = item::TransferCoding::kChunked;
  if ((flags & 8) != 0) page.truncation = item::Truncation::kLength;
  return page;
}

void Check(uint8_t flags, std::string_view head, std::string_view body) {
  MemoryFileSystem fs;
  const ManualClock clock;
  WarcWriterOptions options;
  options.folder = "a";
  if ((flags & 16) != 0) options.compressor = CompressorKind::kZstd;
  auto writer = WarcWriter::OpenAt(fs, clock, options, std::nullopt);
  NEPHILA_CHECK(writer.has_value());
  UnitMaker maker(DigestKind::kSha1);
  const std::string_view pieces[] = {body.substr(0, body.size() / 2),
                                     body.substr(body.size() / 2)};
  const item::FetchedPage page = PageOf(flags, head, pieces);
  size_t records = 0;
  std::string name;
  for (int i = 0; i < 2; ++i) {
    maker.Begin(page);
    auto place = (*writer)->Append(maker.Records(**writer, std::nullopt));
    NEPHILA_CHECK(place.has_value());
    records += place->records.size();
    name = place->filename;
  }
  const std::string path = "a/" + name + ".open";
  auto scan = ScanArchive(fs, path, name);
  NEPHILA_CHECK(scan.has_value() && scan->damage.empty());
  NEPHILA_CHECK(scan->end == (*writer)->position().offset);
  NEPHILA_CHECK(scan->index.lines() == (page.url.empty() ? 0 : 2));
  auto found = ScanFrom(fs, path, 0);
  NEPHILA_CHECK(found.has_value() && found->records == records + 1);
  NEPHILA_CHECK((*writer)->Finish().has_value());
  // The index that was written on the way is that of the archive.
  const std::string index =
      "a/" + name.substr(0, name.find(".warc.")) + ".cdxj";
  auto made = EnsureIndex(fs, "a/" + name, index);
  NEPHILA_CHECK(made.has_value() && !*made);
}

}  // namespace
}  // namespace nephila::store

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 3,
                              size - 3);
  const size_t cut = static_cast<size_t>(data[1]) * 256 + data[2];
  const std::string_view head = text.substr(0, cut);
  nephila::store::Check(data[0], head, text.substr(head.size()));
  return 0;
}
