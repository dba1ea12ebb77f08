#include "job/job_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/faulty_file_system.h"
#include "base/file_testing.h"
#include "base/memory_file_system.h"
#include "base/real_file_system.h"

namespace nephila::job {
namespace {

const std::string kDir = "crawls/one";

JobRequest Request() {
  JobRequest request;
  request.suffix_list = "com\norg\n";
  request.process_id = 4711;
  request.profile = config::Profile::kSite;
  request.key_seed = 0xfedcba9876543210;
  request.now = WallTime(std::chrono::seconds(1'767'225'600));
  request.version = "0.1.0";
  request.settings = config::SettingsOf(config::Profile::kSite);
  request.settings.url.www = config::WwwMode::kStrip;
  request.settings.url.session_ids = {"sid", "with, \"comma\""};
  return request;
}

class JobFolderTest : public ::testing::Test {
 protected:
  MemoryFileSystem fs_;
};

TEST_F(JobFolderTest, IsMadeAndOpened) {
  {
    const auto job = Must(JobFolder::Create(fs_, kDir, Request()));
    EXPECT_TRUE(job->is_new());
    EXPECT_EQ(job->Path(kJournalDir), "crawls/one/journal");
    EXPECT_EQ(job->key_seed(), 0xfedcba9876543210);
  }
  EXPECT_EQ(
      Names(fs_, kDir),
      (std::vector<std::string>{"archive/", "budget/", "job.toml", "journal/",
                                "lock", "manifests/", "public_suffix_list.dat",
                                "ready/", "reputation/", "robots/", "seen/"}));
  JobRequest request = Request();
  request.suffix_list = "";
  request.key_seed = 1;  // of a new one only
  const auto job = Must(JobFolder::Open(fs_, kDir, request));
  EXPECT_FALSE(job->is_new());
  EXPECT_EQ(job->key_seed(), 0xfedcba9876543210);
  EXPECT_EQ(job->suffix_list(), "com\norg\n");
  EXPECT_EQ(job->file().made, "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(job->file().version, "0.1.0");
  EXPECT_EQ(job->file().profile, config::Profile::kSite);
  EXPECT_EQ(job->file().fixed.url.www, config::WwwMode::kStrip);
  EXPECT_EQ(job->file().fixed.url.session_ids,
            request.settings.url.session_ids);
  // What keys do not depend on is not kept.
  EXPECT_EQ(job->file().fixed.politeness.host_delay,
            config::Settings().politeness.host_delay);
}

TEST_F(JobFolderTest, WhicheverIsDue) {
  {
    EXPECT_TRUE(Must(JobFolder::OpenOrCreate(fs_, kDir, Request()))->is_new());
  }
  EXPECT_FALSE(Must(JobFolder::OpenOrCreate(fs_, kDir, Request()))->is_new());
}

TEST_F(JobFolderTest, ThereIsOneProcessAtATime) {
  auto job = Must(JobFolder::Create(fs_, kDir, Request()));
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kBusy,
               "crawls/one: process 4711 is working on this job");
  EXPECT_FAILS(JobFolder::OpenOrCreate(fs_, kDir, Request()), kBusy, "4711");
  EXPECT_FAILS(JobFolder::Create(fs_, kDir, Request()), kBusy, "4711");
  job.reset();
  JobRequest second = Request();
  second.process_id = 12;
  job = Must(JobFolder::Open(fs_, kDir, second));
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kBusy, "process 12 ");
  Put(fs_, kDir + "/lock", "what is this");
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kBusy,
               "another process ");
  // A dead process holds nothing.
  fs_.KillProcess();
  Must(JobFolder::Open(fs_, kDir, Request()));
}

TEST_F(JobFolderTest, KnowsWhatAFolderHolds) {
  EXPECT_EQ(Must(JobFolder::Look(fs_, kDir)), JobState::kNone);
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kNotFound, kDir);
  EXPECT_FAILS(JobFolder::Read(fs_, kDir), kNotFound, kDir);
  MustDo(EnsureDir(fs_, kDir));
  EXPECT_EQ(Must(JobFolder::Look(fs_, kDir)), JobState::kNone);
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kNotFound, kDir);
  Put(fs_, kDir + "/thesis.tex", "years of work");
  EXPECT_EQ(Must(JobFolder::Look(fs_, kDir)), JobState::kOther);
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kInvalidArgument,
               "thesis.tex");
  EXPECT_FAILS(JobFolder::Create(fs_, kDir, Request()), kInvalidArgument,
               "crawls/one: holds thesis.tex and no job");
  EXPECT_FAILS(JobFolder::OpenOrCreate(fs_, kDir, Request()), kInvalidArgument,
               "thesis.tex");
  EXPECT_EQ(Names(fs_, kDir), std::vector<std::string>{"thesis.tex"});
}

TEST_F(JobFolderTest, AFolderOfAJobThatLostItsFileIsNotEmpty) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  Put(fs_, kDir + "/archive/00000.warc.gz", "pages");
  MustDo(fs_.Remove(kDir + "/job.toml"));
  EXPECT_FAILS(JobFolder::OpenOrCreate(fs_, kDir, Request()), kInvalidArgument,
               "holds archive and no job");
  EXPECT_EQ(Get(fs_, kDir + "/archive/00000.warc.gz"), "pages");
  // Without the pages it is one whose making was cut off.
  MustDo(fs_.Remove(kDir + "/archive/00000.warc.gz"));
  EXPECT_TRUE(Must(JobFolder::OpenOrCreate(fs_, kDir, Request()))->is_new());
}

TEST_F(JobFolderTest, AFileIsNoFolder) {
  Put(fs_, "file", "text");
  EXPECT_FALSE(JobFolder::Look(fs_, "file").has_value());
  EXPECT_FALSE(JobFolder::OpenOrCreate(fs_, "file", Request()).has_value());
  EXPECT_EQ(Get(fs_, "file"), "text");
}

TEST_F(JobFolderTest, IsMadeOnce) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  EXPECT_FAILS(JobFolder::Create(fs_, kDir, Request()), kAlreadyExists, kDir);
}

TEST_F(JobFolderTest, RefusesEachSettingThatKeysDependOnByName) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  JobRequest request = Request();
  request.settings.url.www = config::WwwMode::kAdd;
  request.settings.url.max_length_bytes = 4096;
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, request), kInvalidArgument,
               "crawls/one: url.www is \"add\" and was \"strip\", "
               "url.max_length is \"4KiB\" and was \"2KiB\": ");
  // The lock is free again.
  request = Request();
  request.settings.politeness.host_delay = std::chrono::seconds(77);
  request.settings.url.public_suffix_list = "elsewhere.dat";
  Must(JobFolder::Open(fs_, kDir, request));
}

TEST_F(JobFolderTest, WhatTheUserDoesNotNameStaysAsTheJobHasIt) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  JobRequest request = Request();
  request.settings = config::Settings();
  request.settings.url.public_suffix_list = "mine.dat";
  EXPECT_EQ(CodeOf(JobFolder::Open(fs_, kDir, request)), "invalid argument");
  ApplyFixed(Must(JobFolder::Read(fs_, kDir)), &request.settings);
  EXPECT_EQ(request.settings.url.public_suffix_list, "mine.dat");
  Must(JobFolder::Open(fs_, kDir, request));
}

TEST_F(JobFolderTest, KeepsItsPublicSuffixList) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  JobRequest request = Request();
  request.suffix_list = "com\n";
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, request), kInvalidArgument,
               "crawls/one: url.public_suffix_list");
  MustDo(fs_.FlipBit(kDir + "/public_suffix_list.dat", 2, 0));
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kCorruption,
               "public_suffix_list.dat");
}

TEST_F(JobFolderTest, MayHaveNoPublicSuffixListOfItsOwn) {
  JobRequest request = Request();
  request.suffix_list = "";
  { Must(JobFolder::Create(fs_, kDir, request)); }
  EXPECT_EQ(Get(fs_, kDir + "/public_suffix_list.dat"), "(none)");
  { EXPECT_EQ(Must(JobFolder::Open(fs_, kDir, request))->suffix_list(), ""); }
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kInvalidArgument,
               "url.public_suffix_list");
  const std::string large(kMostSuffixListBytes + 1, 'a');
  request.suffix_list = large;
  EXPECT_FAILS(JobFolder::Create(fs_, "large", request), kInvalidArgument,
               "16 MiB");
}

TEST_F(JobFolderTest, CanBeMoved) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  MustDo(EnsureDir(fs_, "elsewhere"));
  MustDo(fs_.Rename(kDir, "elsewhere/job"));
  const auto job = Must(JobFolder::Open(fs_, "elsewhere/job", Request()));
  EXPECT_EQ(job->Path(kSeenDir), "elsewhere/job/seen");
  EXPECT_EQ(Get(fs_, "elsewhere/job/job.toml").find("crawls"),
            std::string::npos);
}

TEST_F(JobFolderTest, AFolderThatIsGoneIsNamed) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  MustDo(fs_.RemoveDir(kDir + "/journal"));
  EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kCorruption,
               "crawls/one/journal: this folder is gone");
}

TEST_F(JobFolderTest, ALaterFormatIsRefused) {
  { Must(JobFolder::Create(fs_, kDir, Request())); }
  for (const char* text :
       {"format = 2\n", "# comment\nformat = 2\n[other]\nthings = {}\n"}) {
    Put(fs_, kDir + "/job.toml", text);
    EXPECT_FAILS(JobFolder::Open(fs_, kDir, Request()), kUnsupported,
                 "crawls/one/job.toml: format 2 of a job is that of a later "
                 "nephila; this one knows up to 1");
  }
}

TEST(JobFileTest, ComesBackAsItWas) {
  JobFile file;
  file.key_seed = 3;
  file.made = "then";
  file.version = "9";
  file.profile = config::Profile::kSite;
  file.suffix_list_crc = 0xabcdef01;
  file.suffix_list_bytes = 5;
  file.fixed.url.default_documents = {};
  file.fixed.url.max_length_bytes = 100;
  EXPECT_EQ(Must(ReadJobFile(FormatJobFile(file), "job.toml")), file);
  EXPECT_EQ(Must(ReadJobFile(FormatJobFile(JobFile()), "job.toml")), JobFile());
}

TEST(JobFileTest, IsDamagedWithAFlippedBitAnywhere) {
  const std::string text = FormatJobFile(JobFile());
  for (size_t i = 0; i < text.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1U << bit));
      const auto read = ReadJobFile(flipped, "job.toml");
      EXPECT_TRUE(CodeOf(read) == "corruption" || CodeOf(read) == "unsupported")
          << i << " " << bit;
    }
    EXPECT_EQ(CodeOf(ReadJobFile(text.substr(0, i), "job.toml")), "corruption");
  }
}

// With a checksum that fits, as only another nephila writes it.
std::string Sealed(std::string text) {
  char line[32];
  const int size =
      std::snprintf(line, sizeof line, "# crc32c %08x\n", Crc32c(text));
  return text.append(line, static_cast<size_t>(size));
}

TEST(JobFileTest, WholeFilesThatMakeNoSenseAreRefused) {
  const std::string good =
      "format = 1\n[job]\nkey_seed = \"0123456789abcdef\"\nprofile = \"site\"\n"
      "suffix_list_crc = \"00000000\"\n";
  EXPECT_EQ(Must(ReadJobFile(Sealed(good), "job.toml")).key_seed,
            0x0123456789abcdefU);
  EXPECT_FAILS(ReadJobFile(Sealed(good + "[url]\nnew_rule = true\n"), "j.toml"),
               kUnsupported, "url.new_rule");
  const auto replaced = [&good](std::string_view old, std::string_view by) {
    std::string text = good;
    return Sealed(text.replace(text.find(old), old.size(), by));
  };
  for (const std::string& text :
       {replaced("0123456789abcdef", "123456789abcdef"),
        replaced("0123456789abcdef", "0123456789abcdeg"),
        replaced("site", "sight"), replaced("format = 1\n", ""),
        replaced("format = 1", "format = 0"),
        replaced("format = 1", "format = x"), replaced("00000000", "0"),
        Sealed(good + "suffix_list_bytes = -1\n"), Sealed(""), std::string()}) {
    EXPECT_EQ(CodeOf(ReadJobFile(text, "job.toml")), "corruption") << text;
  }
}

TEST(JobFolderOnDisk, TwoFileSystemsMeetAtTheLock) {
  const auto one = MakeRealFileSystem();
  const auto other = MakeRealFileSystem();
  const std::string dir = testing::TempDir() + "nephila-job-" +
                          std::to_string(::getpid()) + "/deep/job";
  {
    const auto job = Must(JobFolder::Create(*one, dir, Request()));
    EXPECT_FAILS(JobFolder::Open(*other, dir, Request()), kBusy,
                 "process 4711");
  }
  {
    const auto job = Must(JobFolder::Open(*other, dir, Request()));
    EXPECT_EQ(job->suffix_list(), "com\norg\n");
  }
  MustDo(RemoveAll(*one, ParentDir(ParentDir(dir))));
}

}  // namespace
}  // namespace nephila::job
