#include "store/warc_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "store/archive_testing.h"

namespace nephila::store {
namespace {

void Put(FileSystem& fs, const std::string& path, std::string_view text) {
  ASSERT_TRUE(PublishFile(fs, path, text).has_value());
}

struct Seen {
  bool operator==(const Seen&) const = default;
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string uri;
  std::string block;
  bool ends_member = true;  // so that the member's checksum has covered it
};

struct Reading {
  std::vector<Seen> records;  // whole ones
  ReadState state = ReadState::kEnd;
  std::string damage;
  uint64_t damage_offset = 0;
};

Reading ReadAll(WarcReader& reader) {
  Reading reading;
  while (true) {
    auto state = reader.Next();
    EXPECT_TRUE(state.has_value());
    if (*state == ReadState::kRecord) {
      Seen seen;
      seen.uri = reader.header().target_uri();
      for (auto piece = reader.ReadBlock(); !piece->empty();
           piece = reader.ReadBlock()) {
        seen.block += *piece;
      }
      state = reader.Finish();
      if (*state == ReadState::kRecord) {
        EXPECT_EQ(seen.block.size(), reader.block_length());
        seen.offset = reader.offset();
        seen.length = reader.length();
        seen.ends_member = reader.ends_member();
        reading.records.push_back(seen);
        continue;
      }
    }
    reading.state = *state;
    if (*state != ReadState::kEnd) {
      reading.damage = reader.damage();
      reading.damage_offset = reader.damage_offset();
      EXPECT_EQ(*reader.Next(), *state) << "damage stays";
    }
    return reading;
  }
}

Reading ReadAll(FileSystem& fs, const std::string& path,
                const ReaderOptions& options = {}) {
  auto reader = WarcReader::Open(fs, path, options);
  EXPECT_TRUE(reader.has_value()) << reader.error().message;
  return ReadAll(**reader);
}

struct Codec {
  const char* name;
  std::function<std::string(std::string_view)> pack;
};

const std::vector<Codec>& Codecs() {
  static const std::vector<Codec> kCodecs = {
      {"plain", [](std::string_view text) { return std::string(text); }},
      {"gzip", GzipMember},
      {"zstd", [](std::string_view text) { return ZstdFrame(text); }},
  };
  return kCodecs;
}

struct Archive {
  std::string bytes;
  std::vector<Seen> records;
};

Archive Build(const Codec& codec, size_t large = 3'000) {
  Archive archive;
  std::string body;
  for (size_t i = 0; body.size() < large; ++i) body += std::to_string(i * i);
  for (std::string_view block :
       {std::string_view("software: x\r\n"), std::string_view(body),
        std::string_view(), std::string_view("\r\n\r\nWARC/1.1\r\n")}) {
    std::string uri = "http://a/" + std::to_string(archive.records.size());
    std::string packed = codec.pack(RecordText("resource", uri, block));
    archive.records.push_back(
        {archive.bytes.size(), packed.size(), uri, std::string(block)});
    archive.bytes += packed;
  }
  return archive;
}

TEST(WarcReader, ReadsEveryCodecInBuffersOfAnySize) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes);
    for (size_t buffer : {1, 2, 3, 100, 65'536}) {
      ReaderOptions options;
      options.member.buffer_bytes = buffer;
      Reading reading = ReadAll(fs, "a", options);
      EXPECT_EQ(reading.state, ReadState::kEnd) << codec.name << reading.damage;
      EXPECT_EQ(reading.records, archive.records) << codec.name << buffer;
    }
  }
}

TEST(WarcReader, SkipsBlocksThatNobodyReads) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec, 300'000);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes);
    auto reader = WarcReader::Open(fs, "a");
    ASSERT_TRUE(reader.has_value());
    for (const Seen& record : archive.records) {
      ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
      EXPECT_EQ((*reader)->offset(), record.offset);
      EXPECT_EQ((*reader)->header().target_uri(), record.uri);
    }
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd);
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd);
  }
}

TEST(WarcReader, FindsARecordByItsOffset) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes);
    auto reader = WarcReader::Open(fs, "a");
    for (size_t i = archive.records.size(); i-- > 0;) {
      (*reader)->Seek(archive.records[i].offset);
      ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
      EXPECT_EQ((*reader)->header().target_uri(), archive.records[i].uri);
      ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
      EXPECT_EQ((*reader)->length(), archive.records[i].length);
      EXPECT_TRUE((*reader)->proper_end());
      EXPECT_FALSE((*reader)->shares_member());
    }
  }
}

// What a crash leaves: at every length the whole records before it are found,
// and the rest is torn, not broken.
TEST(WarcReader, FindsWhatIsWholeInAnArchiveCutAnywhere) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec, 300);
    MemoryFileSystem fs;
    for (size_t size = 0; size <= archive.bytes.size(); ++size) {
      Put(fs, "a", archive.bytes.substr(0, size));
      size_t whole = 0;
      uint64_t end = 0;
      while (whole < archive.records.size() &&
             end + archive.records[whole].length <= size) {
        end += archive.records[whole++].length;
      }
      ReadState state = end == size ? ReadState::kEnd : ReadState::kTorn;
      Reading reading = ReadAll(fs, "a");
      ASSERT_EQ(reading.records.size(), whole) << codec.name << size;
      ASSERT_EQ(reading.state, state) << codec.name << size << reading.damage;
      if (state == ReadState::kTorn) {
        EXPECT_EQ(reading.damage_offset, end);
      }
      auto scan = ScanFrom(fs, "a", 0);
      ASSERT_TRUE(scan.has_value());
      EXPECT_EQ(scan->end, end);
      EXPECT_EQ(scan->records, whole);
      EXPECT_EQ(scan->state, state);
      EXPECT_EQ(scan->damage.empty(), state == ReadState::kEnd);
    }
  }
}

TEST(WarcReader, ScansFromAnOffset) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes + "\0\0\0");
    std::vector<uint64_t> offsets;
    auto scan = ScanFrom(fs, "a", archive.records[2].offset,
                         [&](const WarcReader& reader) -> Status {
                           offsets.push_back(reader.offset());
                           return {};
                         });
    ASSERT_TRUE(scan.has_value());
    EXPECT_EQ(offsets, (std::vector<uint64_t>{archive.records[2].offset,
                                              archive.records[3].offset}));
    EXPECT_EQ(scan->end, archive.bytes.size());
    scan = ScanFrom(fs, "a", 1'000'000);
    ASSERT_FALSE(scan.has_value());
    EXPECT_EQ(scan.error().code, ErrorCode::kCorruption);
  }
}

// Cut behind it, such a record would be torn: a restart may not count it.
TEST(WarcReader, ScansToARecordWithoutItsEnd) {
  std::string a = RecordText("resource", "http://a/", "x");
  for (size_t missing = 1; missing <= 4; ++missing) {
    MemoryFileSystem fs;
    Put(fs, "a", a + a.substr(0, a.size() - missing) + "junk");
    auto scan = ScanFrom(fs, "a", 0);
    ASSERT_TRUE(scan.has_value());
    EXPECT_EQ(scan->end, a.size());
    EXPECT_EQ(scan->state, ReadState::kBroken);
  }
}

// Zeros and old data behind the last record, as a loss of power leaves them.
TEST(WarcReader, CallsATailOfOtherBytesBroken) {
  for (const Codec& codec : Codecs()) {
    for (const std::string& tail :
         {std::string(1'000, '\0'), std::string("garbage")}) {
      Archive archive = Build(codec);
      MemoryFileSystem fs;
      Put(fs, "a", archive.bytes + tail);
      Reading reading = ReadAll(fs, "a");
      EXPECT_EQ(reading.records.size(), archive.records.size());
      EXPECT_EQ(reading.state, ReadState::kBroken) << codec.name;
      EXPECT_EQ(reading.damage_offset, archive.bytes.size());
      auto scan = ScanFrom(fs, "a", 0);
      EXPECT_EQ(scan->end, archive.bytes.size());
    }
  }
}

// No flip of a bit passes for another record where a checksum covers it: in the
// last record here a length that lies makes two of one, and the first of them
// is given out before the member's end can tell.
TEST(WarcReader, SurvivesEveryFlippedBit) {
  for (const Codec& codec : Codecs()) {
    bool checked = std::string_view(codec.name) != "plain";
    Archive archive = Build(codec, 200);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes);
    for (size_t at = 0; at < archive.bytes.size(); ++at) {
      unsigned bit = static_cast<unsigned>(at % 8);
      ASSERT_TRUE(fs.FlipBit("a", at, bit).has_value());
      if (auto reader = WarcReader::Open(fs, "a"); reader.has_value()) {
        Reading reading = ReadAll(**reader);
        for (const Seen& seen : reading.records) {
          if (!checked || !seen.ends_member) continue;
          EXPECT_TRUE(std::any_of(
              archive.records.begin(), archive.records.end(),
              [&](const Seen& made) {
                return made.uri == seen.uri && made.block == seen.block;
              }))
              << codec.name << at;
        }
      }
      ASSERT_TRUE(fs.FlipBit("a", at, bit).has_value());
    }
  }
}

TEST(WarcReader, GoesOnBehindABrokenRecord) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec);
    const Seen& broken = archive.records[1];
    std::string bytes = archive.bytes;
    if (std::string_view(codec.name) == "plain") {
      bytes.replace(broken.offset, 5, "XXXXX");
    } else {
      for (size_t i = 20; i < 200; ++i) bytes[broken.offset + i] ^= 0x5a;
    }
    MemoryFileSystem fs;
    Put(fs, "a", bytes);
    auto reader = WarcReader::Open(fs, "a");
    Reading before = ReadAll(**reader);
    EXPECT_EQ(before.records.size(), 1u);
    EXPECT_EQ(before.state, ReadState::kBroken) << codec.name;
    EXPECT_EQ(before.damage_offset, broken.offset);
    auto found = (*reader)->Resync();
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(*found);
    Reading after = ReadAll(**reader);
    EXPECT_EQ(after.state, ReadState::kEnd) << after.damage;
    ASSERT_EQ(after.records.size(), 2u) << codec.name;
    EXPECT_EQ(after.records[0], archive.records[2]);
    EXPECT_EQ(after.records[1], archive.records[3]);
  }
}

TEST(WarcReader, FindsNothingBehindATornTail) {
  for (const Codec& codec : Codecs()) {
    Archive archive = Build(codec);
    MemoryFileSystem fs;
    Put(fs, "a", archive.bytes.substr(0, archive.records[1].offset + 100));
    auto reader = WarcReader::Open(fs, "a");
    EXPECT_EQ(ReadAll(**reader).state, ReadState::kTorn);
    EXPECT_FALSE(*(*reader)->Resync());
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd);
  }
}

// A length that lies reaches over the records behind it to the end of the file.
TEST(WarcReader, GoesOnBehindALengthThatLies) {
  std::string first = RecordText("resource", "http://a/", "block");
  size_t at = first.find("Content-Length: 5");
  first.replace(at, 17, "Content-Length: 5000000");
  std::string second = RecordText("resource", "http://b/", "block");
  MemoryFileSystem fs;
  Put(fs, "a", first + second);
  auto reader = WarcReader::Open(fs, "a");
  EXPECT_EQ(ReadAll(**reader).state, ReadState::kTorn);
  ASSERT_TRUE(*(*reader)->Resync());
  Reading reading = ReadAll(**reader);
  ASSERT_EQ(reading.records.size(), 1u);
  EXPECT_EQ(reading.records[0].uri, "http://b/");
}

TEST(WarcReader, ReadsSeveralRecordsInAMember) {
  std::string text = RecordText("resource", "http://a/", "one") +
                     RecordText("resource", "http://b/", "two");
  std::string last = RecordText("resource", "http://c/", "three");
  for (const Codec& codec : Codecs()) {
    if (std::string_view(codec.name) == "plain") continue;
    std::string packed = codec.pack(text);
    MemoryFileSystem fs;
    Put(fs, "a", packed + codec.pack(last));
    auto reader = WarcReader::Open(fs, "a");
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
    ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
    EXPECT_TRUE((*reader)->shares_member());
    EXPECT_FALSE((*reader)->ends_member());
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
    EXPECT_EQ((*reader)->offset(), 0u);
    EXPECT_GT((*reader)->offset_in_member(), 0u);
    ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
    EXPECT_TRUE((*reader)->shares_member());
    EXPECT_TRUE((*reader)->ends_member());
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
    EXPECT_EQ((*reader)->offset(), packed.size());
    EXPECT_EQ((*reader)->offset_in_member(), 0u);
    ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
    EXPECT_FALSE((*reader)->shares_member());
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd);
  }
}

// A member that is cut after its first record is not kept in part.
TEST(WarcReader, CutsSharedMembersAsAWhole) {
  std::string text =
      RecordText("resource", "http://a/", "one") +
      RecordText("resource", "http://b/", std::string(100'000, 'x'));
  std::string packed = GzipMember(text);
  MemoryFileSystem fs;
  Put(fs, "a", packed.substr(0, packed.size() - 1));
  auto scan = ScanFrom(fs, "a", 0);
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(scan->end, 0u);
  EXPECT_EQ(scan->state, ReadState::kTorn);
}

TEST(WarcReader, CallsABlockBrokenThatItsMemberDoesNotHold) {
  std::string text = RecordText("resource", "http://a/", "0123456789");
  std::string next = GzipMember(RecordText("resource", "http://b/", "x"));
  MemoryFileSystem fs;
  Put(fs, "a", GzipMember(text.substr(0, text.size() - 8)) + next);
  Reading reading = ReadAll(fs, "a");
  EXPECT_EQ(reading.state, ReadState::kBroken);
  EXPECT_NE(reading.damage.find("block cut short"), std::string::npos);
}

TEST(WarcReader, TellsAnImproperEndOfARecord) {
  std::string text = RecordText("resource", "http://a/", "x");
  for (std::string_view end : {"", "\r\n", "\n\n", "\r\n\r\n\r\n"}) {
    std::string bytes = text.substr(0, text.size() - 4);
    bytes += end;
    MemoryFileSystem fs;
    Put(fs, "a", GzipMember(bytes));
    auto reader = WarcReader::Open(fs, "a");
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
    ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
    EXPECT_FALSE((*reader)->proper_end());
  }
}

TEST(WarcReader, UsesTheDictionaryInFront) {
  std::string dictionary;
  for (int i = 0; i < 400; ++i) {
    dictionary += "<p>page number " + std::to_string(i) + "</p>";
  }
  std::string frames =
      ZstdFrame(RecordText("resource", "http://a/", dictionary.substr(0, 999)),
                dictionary);
  for (const std::string& packed : {dictionary, ZstdFrame(dictionary)}) {
    std::string front = SkippableFrame(packed, 0xd);
    MemoryFileSystem fs;
    Put(fs, "a", front + frames);
    Reading reading = ReadAll(fs, "a");
    ASSERT_EQ(reading.records.size(), 1u) << reading.damage;
    EXPECT_EQ(reading.records[0].offset, front.size());
    EXPECT_EQ(reading.records[0].block, dictionary.substr(0, 999));
    ReaderOptions options;
    options.member.max_dictionary_bytes = 100;
    auto reader = WarcReader::Open(fs, "a", options);
    ASSERT_FALSE(reader.has_value());
    EXPECT_EQ(reader.error().code, ErrorCode::kCorruption);
  }
}

TEST(WarcReader, SkipsMembersWithNothingInThem) {
  std::string record = RecordText("resource", "http://a/", "x");
  MemoryFileSystem fs;
  Put(fs, "z", SkippableFrame("hello", 3) + ZstdFrame(record) + ZstdFrame(""));
  Put(fs, "g", GzipMember("") + GzipMember(record) + GzipMember(""));
  for (const char* path : {"z", "g"}) {
    Reading reading = ReadAll(fs, path);
    EXPECT_EQ(reading.state, ReadState::kEnd) << reading.damage;
    ASSERT_EQ(reading.records.size(), 1u);
    EXPECT_GT(reading.records[0].offset, 0u);
  }
}

TEST(WarcReader, RefusesAWindowOverTheLimit) {
  std::string large(size_t{4} << 20, 'x');
  MemoryFileSystem fs;
  Put(fs, "a", ZstdFrame(RecordText("resource", "http://a/", large)));
  ReaderOptions options;
  options.member.max_window_log = 20;
  Reading reading = ReadAll(fs, "a", options);
  EXPECT_EQ(reading.state, ReadState::kBroken);
  EXPECT_NE(reading.damage.find("memory"), std::string::npos) << reading.damage;
}

TEST(WarcReader, HasABoundOnHeaders) {
  std::string record = RecordText("resource", "http://a/", "x",
                                  "X: " + std::string(5'000, 'x') + "\r\n");
  for (const Codec& codec : Codecs()) {
    MemoryFileSystem fs;
    Put(fs, "a", codec.pack(record));
    ReaderOptions options;
    options.max_header_bytes = 4'000;
    Reading reading = ReadAll(fs, "a", options);
    EXPECT_EQ(reading.state, ReadState::kBroken);
    EXPECT_NE(reading.damage.find("limit"), std::string::npos);
  }
}

TEST(WarcReader, NeedsALength) {
  MemoryFileSystem fs;
  Put(fs, "a", "WARC/1.0\r\nWARC-Type: resource\r\n\r\nx\r\n\r\n");
  EXPECT_EQ(ReadAll(fs, "a").damage, "no Content-Length");
  Put(fs, "a", "WARC/1.0\r\nContent-Length: -5\r\n\r\nx\r\n\r\n");
  EXPECT_EQ(ReadAll(fs, "a").damage, "a Content-Length that is no number");
}

TEST(WarcReader, ReadsAnEmptyFile) {
  MemoryFileSystem fs;
  Put(fs, "a", "");
  EXPECT_EQ(ReadAll(fs, "a").state, ReadState::kEnd);
}

TEST(WarcReader, NamesWhatItCannotRead) {
  MemoryFileSystem fs;
  Put(fs, "a",
      "\x04\x22\x4d\x18"
      "lz4");
  auto reader = WarcReader::Open(fs, "a");
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(WarcReader::Open(fs, "none").has_value());
}

TEST(WarcReader, ReadsArcAsRecordsOfTheSameForm) {
  std::string first =
      "filedesc://x.arc 127.0.0.1 20140216050221 text/plain 75\n"
      "1 0 LiveWeb Capture\nURL IP-address Archive-date Content-type "
      "Archive-length\n\n";
  std::string block = "HTTP/1.1 200 OK\r\n\r\nbody";
  std::string second = "http://a/with space 1.2.3.4 20140216050221 text/html " +
                       std::to_string(block.size()) + "\n" + block + "\n";
  MemoryFileSystem fs;
  Put(fs, "plain", first + second);
  Put(fs, "gzip", GzipMember(first) + GzipMember(second));
  for (const char* path : {"plain", "gzip"}) {
    auto reader = WarcReader::Open(fs, path);
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
    EXPECT_EQ((*reader)->header().type(), RecordType::kWarcinfo);
    ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord) << (*reader)->damage();
    EXPECT_EQ((*reader)->header().type(), RecordType::kResponse);
    EXPECT_EQ((*reader)->header().target_uri(), "http://a/with space");
    EXPECT_EQ((*reader)->header().date(), "2014-02-16T05:02:21Z");
    EXPECT_EQ(*(*reader)->ReadBlock(), block);
    ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
    EXPECT_EQ(*(*reader)->Next(), ReadState::kEnd);
  }
  // Wherever reading begins, and by the byte.
  ReaderOptions options;
  options.member.buffer_bytes = 1;
  auto reader = WarcReader::Open(fs, "plain", options);
  (*reader)->Seek(first.size());
  ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord) << (*reader)->damage();
  EXPECT_EQ((*reader)->header().target_uri(), "http://a/with space");
  Put(fs, "bad", first + "no header\n");
  Reading reading = ReadAll(fs, "bad");
  EXPECT_EQ(reading.state, ReadState::kBroken);
  EXPECT_EQ(reading.damage_offset, first.size());
}

}  // namespace
}  // namespace nephila::store
