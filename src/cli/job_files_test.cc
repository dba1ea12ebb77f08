// Who may read the files of a job, and what nephila does with symbolic links
// and folders of other users: with the real program.
#include "cli/job_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/crawl_cmd_testing.h"
#include "cli/exit_code.h"

namespace nephila::cli {
namespace {

namespace stdfs = std::filesystem;

constexpr std::string_view kSmallWeb = R"(
[web]
hosts = 2
plds = 2
pages_per_host = 4
page_bytes = 1000
)";

class JobFilesTest : public CrawlCmdTest {
 protected:
  static mode_t ModeOf(const stdfs::path& path) {
    struct stat info {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  static void ExpectModes(const std::string& dir, mode_t folders,
                          mode_t files) {
    EXPECT_EQ(ModeOf(dir), folders) << dir;
    int count = 0;
    for (const auto& entry : stdfs::recursive_directory_iterator(dir)) {
      EXPECT_EQ(ModeOf(entry.path()), entry.is_directory() ? folders : files)
          << entry.path();
      ++count;
    }
    EXPECT_GT(count, 0) << dir;
  }
  // A crawl that ends, and its lines on stderr without the warning for root.
  std::string CrawlAll(std::vector<std::string> args) {
    args.insert(args.begin(), "--quiet");
    args.push_back(Seeds(1).front());
    const Ended ended = Crawl(std::move(args));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.err;
  }
  // One line that says why, and the exit status.
  static void ExpectRefused(const Ended& ended, ExitCode code,
                            const std::string& says) {
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(says), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
  }
  // Puts a symbolic link to the same thing elsewhere in the place of `name`.
  void MoveAndLink(const std::string& name) {
    const std::string target = Folder("moved");
    stdfs::rename(Job() + "/" + name, target);
    stdfs::create_symlink(target, Job() + "/" + name);
  }
};

TEST_F(JobFilesTest, AJobIsForItsOwnerAlone) {
  Serve(std::string(kSmallWeb));
  const mode_t before = umask(0);  // what the user's shell allows
  CrawlAll({"--set", "store.folders=" + Folder("far") + ",archive"});
  EXPECT_EQ(Run({"set", "--job", Job(), "log.level=warning"}).code, 0);
  EXPECT_EQ(Run({"block", "--job", Job(), "a.example"}).code, 0);
  EXPECT_EQ(Run({"retry", "--job", Job()}).code, 0);
  EXPECT_EQ(Run({"report", "--job", Job()}).code, 0);
  umask(before);
  ExpectModes(Job(), 0700, 0600);
  ExpectModes(Folder("far"), 0700, 0600);
}

TEST_F(JobFilesTest, AJobCanBeReadableByItsGroup) {
  Serve(std::string(kSmallWeb));
  const mode_t before = umask(077);  // the setting wins
  CrawlAll({"--set", "job.group_readable=true"});
  EXPECT_EQ(Run({"block", "--job", Job(), "a.example"}).code, 0);
  EXPECT_EQ(Run({"report", "--job", Job()}).code, 0);
  umask(before);
  ExpectModes(Job(), 0750, 0640);
}

TEST_F(JobFilesTest, AJobWithOlderModesStillOpensAndKeepsThem) {
  Serve(std::string(kSmallWeb));
  CrawlAll({"--max-pages", "2"});
  for (const auto& entry : stdfs::recursive_directory_iterator(Job())) {
    ASSERT_EQ(chmod(entry.path().c_str(), entry.is_directory() ? 0755 : 0644),
              0);
  }
  ASSERT_EQ(chmod(Job().c_str(), 0755), 0);
  CrawlAll({"--set", "crawl.max_pages=0"});
  EXPECT_EQ(ModeOf(Job()), 0755U);
  EXPECT_EQ(ModeOf(Job() + "/job.toml"), 0644U);
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
}

TEST_F(JobFilesTest, NoLinkInsideAJobIsFollowed) {
  Serve(std::string(kSmallWeb));
  CrawlAll({"--max-pages", "2"});
  for (const char* name :
       {"job.toml", "lock", "log", "archive", "journal", "seen", "manifests"}) {
    SCOPED_TRACE(name);
    MoveAndLink(name);
    const Ended ended =
        Crawl({"--quiet", "--set", "crawl.max_pages=0", Seeds(1).front()});
    EXPECT_NE(ended.code, 0) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
    EXPECT_NE(ended.err.find("symbolic link"), std::string::npos) << ended.err;
    stdfs::remove(Job() + "/" + name);
    stdfs::rename(Folder("moved"), Job() + "/" + name);
  }
  // Those that look at a job follow none either.
  MoveAndLink("manifests");
  for (const char* verb : {"status", "check", "report"}) {
    const Ended ended = Run({verb, "--job", Job()});
    EXPECT_NE(ended.code, 0) << verb;
    EXPECT_NE((ended.err + ended.out).find("symbolic link"), std::string::npos)
        << verb << ": " << ended.err;
  }
  stdfs::remove(Job() + "/manifests");
  stdfs::rename(Folder("moved"), Job() + "/manifests");
  CrawlAll({"--set", "crawl.max_pages=0"});
}

TEST_F(JobFilesTest, NoFileIsMadeThroughALink) {
  Serve(std::string(kSmallWeb));
  CrawlAll({});
  const std::string target = Folder("target");
  for (const char* name : {"settings.toml.tmp", "blocked", "report.html.tmp"}) {
    stdfs::remove(Job() + "/" + name);
    stdfs::create_symlink(target, Job() + "/" + name);
  }
  EXPECT_NE(Run({"set", "--job", Job(), "log.level=warning"}).code, 0);
  EXPECT_NE(Run({"block", "--job", Job(), "a.example"}).code, 0);
  EXPECT_NE(Run({"report", "--job", Job()}).code, 0);
  EXPECT_FALSE(stdfs::exists(target));
}

TEST_F(JobFilesTest, TheUsersOwnPathsMayBeLinks) {
  Serve(std::string(kSmallWeb));
  stdfs::create_directory(Folder("disk"));
  stdfs::create_directory(Folder("disk/job"));
  stdfs::create_directory(Folder("disk/archive"));
  stdfs::create_directory_symlink(Folder("disk/job"), Job());
  stdfs::create_directory_symlink(Folder("disk/archive"), Folder("mine"));
  const std::vector<std::string> folders = {
      "--set", "store.folders=" + Folder("mine") + ",../mine2"};
  stdfs::create_directory_symlink(Folder("disk"), Folder("disk/mine2"));
  std::vector<std::string> args = folders;
  args.insert(args.end(), {"--max-pages", "2"});
  CrawlAll(args);
  CrawlAll({"--set", "crawl.max_pages=0"});
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
  EXPECT_FALSE(stdfs::is_empty(Folder("disk/archive")));
  // What lies inside of them may not, also if only the job knows of it.
  stdfs::rename(Folder("disk/archive/nephila-archive"), Folder("owner"));
  stdfs::create_symlink(Folder("owner"),
                        Folder("disk/archive/nephila-archive"));
  ExpectRefused(Crawl({"--quiet"}), kUsage, "symbolic link");
}

TEST_F(JobFilesTest, AFolderOfAnotherUserIsNotTakenOver) {
  Serve(std::string(kSmallWeb));
  CrawlAll({});
  if (geteuid() != 0) {
    // Only root can give folders away; root owns the folder of the system.
    ExpectRefused(Run({"crawl", "--job", "/etc", "--set", "agent.contact=a@b.c",
                       "http://a.example/"}),
                  kNotPermitted, "belongs to user 0");
    return;
  }
  constexpr uid_t kOther = 65534;
  const auto log_size = stdfs::file_size(Job() + "/log");
  ASSERT_EQ(chown(Job().c_str(), kOther, kOther), 0);
  const std::string says =
      Job() + ": this folder belongs to user " + std::to_string(kOther);
  ExpectRefused(Crawl({"--quiet", Seeds(1).front()}), kNotPermitted, says);
  ExpectRefused(Run({"block", "--job", Job(), "a.example"}), kNotPermitted,
                says);
  EXPECT_EQ(stdfs::file_size(Job() + "/log"), log_size);
  // It can be looked at.
  EXPECT_EQ(Run({"status", "--job", Job()}).code, 0);
  EXPECT_EQ(Run({"check", "--job", Job()}).code, 0);
  // Nor is an empty one.
  stdfs::remove_all(Job());
  stdfs::create_directory(Job());
  ASSERT_EQ(chown(Job().c_str(), kOther, kOther), 0);
  ExpectRefused(Crawl({"--quiet", Seeds(1).front()}), kNotPermitted, says);
  EXPECT_TRUE(stdfs::is_empty(Job()));
}

TEST_F(JobFilesTest, OnlyRootIsWarned) {
  EXPECT_FALSE(RootWarning(1000));
  const auto warning = RootWarning(0);
  ASSERT_TRUE(warning);
  EXPECT_EQ(warning->find('\n'), std::string::npos);
  Serve(std::string(kSmallWeb));
  const std::string err = CrawlAll({});
  EXPECT_EQ(err.find("nephila: " + *warning + "\n") != std::string::npos,
            geteuid() == 0)
      << err;
}

}  // namespace
}  // namespace nephila::cli
