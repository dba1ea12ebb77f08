// What the tests of the writing side share. For tests only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "item/fetched_page.h"
#include "store/cdxj.h"
#include "store/warc_record.h"
#include "store/warc_writer.h"

namespace nephila::store {

struct ReadRecord {
  WarcHeader header;
  std::string block;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// All records of an archive; the test fails if it is damaged, or if a block
// does not have its digest.
std::vector<ReadRecord> ReadArchive(FileSystem& fs, const std::string& path);

// The archives of a folder by serial, open ones too; with the folder.
std::vector<std::string> ArchivePaths(FileSystem& fs, const std::string& folder,
                                      std::string_view prefix = "nephila");

// The lines of an index; the test fails if they are not sorted, if one does not
// lead to its record, or if a record that belongs into it is missing.
std::vector<CdxjLine> CheckIndex(FileSystem& fs, const std::string& archive);

// All members of a .warc.gz as zlib decodes them, as gunzip would.
std::string Gunzip(std::string_view packed);
// All frames of a .warc.zst.
std::string Unzstd(std::string_view packed);

// `count` bytes that do not compress.
std::string Noise(size_t count, uint64_t seed);

// A page that owns what a FetchedPage refers to.
class TestPage {
 public:
  explicit TestPage(std::string url, std::string body = "<p>hello</p>");
  TestPage(const TestPage&) = delete;
  TestPage& operator=(const TestPage&) = delete;

  // Sets the head, whose lines end with \n here and with \r\n there.
  void SetHead(std::string_view lines);
  void SetBody(std::vector<std::string> pieces);

  item::FetchedPage page;

 private:
  std::string url_;
  std::string request_;
  std::string head_;
  std::vector<std::string> body_;
  std::vector<std::string_view> pieces_;
};

}  // namespace nephila::store
