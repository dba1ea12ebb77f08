#include "sandbox/landlock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace nephila::sandbox {
namespace {

// Rights of later kernels than those of the headers that this is built with.
constexpr uint64_t kRefer = uint64_t{1} << 13;                // ABI 2
constexpr uint64_t kTruncate = uint64_t{1} << 14;             // ABI 3
constexpr uint64_t kIoctlDev = uint64_t{1} << 15;             // ABI 5
constexpr uint64_t kScopeAbstractSockets = uint64_t{1} << 0;  // ABI 6
constexpr uint64_t kScopeSignals = uint64_t{1} << 1;

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kReadFolder = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriteFolder =
    kReadFolder | kWriteFile | kRefer | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK;
constexpr uint64_t kAll =
    kWriteFolder | kIoctlDev | LANDLOCK_ACCESS_FS_EXECUTE |
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM;

// As the kernel knows it since ABI 6; earlier ones take its first part.
struct RulesetAttributes {
  uint64_t handled_fs = 0;
  uint64_t handled_net = 0;
  uint64_t scoped = 0;
};

// Closes its descriptor.
class Descriptor {
 public:
  explicit Descriptor(long fd) : fd_(static_cast<int>(fd)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

uint64_t RightsOf(long abi) {
  uint64_t rights = kAll;
  if (abi < 2) rights &= ~kRefer;
  if (abi < 3) rights &= ~kTruncate;
  if (abi < 5) rights &= ~kIoctlDev;
  return rights;
}

Unexpected<Error> Failed(std::string_view what, int error) {
  return Unexpected(Error::FromErrno(what, error)
                        .WithContext("cannot confine the files of the crawl "
                                     "(sandbox.landlock=off runs it without)"));
}

Status AddRule(int ruleset, const std::string& path, bool write, bool needed,
               uint64_t rights) {
  const Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file.get() < 0) {
    if (!needed) return {};
    return Failed(path, errno);
  }
  struct stat found {};
  if (fstat(file.get(), &found) != 0) return Failed(path, errno);
  landlock_path_beneath_attr rule{};
  rule.parent_fd = file.get();
  rule.allowed_access = write ? kWriteFolder : kReadFolder;
  if (!S_ISDIR(found.st_mode)) {
    rule.allowed_access = write ? kReadFile | kWriteFile : kReadFile;
  }
  rule.allowed_access &= rights;
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule,
              0) != 0) {
    // A pipe, such as /dev/stdin: it is open already.
    if (errno == EBADFD && !needed) return {};
    return Failed(path, errno);
  }
  return {};
}

}  // namespace

Result<Part> ConfineFiles(const Paths& paths) {
#ifdef NEPHILA_SANDBOX_COVERAGE
  return Part{State::kUnsupported, "this build writes files for gcov"};
#endif
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 1) {
    return Part{
        State::kUnsupported,
        fmt::format("the kernel has no Landlock ({})", std::strerror(errno))};
  }
  const uint64_t rights = RightsOf(abi);
  RulesetAttributes attributes;
  attributes.handled_fs = rights;
  if (abi >= 6) attributes.scoped = kScopeAbstractSockets | kScopeSignals;
  const size_t size = abi >= 6   ? sizeof(attributes)
                      : abi >= 4 ? 2 * sizeof(uint64_t)
                                 : sizeof(uint64_t);
  const Descriptor ruleset(
      syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset.get() < 0) return Failed("landlock_create_ruleset", errno);
  for (const std::string& path : paths.read) {
    NEPHILA_RETURN_IF_ERROR(AddRule(ruleset.get(), path, /*write=*/false,
                                    /*needed=*/false, rights));
  }
  for (const std::string& path : paths.write) {
    NEPHILA_RETURN_IF_ERROR(AddRule(ruleset.get(), path, /*write=*/true,
                                    /*needed=*/true, rights));
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed("PR_SET_NO_NEW_PRIVS", errno);
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return Failed("landlock_restrict_self", errno);
  }
  return Part{State::kOn, {}};
}

}  // namespace nephila::sandbox
