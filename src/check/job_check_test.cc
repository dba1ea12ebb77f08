// A sound job is sound; whatever is done to one of its files is found, and the
// file named; nothing is ever changed.
#include "check/job_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/commit_file.h"
#include "base/file_testing.h"
#include "base/random.h"
#include "check/job_testing.h"
#include "job/entry.h"
#include "job/journal.h"
#include "job/manifest.h"
#include "store/archive_units.h"

namespace nephila::check {
namespace {

// Of each file that is damaged.
constexpr uint64_t kFlips = 12;

using Files = std::map<std::string, std::string>;

// Allocated blocks, and a number for a message: what is in them means nothing.
bool HasNoMeaning(const std::string& path) {
  return path.ends_with("/reserve") || path.ends_with("/lock") ||
         path.ends_with("/slots") ||
         path.find("/contacts/") != std::string::npos;
}

// crawl.log is text without checksums: of a line that is about a record the
// columns that the record has too are compared (docs/formats/crawl-log.md),
// of the others the form.
bool IsText(const std::string& path) {
  return path.ends_with(".log") && path.find("/crawl") != std::string::npos;
}

class JobCheckTest : public testing::TestWithParam<config::Profile> {
 protected:
  JobCheckTest() : job_(GetParam()) {}

  // The job, over.
  Files Finished() {
    job_.Open();
    EXPECT_TRUE(job_.Run());
    job_.Close();
    return job_.Files();
  }
  void ExpectSound() {
    const CheckReport report = job_.Check();
    EXPECT_TRUE(report.sound()) << Describe(report);
  }
  static std::string FileLike(const Files& files, std::string_view part) {
    for (const auto& [path, contents] : files) {
      if (path.find(part) != std::string::npos) return path;
    }
    return "";
  }

  TestJob job_;
};

INSTANTIATE_TEST_SUITE_P(Profiles, JobCheckTest,
                         testing::Values(config::Profile::kSite,
                                         config::Profile::kBroad),
                         [](const auto& param) {
                           return param.param == config::Profile::kSite
                                      ? "Site"
                                      : "Broad";
                         });

TEST_P(JobCheckTest, AJobThatIsOverIsSoundAndStaysAsItIs) {
  const Files files = Finished();
  const CheckReport report = job_.Check();
  EXPECT_TRUE(report.sound()) << Describe(report);
  EXPECT_EQ(report.note_count, 0U) << Describe(report);
  EXPECT_TRUE(files == job_.Files());
  EXPECT_GE(report.parts.size(), 8U);
  // All of it was looked at.
  const std::string text = Describe(report);
  EXPECT_NE(text.find("21 fetches"), std::string::npos) << text;
  EXPECT_NE(text.find("with long rules"), std::string::npos) << text;
}

TEST_P(JobCheckTest, AJobThatWasStoppedOrKilledAnywhereIsSound) {
  Random random(5);
  job_.Open();
  for (int i = 0; i < 12; ++i) {
    const bool is_over = job_.Run(random.Below(500));
    if (i % 3 == 2) job_.Kill();
    job_.Close();
    const Files files = job_.Files();
    ExpectSound();
    EXPECT_TRUE(files == job_.Files());
    if (is_over) break;
    job_.Open();
  }
  job_.Open();
  job_.Run();
  job_.Close();
  ExpectSound();
}

TEST_P(JobCheckTest, AFlippedBitOfAnyFileIsFoundAndTheFileNamed) {
  const Files files = Finished();
  size_t looked_at = 0;
  for (const auto& [path, contents] : files) {
    if (HasNoMeaning(path) || IsText(path)) continue;
    ++looked_at;
    const uint64_t stride = contents.size() / kFlips | 1;
    for (uint64_t offset = 0; offset < contents.size(); offset += stride) {
      const auto bit = static_cast<unsigned>(offset % 8);
      MustDo(job_.fs.FlipBit(path, offset, bit));
      const CheckReport report = job_.Check();
      EXPECT_TRUE(NamesFile(report, path))
          << path << " at " << offset << " of " << contents.size() << "\n"
          << Describe(report);
      MustDo(job_.fs.FlipBit(path, offset, bit));
    }
  }
  EXPECT_GT(looked_at, 8U);
  ExpectSound();
}

TEST_P(JobCheckTest, AFileThatIsCutOrGoneIsFoundAndTheFileNamed) {
  const Files files = Finished();
  for (const auto& [path, contents] : files) {
    if (HasNoMeaning(path)) continue;
    for (const uint64_t left :
         {contents.size() - 1, contents.size() / 2, uint64_t{0}}) {
      Put(job_.fs, path, contents.substr(0, left));
      const CheckReport report = job_.Check();
      EXPECT_TRUE(NamesFile(report, path)) << path << " of " << left << "\n"
                                           << Describe(report);
    }
    MustDo(job_.fs.Remove(path));
    const CheckReport report = job_.Check();
    // A name that is gone is known by its number or its folder.
    EXPECT_FALSE(report.sound()) << path << "\n" << Describe(report);
    const std::string folder = path.substr(4, path.rfind('/') - 4);
    EXPECT_TRUE(NamesFile(report, path) || NamesFile(report, "job/" + folder))
        << path << "\n"
        << Describe(report);
    Put(job_.fs, path, contents);
  }
  ExpectSound();
}

TEST_P(JobCheckTest, WhatHasNoMeaningMayBeAnything) {
  for (const auto& [path, contents] : Finished()) {
    if (!HasNoMeaning(path)) continue;
    Put(job_.fs, path, "x" + contents);
    ExpectSound();
    MustDo(job_.fs.Remove(path));
    ExpectSound();
  }
}

TEST_P(JobCheckTest, ADamagedLogOfContactsIsNamedAndNoDamageOfTheJob) {
  size_t logs = 0;
  for (const auto& [path, contents] : Finished()) {
    if (path.find("/contacts/") == std::string::npos) continue;
    ++logs;
    MustDo(job_.fs.FlipBit(path, contents.size() / 2, 0));
    const CheckReport report = job_.Check();
    EXPECT_TRUE(report.sound()) << Describe(report);
    EXPECT_NE(Describe(report).find(path.substr(4)), std::string::npos)
        << Describe(report);
  }
  EXPECT_GT(logs, 0U);
}

TEST_P(JobCheckTest, AColumnOfCrawlLogThatARecordHasTooIsCompared) {
  const Files files = Finished();
  const std::string path = "job/archive/crawl.log";
  const std::string& log = files.at(path);
  size_t found = 0;
  size_t missed = 0;
  for (uint64_t offset = 0; offset < log.size(); offset += 31) {
    MustDo(job_.fs.FlipBit(path, offset, 0));
    const CheckReport report = job_.Check();
    ++(NamesFile(report, path) ? found : missed);
    MustDo(job_.fs.FlipBit(path, offset, 0));
  }
  // Time of the line, page with the link, media type, thread, annotations:
  // words that stand in this file alone.
  EXPECT_GT(found, missed) << found << " " << missed;
}

TEST_P(JobCheckTest, FilesThatNobodyNamesAreStraysAndNoDamage) {
  Finished();
  Put(job_.fs, "job/seen/00009999.run", "x");
  Put(job_.fs, "job/archive/notes.txt", "x");
  Put(job_.fs, "job/manifests/manifest-00000099.tmp", "x");
  const CheckReport report = job_.Check();
  EXPECT_TRUE(report.sound()) << Describe(report);
  EXPECT_EQ(report.note_count, 3U) << Describe(report);
}

TEST_P(JobCheckTest, ARecordThatIsThereTwiceIsFound) {
  const Files files = Finished();
  const std::string path = FileLike(files, ".warc.gz");
  auto reader = Must(store::UnitReader::Open(job_.fs, path));
  store::Unit unit;
  while (Must(reader->Next(&unit)) && unit.url != "http://b.com/2") {
  }
  ASSERT_EQ(unit.url, "http://b.com/2");
  const std::string& bytes = files.at(path);
  Put(job_.fs, path, bytes + bytes.substr(unit.offset, unit.end - unit.offset));
  const CheckReport report = job_.Check();
  const std::string text = Describe(report);
  EXPECT_NE(text.find("archived twice"), std::string::npos) << text;
  EXPECT_TRUE(NamesFile(report, path));
}

TEST_P(JobCheckTest, AJournalEntryOfAnotherUrlIsFound) {
  const Files files = Finished();
  // The same journal, with the places of two entries changed for each other.
  auto reader = Must(job::JournalReader::Open(job_.fs, "job/journal", 1));
  std::vector<std::string> entries;
  while (const auto next = Must(reader.Next())) {
    entries.emplace_back(next->bytes);
  }
  std::vector<size_t> placed;
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto entry = job::ReadEntry(entries[i]);
    ASSERT_TRUE(entry.has_value());
    if (entry->archive && entry->kind == job::EntryKind::kPage) {
      placed.push_back(i);
    }
  }
  ASSERT_GT(placed.size(), 5U);
  const auto with_record_of = [&](size_t i, size_t other) {
    job::Entry entry = *job::ReadEntry(entries[i]);
    entry.record = job::ReadEntry(entries[other])->record;
    std::string bytes;
    job::AppendEntry(entry, bytes);
    return bytes;
  };
  const std::string changed = with_record_of(placed[3], placed[4]);
  for (const std::string& name : Names(job_.fs, "job/journal")) {
    MustDo(job_.fs.Remove("job/journal/" + name));
  }
  job::JournalOptions options;
  options.salt = 7;
  {
    const auto journal =
        Must(job::Journal::Open(job_.fs, "job/journal", options, 1));
    for (size_t i = 0; i < entries.size(); ++i) {
      Must(journal->Append(i == placed[3] ? changed : entries[i]));
    }
    MustDo(journal->Sync());
  }
  const CheckReport report = job_.Check();
  const std::string text = Describe(report);
  EXPECT_NE(text.find("the record is of another URL"), std::string::npos)
      << text;
  EXPECT_EQ(report.damage_count, 1U) << text;
}

TEST_P(JobCheckTest, ARecordWithoutAnEntryIsFound) {
  const Files files = Finished();
  auto reader = Must(job::JournalReader::Open(job_.fs, "job/journal", 1));
  std::vector<std::string> entries;
  while (const auto next = Must(reader.Next())) {
    entries.emplace_back(next->bytes);
  }
  for (const std::string& name : Names(job_.fs, "job/journal")) {
    MustDo(job_.fs.Remove("job/journal/" + name));
  }
  job::JournalOptions options;
  options.salt = 7;
  {
    const auto journal =
        Must(job::Journal::Open(job_.fs, "job/journal", options, 1));
    bool left_out = false;
    for (const std::string& bytes : entries) {
      job::Entry entry = *job::ReadEntry(bytes);
      std::string again;
      if (entry.archive && !left_out && journal->next() > 8) {
        entry.archive.reset();
        left_out = true;
      }
      job::AppendEntry(entry, again);
      Must(journal->Append(again));
    }
    MustDo(journal->Sync());
  }
  const CheckReport report = job_.Check();
  const std::string text = Describe(report);
  EXPECT_NE(text.find("without an entry in the journal"), std::string::npos)
      << text;
}

TEST_P(JobCheckTest, ArchivesInOtherFoldersAreReadToo) {
  job_.settings.store.folders = {"more"};
  const Files files = Finished();
  const std::string path = FileLike(files, "job/more/nephila-2");
  ASSERT_NE(path, "");
  // Also where only the manifest names the folder.
  for (const char* folder : {"more", "archive"}) {
    job_.settings.store.folders = {folder};
    const CheckReport report = job_.Check();
    EXPECT_TRUE(report.sound()) << Describe(report);
    EXPECT_EQ(report.note_count, 0U) << Describe(report);
    EXPECT_NE(Describe(report).find("21 fetches"), std::string::npos);
  }
  for (const auto& [name, contents] : files) {
    if (!name.starts_with("job/more/")) continue;
    MustDo(job_.fs.Remove(name));
  }
  EXPECT_FALSE(job_.Check().sound());
}

// The manifest is whole, and one number in it another.
TEST_P(JobCheckTest, CountersThatDoNotAddUpAreFound) {
  Finished();
  job::Manifest manifest =
      *Must(job::ReadManifests(job_.fs, "job/manifests", 7)).newest;
  std::string& seen = manifest.parts["seen"];
  ByteReader reader(seen);
  ASSERT_TRUE(reader.U8().has_value());
  ASSERT_TRUE(reader.Varint().has_value());  // the generation
  ASSERT_LT(seen[reader.position()], 0x7F);
  ++seen[reader.position()];  // what came in
  std::string bytes;
  AppendManifest(manifest, 7, bytes);
  const std::string path =
      "job/manifests/" + CommitFileName("manifest-", manifest.number);
  Put(job_.fs, path, bytes);
  const CheckReport report = job_.Check();
  const std::string text = Describe(report);
  EXPECT_TRUE(NamesFile(report, path)) << text;
  EXPECT_NE(text.find("stage seen: in "), std::string::npos) << text;
  EXPECT_NE(text.find("left stage scope"), std::string::npos) << text;
}

TEST_P(JobCheckTest, AJobThatIsInUseIsRefused) {
  Finished();
  const auto lock = Must(job_.fs.Lock("job/lock"));
  EXPECT_FAILS(job_.TryCheck(), kBusy, "process 1 is working on this job");
}

TEST_P(JobCheckTest, WhatIsNoJobIsRefused) {
  EXPECT_FAILS(job_.TryCheck(), kNotFound, "job: no job is there");
}

TEST_P(JobCheckTest, SettingsThatKeysDependOnAreRefused) {
  Finished();
  job_.settings.url.sort_query = !job_.settings.url.sort_query;
  EXPECT_FAILS(job_.TryCheck(), kInvalidArgument, "url.sort_query");
}

TEST_P(JobCheckTest, DamagesAreBoundedAndAllCounted) {
  const Files files = Finished();
  const std::string path = "job/archive/crawl.log";
  std::string lines;
  for (int i = 0; i < 500; ++i) lines += "no line at all\n";
  Put(job_.fs, path, lines + files.at(path));
  const CheckReport report = job_.Check();
  EXPECT_EQ(report.damages.size(), 100U);
  EXPECT_GE(report.damage_count, 200U);
}

}  // namespace
}  // namespace nephila::check
