// Archives of other tools, record by record as testdata/warc/records.tsv lists
// them. NEPHILA_WARC_SAMPLES names another folder of that form.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/real_file_system.h"
#include "base/source_path_testing.h"
#include "store/http_message.h"
#include "store/warc_reader.h"

namespace nephila::store {
namespace {

std::string Folder() {
  const char* folder = std::getenv("NEPHILA_WARC_SAMPLES");
  return folder != nullptr ? folder : SourcePath("testdata/warc");
}

struct Row {
  uint64_t offset = 0;
  std::string type;
  std::string length;
  std::string status;
  std::string uri;
  std::string remark;
};

std::map<std::string, std::vector<Row>> ReadList() {
  std::ifstream file(Folder() + "/records.tsv", std::ios::binary);
  EXPECT_TRUE(file.is_open()) << Folder();
  std::map<std::string, std::vector<Row>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> columns(1);
    for (char c : line) {
      if (c == '\t') {
        columns.emplace_back();
      } else if (c != '\r') {
        columns.back() += c;
      }
    }
    columns.resize(8);
    rows[columns[0]].push_back({std::stoull(columns[2]), columns[3], columns[4],
                                columns[5], columns[6], columns[7]});
  }
  return rows;
}

std::string StatusOf(WarcReader& reader) {
  HttpBlock http(HttpKind::kResponse);
  auto ignore = [](std::string_view) {};
  for (auto piece = reader.ReadBlock(); !piece->empty();
       piece = reader.ReadBlock()) {
    http.Feed(*piece, ignore);
  }
  http.Finish(ignore);
  bool response = reader.header().type() == RecordType::kResponse ||
                  reader.header().type() == RecordType::kRevisit;
  if (!response || !http.has_head()) return "";
  return std::to_string(http.head().status);
}

// One row: what stands at its offset is as it says.
void CheckRecord(const Row& row, WarcReader& reader) {
  EXPECT_EQ(reader.offset(), row.offset);
  EXPECT_EQ(reader.header().Get("WARC-Type"), row.type);
  EXPECT_EQ(reader.header().Get("WARC-Target-URI"), row.uri);
  EXPECT_EQ(std::to_string(reader.block_length()), row.length);
  EXPECT_EQ(StatusOf(reader), row.status);
  auto state = reader.Finish();
  ASSERT_TRUE(state.has_value());
  if (row.remark == "truncated gzip member") {
    EXPECT_EQ(*state, ReadState::kTorn);
  } else if (row.remark == "block cut short") {
    EXPECT_EQ(*state, ReadState::kBroken);
  } else {
    EXPECT_EQ(*state, ReadState::kRecord) << reader.damage();
  }
  if (row.remark == "several records in one gzip member") {
    EXPECT_TRUE(reader.shares_member());
  }
}

void CheckFile(const std::string& path, const std::vector<Row>& rows) {
  auto fs = MakeRealFileSystem();
  auto reader = WarcReader::Open(*fs, path);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  uint64_t damaged_from = UINT64_MAX;
  for (const Row& row : rows) {
    SCOPED_TRACE(path + " at " + std::to_string(row.offset));
    if (row.remark == "no WARC version line") {
      if (row.offset > damaged_from) continue;  // the rest of a cut block
      // Listed behind the four bytes that end a record; here, where they
      // should be. A record with a line end too many before it is read.
      ReadState state = *(*reader)->Next();
      if (state == ReadState::kRecord) {
        EXPECT_GE((*reader)->offset(), row.offset);
        EXPECT_LE((*reader)->offset(), row.offset + 4);
        continue;
      }
      ASSERT_EQ(state, ReadState::kBroken);
      EXPECT_LE((*reader)->damage_offset(), row.offset);
      EXPECT_GE((*reader)->damage_offset() + 4, row.offset);
      ASSERT_TRUE((*reader)->Resync().has_value());
      continue;
    }
    damaged_from = UINT64_MAX;
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord) << (*reader)->damage();
    CheckRecord(row, **reader);
    if (*(*reader)->Finish() != ReadState::kRecord) {
      damaged_from = (*reader)->damage_offset();
      ASSERT_TRUE((*reader)->Resync().has_value());
    }
  }
  if (rows.back().remark.empty()) {
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd)
        << path << (*reader)->damage();
  }
}

TEST(WarcSamples, HoldTheRecordsThatTheListNames) {
  auto list = ReadList();
  EXPECT_GE(list.size(), 26u);
  for (const auto& [name, rows] : list) CheckFile(Folder() + "/" + name, rows);
}

size_t CountRecords(const std::string& name, ReadState* last) {
  auto fs = MakeRealFileSystem();
  auto reader = WarcReader::Open(*fs, Folder() + "/" + name);
  EXPECT_TRUE(reader.has_value()) << name;
  size_t records = 0;
  while ((*last = *(*reader)->Next()) == ReadState::kRecord) ++records;
  return records;
}

TEST(WarcSamples, HoldArcRecordsToo) {
  ReadState last = ReadState::kEnd;
  EXPECT_EQ(CountRecords("warcio/example.arc", &last), 2u);
  EXPECT_EQ(last, ReadState::kEnd);
  EXPECT_EQ(CountRecords("warcio/example.arc.gz", &last), 2u);
  EXPECT_EQ(last, ReadState::kEnd);
  EXPECT_EQ(CountRecords("warcio/example-space-in-url.arc", &last), 2u);
  EXPECT_EQ(CountRecords("aut/badexample.arc.gz", &last), 4u);
  EXPECT_EQ(last, ReadState::kBroken);
  // Lengths of -1 and of letters.
  EXPECT_EQ(CountRecords("warcio/bad.arc", &last), 0u);
  EXPECT_EQ(last, ReadState::kBroken);
}

}  // namespace
}  // namespace nephila::store
