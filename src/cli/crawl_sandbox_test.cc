// The real `nephila crawl` in its sandbox, against the simulated web. Where the
// kernel has no support the line of the log that says so is what is tested.
#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/sanitizers_testing.h"
#include "cli/crawl_cmd_testing.h"

namespace nephila::cli {
namespace {

class CrawlSandboxTest : public CrawlCmdTest {
 protected:
  static bool HasLandlock() {
    return syscall(SYS_landlock_create_ruleset, nullptr, 0,
                   LANDLOCK_CREATE_RULESET_VERSION) > 0;
  }
  static bool HasSeccomp() {
    uint32_t action = SECCOMP_RET_TRAP;
    return !kIsSanitized &&
           syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  }
  // The lines of the job's log about it.
  std::vector<std::string> SandboxLines() const {
    std::ifstream file(Job() + "/log");
    std::vector<std::string> lines;
    constexpr std::string_view kBegin = "sandbox: ";
    for (std::string line; std::getline(file, line);) {
      const size_t at = line.find(kBegin);
      if (at != std::string::npos) lines.push_back(line.substr(at));
    }
    return lines;
  }
};

TEST_F(CrawlSandboxTest, CrawlsWithBothPartsOn) {
  Serve("[web]\nhosts = 3\nplds = 3\npages_per_host = 10\nlargest_site = 50\n");
  const Ended ended =
      Run(CrawlArgs({"--seeds", SeedFile(Seeds(3)), "--set", "crawl.threads=3",
                     "--set", "control.http=127.0.0.1:0"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(web_->counts().requests, 6U);
  // At its end, with files of the job alone.
  EXPECT_TRUE(std::filesystem::exists(Job() + "/report.html")) << ended.err;
  EXPECT_EQ(ended.err.find("forbidden"), std::string::npos) << ended.err;
  const std::vector<std::string> lines = SandboxLines();
  ASSERT_EQ(lines.size(), 2U);
  if (HasLandlock()) {
    EXPECT_EQ(lines[0], "sandbox: files: confined by Landlock");
  } else {
    EXPECT_NE(lines[0].find("not confined: "), std::string::npos) << lines[0];
  }
  if (HasSeccomp()) {
    EXPECT_EQ(lines[1], "sandbox: system calls: confined by seccomp");
  } else {
    EXPECT_NE(lines[1].find("not confined: "), std::string::npos) << lines[1];
  }
}

TEST_F(CrawlSandboxTest, OffIsSaidInTheLog) {
  Serve("[web]\nhosts = 1\nplds = 1\npages_per_host = 2\nlargest_site = 50\n");
  const Ended ended =
      Run(CrawlArgs({"--seeds", SeedFile(Seeds(1)), "--set",
                     "sandbox.landlock=off", "--set", "sandbox.seccomp=off"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(SandboxLines(),
            (std::vector<std::string>{
                "sandbox: files: not confined (sandbox.landlock is off)",
                "sandbox: system calls: not confined (sandbox.seccomp is "
                "off)"}));
}

// Also in the run that goes on, which knows the folder by its manifest.
TEST_F(CrawlSandboxTest, ArchivesInAFolderElsewhere) {
  Serve("[web]\nhosts = 2\nplds = 2\npages_per_host = 5\nlargest_site = 50\n");
  const std::string folder = Folder("elsewhere");
  const std::vector<std::string> args = CrawlArgs(
      {"--seeds", SeedFile(Seeds(2)), "--set", "store.folders=" + folder});
  for (int run = 0; run < 2; ++run) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder));
}

// A list that was replaced by another file is read all the same, and a list
// that the crawl was not started with is refused.
TEST_F(CrawlSandboxTest, ReadsABlocklistThatWasReplaced) {
  Serve("[web]\nhosts = 2\nplds = 2\npages_per_host = 3\nlargest_site = 50\n");
  const std::string lists = Folder("lists");
  std::filesystem::create_directories(lists);
  std::ofstream(lists + "/blocked") << "# nothing\n";
  const pid_t process = Start(CrawlArgs(
      {"--seeds", SeedFile(Seeds(2)), "--set", "politeness.host_delay=1h",
       "--set", "politeness.park_after=2h", "--set",
       "scope.block_files=" + lists + "/blocked", "--set",
       "scope.block_interval=1s"}));
  ASSERT_TRUE(WaitForRequests(1, process));
  const Ended refused =
      Run({"set", "--job", Job(), "scope.block_files=" + Folder("other")});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("scope.block_files cannot change while the crawl "
                             "runs"),
            std::string::npos)
      << refused.err;
  std::ofstream(lists + "/new") << "nonsense\n";
  std::filesystem::rename(lists + "/new", lists + "/blocked");
  // Its error is in the log once it was read.
  const MonoTime deadline = clock_.Now() + kPatience;
  bool read = false;
  while (!read && clock_.Now() < deadline) {
    std::ostringstream log;
    log << std::ifstream(Job() + "/log").rdbuf();
    read = log.str().find("nonsense") != std::string::npos;
  }
  EXPECT_TRUE(read);
  kill(process, SIGINT);
  EXPECT_EQ(Wait(process).err.find("forbidden"), std::string::npos);
}

}  // namespace
}  // namespace nephila::cli
