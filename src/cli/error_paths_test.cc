// What goes wrong for a user, as he sees it: one clear line and an exit status
// of its own for each kind (docs/exit-codes.md), with the real program.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

class ErrorPathsTest : public CrawlCmdTest {
 protected:
  // One line on stderr, nothing on stdout.
  void ExpectRefused(const std::vector<std::string>& args, ExitCode code,
                     std::string_view says) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(says), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
    EXPECT_EQ(ended.out, "");
  }
  // A crawl that ran and has nothing: its last line says why.
  void ExpectNothing(const Ended& ended, std::string_view says) {
    EXPECT_EQ(ended.code, kNothingFetched) << ended.err;
    EXPECT_TRUE(
        LastLine(ended.err).starts_with("nephila: no seed could be fetched"))
        << ended.err;
    EXPECT_NE(LastLine(ended.err).find(says), std::string::npos) << ended.err;
  }
  static std::vector<std::string> With(std::vector<std::string> args,
                                       const std::vector<std::string>& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  static std::vector<std::string> TriedTwice() {
    return {"--set", "robots.retry_wait=10ms",
            "--set", "robots.retry_wait_max=10ms",
            "--set", "robots.unreachable_attempts=2",
            "--set", "politeness.back_off=10ms",
            "--set", "politeness.back_off_max=20ms",
            "--set", "politeness.dead_pause=10ms",
            "--set", "politeness.dead_pause_max=20ms"};
  }
};

TEST_F(ErrorPathsTest, AWrongFlag) {
  ExpectRefused({"crawl", "--jobs", "x", "http://t.example/"}, kUsage,
                "--jobs: no such option; did you mean --job?");
  ExpectRefused({"crawl", "--max-pagse=3", "--job", Job()}, kUsage,
                "did you mean --max-pages?");
}

TEST_F(ErrorPathsTest, AMissingContact) {
  ExpectRefused({"crawl", "--job", Job(), "http://t.example/"}, kNoContact,
                "add --set agent.contact=");
  EXPECT_FALSE(std::filesystem::exists(Job()));
  ExpectRefused({"fetch", "http://t.example/"}, kNoContact,
                "add --set agent.contact=");
}

TEST_F(ErrorPathsTest, ASeedThatNobodyListensAt) {
  // Port 2 of this machine.
  const Ended ended =
      Crawl(With({"--set", "guard.allow=127.0.0.0/8", "http://127.0.0.1:2/"},
                 TriedTwice()));
  ExpectNothing(ended,
                "http://127.0.0.1:2/robots.txt: it cannot be connected to");
  EXPECT_NE(ended.err.find("nothing of the site may be asked for without it; "
                           "trying again in 1s, at "),
            std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("(try 2 of 2)"), std::string::npos) << ended.err;
  // The account is there all the same.
  EXPECT_TRUE(ended.out.starts_with("finished: 0 pages")) << ended.out;
}

TEST_F(ErrorPathsTest, ASeedWhoseNameDoesNotExist) {
  Serve("[[rule]]\nhost = \"gone.example\"\nbehaviour = \"nxdomain\"\n");
  ExpectNothing(Crawl(With({Url("gone.example", "/")}, TriedTwice())),
                "there is no such host");
}

TEST_F(ErrorPathsTest, ASeedThatIsNotPublic) {
  ExpectNothing(Crawl(With({"http://127.0.0.1:2/"}, TriedTwice())),
                "its address is not public (guard.allow opens a network)");
}

TEST_F(ErrorPathsTest, ASeedThatAnswersWithErrorsAlone) {
  Serve(R"([[rule]]
host = "t.example"
behaviour = "status"
status = 404
)");
  ExpectNothing(Crawl({Url("t.example", "/")}), "it answers with status 404");
}

TEST_F(ErrorPathsTest, ASeedThatRobotsTxtDenies) {
  Serve(R"([[rule]]
host = "t.example"
path = "/robots.txt"
behaviour = "robots"
text = "User-agent: *\nDisallow: /\n"
[[rule]]
host = "t.example"
behaviour = "page"
)");
  ExpectNothing(Crawl({Url("t.example", "/")}), "denied");
}

// One of several that answers is a crawl.
TEST_F(ErrorPathsTest, NotEverySeedHasToAnswer) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"page\"\n");
  const Ended ended = Crawl(
      With({"--max-pages", "1", "http://127.0.0.1:2/", Url("t.example", "/")},
           TriedTwice()));
  EXPECT_EQ(ended.code, kSuccess) << ended.err;
}

TEST_F(ErrorPathsTest, ARobotsTxtThatFailsIsWaitedForAloudAndNotForEver) {
  Serve(R"([[rule]]
host = "t.example"
path = "/robots.txt"
behaviour = "status"
status = 503
[[rule]]
host = "t.example"
behaviour = "page"
)");
  const std::string seed = Url("t.example", "/");
  const Ended ended = Crawl({"--max-time", "3s", seed});
  ExpectNothing(ended, "in this time: " + seed +
                           "robots.txt: it answers with status 503");
  EXPECT_NE(ended.err.find("trying again in 1m, at "), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find("UTC (try 2 of 4)"), std::string::npos) << ended.err;
  // And given up by itself.
  std::filesystem::remove_all(Job());
  ExpectNothing(Crawl(With({seed}, TriedTwice())), "status 503");
}

TEST_F(ErrorPathsTest, AFolderThatMayNotBeWritten) {
  // Not even root may make a folder there.
  ExpectRefused({"crawl", "--job", "/sys/nephila-job", "--set",
                 "agent.contact=x@example.org", "http://t.example/"},
                kNotPermitted, "/sys/nephila-job: ");
}

TEST_F(ErrorPathsTest, AJobInUse) {
  Serve("[[rule]]\nhost = \"t.example\"\nbehaviour = \"hang\"\n");
  const std::string seed = Url("t.example", "/");
  const pid_t first = Start(CrawlArgs({seed}));
  ASSERT_TRUE(WaitForRequests(1, first));
  ExpectRefused(CrawlArgs({seed}), kInUse,
                fmt::format("process {} is working on this job", first));
  kill(first, SIGKILL);
  EXPECT_EQ(Wait(first).code, -1);
}

// As a shell runs it, with what only a shell can set.
class SmallDiskTest : public ErrorPathsTest {
 protected:
  // Runs `command` in a shell; its lines go to out.txt and err.txt.
  Ended Shell(const std::string& command) {
    std::ofstream(Folder("run.sh")) << command << '\n';
    const int status = std::system(fmt::format("sh {0}/run.sh >{0}/out.txt "
                                               "2>{0}/err.txt",
                                               folder_.string())
                                       .c_str());
    Ended ended;
    if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
    ended.out = Contents("out.txt");
    ended.err = Contents("err.txt");
    return ended;
  }
  std::string Contents(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string CrawlCommand(const std::string& job) const {
    return fmt::format(
        "{} crawl --quiet --job {} --max-time 1s --set agent.contact=x@y.org "
        "http://127.0.0.1:2/",
        NEPHILA_BINARY, job);
  }
};

TEST_F(SmallDiskTest, AFullDisk) {
  const std::string disk = Folder("disk");
  std::filesystem::create_directories(disk);
  const auto on_disk = [&](const char* size) {
    return Shell(
        fmt::format("exec unshare --map-root-user --mount sh -c "
                    "'mount -t tmpfs -o size={} tmpfs {} && exec {}'",
                    size, disk, CrawlCommand(disk + "/job")));
  };
  if (Shell(fmt::format("unshare --map-root-user --mount "
                        "mount -t tmpfs tmpfs {}",
                        disk))
          .code != 0) {
    // Nobody may mount here: a limit on the size of files has to do.
    const Ended ended = Shell("ulimit -f 100; exec " + CrawlCommand(Job()));
    EXPECT_EQ(ended.code, kFailed) << ended.err;
    EXPECT_NE(ended.err.find(": File too large\n"), std::string::npos)
        << ended.err;
    return;
  }
  const Ended full = on_disk("200k");
  EXPECT_EQ(full.code, kDiskFull) << full.err;
  EXPECT_NE(full.err.find(disk + "/job/"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find(": No space left on device\n"), std::string::npos)
      << full.err;
  EXPECT_EQ(std::count(full.err.begin(), full.err.end(), '\n'), 1) << full.err;
  // With room for the job and less than disk.floor it waits, aloud, until its
  // time is over.
  const Ended low = on_disk("30m");
  EXPECT_EQ(low.code, kDiskFull) << low.err;
  EXPECT_NE(low.err.find("below disk.floor of 1.0 GiB; waiting\n"),
            std::string::npos)
      << low.err;
  EXPECT_TRUE(LastLine(low.err).starts_with("nephila: nothing was fetched: "))
      << low.err;
}

TEST_F(SmallDiskTest, ALimitOnTheSizeOfFilesIsALineNotASignal) {
  const Ended ended = Shell("ulimit -f 2000; exec " + CrawlCommand(Job()));
  EXPECT_EQ(ended.code, kFailed) << ended.err;
  EXPECT_NE(ended.err.find("reserve at offset "), std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find(": File too large\n"), std::string::npos)
      << ended.err;
}

// A job that is sound, with some pages.
class DamageTest : public ErrorPathsTest {
 protected:
  void SetUp() override {
    ErrorPathsTest::SetUp();
    Serve(R"([[rule]]
host = "t.example"
behaviour = "status"
status = 200
type = "text/html"
text = "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>"
)");
    ASSERT_EQ(Crawl({Url("t.example", "/")}).code, kSuccess);
  }
  // Every file in this folder of the job, one byte changed in the middle.
  void Damage(const std::string& folder) {
    for (const auto& entry :
         std::filesystem::directory_iterator(Job() + "/" + folder)) {
      if (!entry.is_regular_file() || entry.file_size() == 0) continue;
      DamageFile(entry.path());
    }
  }
  static void DamageFile(const std::filesystem::path& path, size_t at = 0) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    std::string bytes = text.str();
    ASSERT_FALSE(bytes.empty()) << path;
    if (at == 0) at = bytes.size() / 2;
    ASSERT_LT(at, bytes.size()) << path;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    std::ofstream(path, std::ios::binary) << bytes;
  }
};

TEST_F(DamageTest, OfTheJobFile) {
  DamageFile(Job() + "/job.toml");
  ExpectRefused(CrawlArgs({}), kUnsound, "/job.toml: its checksum");
  ExpectRefused(CrawlArgs({}), kUnsound,
                "`nephila check --job " + Job() + "` lists what is damaged");
  ExpectRefused({"status", "--job", Job()}, kUnsound, "/job.toml");
}

TEST_F(DamageTest, OfEveryManifest) {
  Damage("manifests");
  ExpectRefused(CrawlArgs({}), kUnsound, "/manifests/");
  ExpectRefused({"status", "--job", Job()}, kUnsound, "/manifests/");
}

TEST_F(DamageTest, OfTheSuffixList) {
  DamageFile(Job() + "/public_suffix_list.dat");
  ExpectRefused(CrawlArgs({}), kUnsound, "/public_suffix_list.dat");
}

TEST_F(DamageTest, OfTheJournal) {
  // In its first entry.
  DamageFile(Job() + "/journal/journal-00000001.log", 40);
  ExpectRefused(CrawlArgs({}), kUnsound, "/journal/journal-00000001.log");
  const Ended ended = Run({"check", "--job", Job()});
  EXPECT_EQ(ended.code, kUnsound) << ended.out << ended.err;
  EXPECT_NE(ended.out.find("journal/"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace nephila::cli
