#include "store/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "store/archive_index.h"
#include "store/archive_testing.h"
#include "store/cdxj.h"

namespace nephila::store {
namespace {

void Put(FileSystem& fs, const std::string& path, std::string_view text) {
  ASSERT_TRUE(PublishFile(fs, path, text).has_value());
}

std::string Read(FileSystem& fs, const std::string& path) {
  auto text = ReadWholeFile(fs, path, size_t{64} << 20);
  EXPECT_TRUE(text.has_value()) << path;
  return text ? *text : "";
}

struct Verified {
  VerifyReport report;
  std::vector<Finding> findings;

  // How many findings hold the text.
  size_t Count(std::string_view text) const {
    size_t count = 0;
    for (const Finding& finding : findings) {
      if (finding.what.find(text) != std::string::npos) ++count;
    }
    return count;
  }
};

Verified Verify(FileSystem& fs, const std::string& path,
                const VerifyOptions& options = {}) {
  Verified verified;
  auto report = VerifyArchive(fs, path, options, [&](const Finding& finding) {
    verified.findings.push_back(finding);
  });
  EXPECT_TRUE(report.has_value()) << report.error().message;
  if (report) verified.report = *report;
  return verified;
}

Verified VerifyText(std::string_view text, const VerifyOptions& options = {}) {
  MemoryFileSystem fs;
  Put(fs, "a.warc", text);
  return Verify(fs, "a.warc", options);
}

std::vector<std::string> RepairFile(FileSystem& fs, const std::string& path) {
  std::vector<std::string> said;
  auto status = RepairArchive(
      fs, path, {}, [&](std::string what) { said.push_back(std::move(what)); });
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return said;
}

std::string Replaced(std::string text, std::string_view from,
                     std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Verify, PassesAnArchiveThatIsRight) {
  Verified verified = VerifyText(ResponseText("http://a/", "body") +
                                 ResponseText("http://b/", ""));
  EXPECT_TRUE(verified.report.ok());
  EXPECT_EQ(verified.report.records, 2u);
  EXPECT_EQ(verified.report.digests, 4u);
  EXPECT_TRUE(verified.findings.empty())
      << (verified.findings.empty() ? "" : verified.findings[0].what);
}

TEST(Verify, FindsWrongDigests) {
  std::string text = ResponseText("http://a/", "body");
  Verified verified =
      VerifyText(Replaced(text, "\r\n\r\nbody", "\r\n\r\nBody"));
  EXPECT_EQ(verified.Count("WARC-Block-Digest does not fit"), 1u);
  EXPECT_EQ(verified.Count("WARC-Payload-Digest does not fit"), 1u);
  EXPECT_EQ(verified.report.errors, 2u);
  verified = VerifyText(Replaced(text, "200 OK", "404 OK"));
  EXPECT_EQ(verified.Count("WARC-Block-Digest does not fit"), 1u);
  EXPECT_EQ(verified.Count("WARC-Payload-Digest"), 0u);
}

TEST(Verify, ReadsEveryFormOfADigest) {
  // Of "body".
  for (std::string_view digest :
       {"sha1:02083f4579e08a612425c0c1a17ee47add783b94",
        "SHA1:AIED6RLZ4CFGCJBFYDA2C7XEPLOXQO4U",
        "sha-1:aied6rlz4cfgcjbfyda2c7xeploxqo4u",
        "sha1:Agg/RXngimEkJcDBoX7ket14O5Q=", "sha1:Agg_RXngimEkJcDBoX7ket14O5Q",
        "md5:841a2d689ad86bd1611447453c22c6fc",
        "sha256:"
        "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5"}) {
    std::string text =
        RecordText("resource", "http://a/", "body",
                   "Content-Type: text/plain\r\nWARC-Block-Digest: " +
                       std::string(digest) + "\r\n");
    Verified right = VerifyText(text);
    EXPECT_TRUE(right.findings.empty()) << digest;
    EXPECT_EQ(right.report.digests, 1u);
    Verified wrong = VerifyText(Replaced(text, "\r\n\r\nbody", "\r\n\r\nbodY"));
    EXPECT_EQ(wrong.Count("does not fit"), 1u) << digest;
  }
  for (std::string_view digest :
       {"sha3:abc", "sha1:short", "nothing",
        "sha1:!2083f4579e08a612425c0c1a17ee47add78"}) {
    Verified odd = VerifyText(
        RecordText("resource", "http://a/", "body",
                   "Content-Type: text/plain\r\nWARC-Block-Digest: " +
                       std::string(digest) + "\r\n"));
    EXPECT_TRUE(odd.report.ok());
    EXPECT_EQ(odd.Count("WARC-Block-Digest cannot be read"), 1u);
  }
}

// The payload has no transfer coding, but older tools hashed it with it.
TEST(Verify, RemovesTransferCodingForThePayload) {
  std::string block =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4\r\nbody\r\n0\r\n\r\n";
  auto record = [&](std::string_view digest) {
    return RecordText("response", "http://a/", block,
                      "Content-Type: application/http\r\n"
                      "WARC-Payload-Digest: " +
                          std::string(digest) + "\r\n");
  };
  EXPECT_TRUE(VerifyText(record(Sha1Text("body"))).findings.empty());
  Verified raw = VerifyText(record(Sha1Text("4\r\nbody\r\n0\r\n\r\n")));
  EXPECT_TRUE(raw.report.ok());
  EXPECT_EQ(raw.Count("over the chunked bytes"), 1u);
  EXPECT_FALSE(VerifyText(record(Sha1Text(block))).report.ok());
}

TEST(Verify, WantsTheFieldsOfEachType) {
  std::string text = ResponseText("http://a/", "x");
  for (std::string_view name :
       {"WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI"}) {
    Verified verified =
        VerifyText(Replaced(text, name, "X" + std::string(name)));
    EXPECT_FALSE(verified.report.ok()) << name;
    EXPECT_GE(verified.Count(name), 1u) << name;
  }
  EXPECT_EQ(VerifyText(Replaced(text, "2026-01-02", "2026-13-02"))
                .Count("WARC-Date is no date"),
            1u);
  EXPECT_EQ(VerifyText(Replaced(text, "WARC-Date", "WARC-Type: x\r\nWARC-Date"))
                .Count("more than one WARC-Type"),
            1u);
  EXPECT_EQ(VerifyText(Replaced(text, "WARC-Date", "nonsense\r\nWARC-Date"))
                .Count("are no fields"),
            1u);
  EXPECT_EQ(VerifyText(Replaced(text, "WARC/1.1", "WARC/7.0"))
                .Count("version unknown"),
            1u);
}

TEST(Verify, LooksAtRevisits) {
  auto revisit = [](std::string_view fields) {
    return VerifyText(RecordText("revisit", "http://a/", "",
                                 "WARC-Payload-Digest: sha1:"
                                 "AIED6RLZ4CFGCJBFYDA2C7XEPLOXQO4U\r\n" +
                                     std::string(fields)));
  };
  EXPECT_EQ(revisit("").Count("without WARC-Profile"), 1u);
  Verified right = revisit(
      "WARC-Profile: x\r\nWARC-Refers-To-Target-URI: http://a/\r\n"
      "WARC-Refers-To-Date: 2025-01-01T00:00:00Z\r\n");
  EXPECT_TRUE(right.findings.empty());
  EXPECT_EQ(revisit("WARC-Profile: x\r\n").Count("does not name"), 1u);
  EXPECT_EQ(revisit("WARC-Profile: x\r\nWARC-Refers-To-Target-URI: http://a/"
                    "\r\nWARC-Refers-To-Date: never\r\n")
                .Count("WARC-Refers-To-Date is no date"),
            1u);
}

TEST(Verify, FindsIdsThatComeTwice) {
  std::string text = ResponseText("http://a/", "x");
  Verified verified = VerifyText(text + text);
  EXPECT_EQ(verified.Count("was there before"), 1u);
  EXPECT_EQ(verified.findings[0].offset, text.size());
  VerifyOptions options;
  options.check.max_ids = 1;
  std::string other = ResponseText("http://b/", "x");
  verified = VerifyText(text + other + other, options);
  EXPECT_TRUE(verified.report.ok());
  EXPECT_EQ(verified.Count("not remembered"), 1u);
}

TEST(Verify, FollowsConcurrentTo) {
  auto request = [](std::string_view to) {
    return RecordText("request", "http://a/", "",
                      "WARC-Concurrent-To: " + std::string(to) + "\r\n");
  };
  std::string response = ResponseText("http://a/", "x");
  size_t at = response.find("<urn:uuid:");
  std::string id = response.substr(at, response.find('>', at) + 1 - at);
  EXPECT_TRUE(VerifyText(request(id) + response).findings.empty());
  EXPECT_TRUE(VerifyText(response + request(id)).findings.empty());
  EXPECT_EQ(VerifyText(request("<urn:x>") + response).Count("not in this file"),
            1u);
}

TEST(Verify, TellsTornFromBroken) {
  std::string a = GzipMember(ResponseText("http://a/", "x"));
  std::string b = GzipMember(ResponseText("http://b/", "x"));
  Verified torn = VerifyText(a + b.substr(0, b.size() - 3));
  ASSERT_EQ(torn.report.damages.size(), 1u);
  EXPECT_TRUE(torn.report.damages[0].torn);
  EXPECT_EQ(torn.report.damages[0].begin, a.size());
  EXPECT_EQ(torn.report.damages[0].end, a.size() + b.size() - 3);
  EXPECT_EQ(torn.Count("at the end of the file are torn"), 1u);
  std::string broken = b;
  broken[30] ^= 1;
  Verified middle = VerifyText(a + broken + a);
  ASSERT_EQ(middle.report.damages.size(), 1u);
  EXPECT_FALSE(middle.report.damages[0].torn);
  EXPECT_EQ(middle.report.damages[0].end, a.size() + b.size());
  EXPECT_EQ(middle.Count("in the middle of the file are broken"), 1u);
}

// Each of them would have the rest of the archive read.
TEST(Verify, TakesLinearTimeForLengthsThatLie) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) {
    text += "WARC/1.0\r\nContent-Length: 99999999\r\n\r\n";
  }
  text.append(size_t{4} << 20, 'x');
  Verified verified = VerifyText(text);
  EXPECT_EQ(verified.report.damages.size(), 5'000u);
  VerifyOptions options;
  options.reader.max_damages = 100;
  MemoryFileSystem fs;
  Put(fs, "a.warc", text);
  auto report = VerifyArchive(fs, "a.warc", options, [](const Finding&) {});
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, ErrorCode::kCorruption);
}

class RepairTest : public testing::TestWithParam<const char*> {
 protected:
  std::string Pack(const std::string& text) const {
    std::string_view codec = GetParam();
    if (codec == "gzip") return GzipMember(text);
    if (codec == "zstd") return ZstdFrame(text);
    return text;
  }
  std::string path() const {
    std::string_view codec = GetParam();
    if (codec == "gzip") return "d/a.warc.gz";
    if (codec == "zstd") return "d/a.warc.zst";
    return "d/a.warc";
  }
  void SetUp() override {
    ASSERT_TRUE(EnsureDir(fs_, "d").has_value());
    for (const char* host : {"a", "b", "c"}) {
      members_.push_back(Pack(ResponseText("http://" + std::string(host) + "/",
                                           std::string(500, *host))));
    }
  }
  // Verifies, and every line of the index leads to its record.
  void ExpectRight(size_t records) {
    Verified verified = Verify(fs_, path());
    EXPECT_TRUE(verified.report.ok())
        << (verified.findings.empty() ? "" : verified.findings[0].what);
    EXPECT_EQ(verified.report.records, records);
    EXPECT_TRUE(verified.report.has_index);
    auto reader = WarcReader::Open(fs_, path());
    ASSERT_TRUE(reader.has_value());
    std::string index = Read(fs_, "d/a.cdxj");
    size_t lines = 0;
    while (!index.empty()) {
      size_t end = index.find('\n');
      auto line = ParseCdxj(index.substr(0, end));
      ASSERT_TRUE(line.has_value());
      (*reader)->Seek(*line->offset);
      ASSERT_EQ(*(*reader)->Next(), ReadState::kRecord);
      EXPECT_EQ((*reader)->header().target_uri(), line->url);
      ASSERT_EQ(*(*reader)->Finish(), ReadState::kRecord);
      EXPECT_EQ((*reader)->length(), *line->length);
      index.erase(0, end + 1);
      ++lines;
    }
    EXPECT_EQ(lines, records);
  }
  MemoryFileSystem fs_;
  std::vector<std::string> members_;
};

TEST_P(RepairTest, LeavesWhatIsRightAlone) {
  Put(fs_, path(), members_[0] + members_[1]);
  EXPECT_EQ(RepairFile(fs_, path()).size(), 1u);  // the index was missing
  ExpectRight(2);
  EXPECT_TRUE(RepairFile(fs_, path()).empty());
}

TEST_P(RepairTest, CutsATornTailAndKeepsItAside) {
  std::string whole = members_[0] + members_[1];
  for (size_t size = 1; size < members_[2].size(); size += 7) {
    std::string torn = members_[2].substr(0, size);
    if (size + 4 >= members_[2].size() && path() == "d/a.warc") continue;
    Put(fs_, path(), whole + torn);
    auto said = RepairFile(fs_, path());
    ASSERT_GE(said.size(), 2u);
    EXPECT_NE(said[0].find("saved in"), std::string::npos) << said[0];
    EXPECT_EQ(Read(fs_, path()), whole);
    EXPECT_EQ(Read(fs_, path() + ".cut"), torn);
    ExpectRight(2);
    ASSERT_TRUE(fs_.Remove(path() + ".cut").has_value());
    ASSERT_TRUE(fs_.Remove("d/a.cdxj").has_value());
  }
}

TEST_P(RepairTest, GoesByTheNameIfTheBeginningIsGone) {
  std::string bytes = members_[0] + members_[1] + members_[2];
  bytes.replace(0, 4, "\0\0\0\0", 4);
  Put(fs_, path(), bytes);
  RepairFile(fs_, path());
  ExpectRight(2);
}

TEST(Repair, LeavesWhatHoldsNoRecordAlone) {
  MemoryFileSystem fs;
  std::string photo = "\xff\xd8\xff\xe0 not an archive";
  Put(fs, "photo.jpg", photo);
  auto said = RepairFile(fs, "photo.jpg");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("not repaired"), std::string::npos);
  EXPECT_EQ(Read(fs, "photo.jpg"), photo);
}

TEST_P(RepairTest, CutsZerosBehindTheEnd) {
  Put(fs_, path(), members_[0] + std::string(5'000, '\0'));
  RepairFile(fs_, path());
  EXPECT_EQ(Read(fs_, path()), members_[0]);
  ExpectRight(1);
}

TEST_P(RepairTest, TakesABrokenRecordOutOfTheMiddle) {
  std::string broken = members_[1];
  for (size_t i = 0; i < broken.size(); ++i) broken[i] ^= 0x2a;
  Put(fs_, path(), members_[0] + broken + members_[2]);
  Put(fs_, "d/a.cdxj", "stale\n");
  auto said = RepairFile(fs_, path());
  EXPECT_EQ(said.size(), 3u);
  EXPECT_EQ(Read(fs_, path()), members_[0] + members_[2]);
  EXPECT_EQ(Read(fs_, path() + ".cut"), broken);
  ExpectRight(2);
}

TEST_P(RepairTest, NeverWritesOverWhatWasCutBefore) {
  Put(fs_, path() + ".cut", "older");
  Put(fs_, path(), members_[0] + "junk");
  RepairFile(fs_, path());
  EXPECT_EQ(Read(fs_, path() + ".cut"), "older");
  EXPECT_EQ(Read(fs_, path() + ".cut2"), "junk");
}

TEST_P(RepairTest, MakesAnIndexAgainThatDoesNotMatch) {
  Put(fs_, path(), members_[0] + members_[1]);
  RepairFile(fs_, path());
  std::string right = Read(fs_, "d/a.cdxj");
  std::string half = right.substr(0, right.find('\n') + 1);
  for (const std::string& wrong :
       {half, Replaced(right, "\"offset\": \"0\"", "\"offset\": \"1\""),
        Replaced(right, "\"digest\": \"", "\"digest\": \"X"),
        Replaced(right, "http://b/", "http://x/"),
        Replaced(right, " 2026", " 2025"),
        Replaced(right, "\"length\": \"", "\"length\": \"1"),
        half + "b)/ nonsense\n", half + half.substr(2)}) {
    Put(fs_, "d/a.cdxj", wrong);
    Verified verified = Verify(fs_, path());
    EXPECT_FALSE(verified.report.ok()) << wrong;
    EXPECT_GE(verified.report.index_differences, 1u);
    RepairFile(fs_, path());
    EXPECT_EQ(Read(fs_, "d/a.cdxj"), right);
  }
}

// Whatever step a crash or a full disk stops, no whole record is lost, and the
// next repair brings the archive in order.
TEST_P(RepairTest, LosesNothingWhereverItStops) {
  std::string broken = members_[1];
  for (size_t i = 0; i < broken.size(); ++i) broken[i] ^= 0x2a;
  for (const std::string& bytes :
       {members_[0] + broken + members_[2],
        members_[0] + members_[2] + broken.substr(0, 50)}) {
    for (uint64_t step = 1; step < 200; ++step) {
      MemoryFileSystem disk;
      ASSERT_TRUE(EnsureDir(disk, "d").has_value());
      Put(disk, path(), bytes);
      bool finished = false;
      {
        FaultyFileSystem faulty(disk);
        faulty.StopAt(step);
        finished =
            RepairArchive(faulty, path(), {}, [](std::string) {}).has_value();
      }
      disk.LosePower(
          step % 2 == 0 ? LossMode::kNothingUnsynced : LossMode::kTorn, step);
      std::string kept = Read(disk, path());
      EXPECT_NE(kept.find(members_[0]), std::string::npos) << step;
      EXPECT_NE(kept.find(members_[2]), std::string::npos) << step;
      ASSERT_TRUE(
          RepairArchive(disk, path(), {}, [](std::string) {}).has_value());
      EXPECT_EQ(Read(disk, path()), members_[0] + members_[2]) << step;
      EXPECT_TRUE(Verify(disk, path()).report.ok()) << step;
      if (finished) break;
      ASSERT_LT(step, 199u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, RepairTest,
                         testing::Values("plain", "gzip", "zstd"));

TEST(Repair, AddsTheEndThatAPlainRecordLacks) {
  std::string text = ResponseText("http://a/", "x");
  for (size_t missing = 1; missing <= 4; ++missing) {
    MemoryFileSystem fs;
    Put(fs, "a.warc", text.substr(0, text.size() - missing));
    EXPECT_FALSE(Verify(fs, "a.warc").report.ok());
    RepairFile(fs, "a.warc");
    EXPECT_EQ(Read(fs, "a.warc"), text);
    EXPECT_FALSE(*fs.Exists("a.warc.cut"));
  }
}

TEST(Repair, AddsTheEndThatIsMissingInFrontOfACut) {
  std::string text = ResponseText("http://a/", "x");
  for (size_t missing = 0; missing <= 4; ++missing) {
    MemoryFileSystem fs;
    Put(fs, "a.warc", text.substr(0, text.size() - missing) + "junk");
    RepairFile(fs, "a.warc");
    EXPECT_EQ(Read(fs, "a.warc"), text);
    EXPECT_TRUE(Verify(fs, "a.warc").report.ok());
  }
}

TEST(Repair, RefusesToCutAMemberWithWholeRecords) {
  std::string text = ResponseText("http://a/", "x") +
                     ResponseText("http://b/", std::string(5'000, 'x'));
  std::string packed = GzipMember(text);
  packed.resize(packed.size() - 10);
  MemoryFileSystem fs;
  Put(fs, "a.warc.gz", packed);
  auto said = RepairFile(fs, "a.warc.gz");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("not repaired"), std::string::npos) << said[0];
  EXPECT_EQ(Read(fs, "a.warc.gz"), packed);
}

TEST(ArchiveIndex, NamesTheIndexBesideAnArchive) {
  EXPECT_EQ(IndexPathOf("d/x.warc.gz"), "d/x.cdxj");
  EXPECT_EQ(IndexPathOf("d/x.warc.gz.open"), "d/x.cdxj");
  EXPECT_EQ(IndexPathOf("x.warc.zst"), "x.cdxj");
  EXPECT_EQ(IndexPathOf("x.arc.gz"), "x.cdxj");
  EXPECT_EQ(IndexPathOf("x"), "x.cdxj");
  EXPECT_EQ(BaseName("d/x.warc"), "x.warc");
  EXPECT_EQ(BaseName("x"), "x");
}

}  // namespace
}  // namespace nephila::store
