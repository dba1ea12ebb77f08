#include "sandbox/seccomp.h"

#include <fmt/core.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

namespace nephila::sandbox {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// ASan, TSan and LSan start threads and processes of their own, and read the
// memory map, with calls that the crawler never makes: a filter that lets all
// of that through would test nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#else
constexpr bool kIsSanitized = false;
#endif

// All architectures have the same numbers from 424 on. This one is
// futex_waitv, the last of Linux 5.16.
constexpr uint32_t kLastKnown = 449;

// Always allowed: files, sockets that exist, memory, time, threads.
constexpr auto kAllowed = std::to_array<uint32_t>({
    // Files. Landlock decides which ones.
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_openat,
    SYS_close,
    SYS_close_range,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_lseek,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_dup,
    SYS_dup3,
    SYS_pipe2,
    SYS_fcntl,
    SYS_flock,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync_file_range,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fadvise64,
    SYS_getdents64,
    SYS_getcwd,
    SYS_renameat,
    SYS_renameat2,
    SYS_mkdirat,
    SYS_unlinkat,
    SYS_linkat,
    SYS_readlinkat,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_umask,
    SYS_utimensat,
    SYS_statfs,
    SYS_fstatfs,
    SYS_copy_file_range,
    SYS_sendfile,
    // Sockets; socket and socketpair are below.
    SYS_connect,
    SYS_accept,
    SYS_accept4,
    SYS_bind,
    SYS_listen,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_sendmmsg,
    SYS_recvmmsg,
    SYS_shutdown,
    SYS_getsockname,
    SYS_getpeername,
    SYS_setsockopt,
    SYS_getsockopt,
    // Waiting.
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_timerfd_create,
    SYS_timerfd_settime,
    SYS_timerfd_gettime,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_restart_syscall,
    // Memory; mmap and mprotect are below.
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_mincore,
    SYS_brk,
    // Threads; clone is below.
    SYS_futex,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_rseq,
    SYS_set_tid_address,
    SYS_exit,
    SYS_exit_group,
    SYS_gettid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_getcpu,
    SYS_membarrier,
    // Signals; those to other processes are not.
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_rt_sigtimedwait,
    // What the process asks about itself and the machine.
    SYS_getpid,
    SYS_getppid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrusage,
    SYS_times,
    SYS_uname,
    SYS_sysinfo,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_getrandom,
#ifdef __x86_64__
    // The older forms, which other architectures never had.
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_dup2,
    SYS_pipe,
    SYS_poll,
    SYS_select,
    SYS_epoll_wait,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_unlink,
    SYS_link,
    SYS_readlink,
    SYS_chmod,
    SYS_getdents,
    SYS_time,
    SYS_arch_prctl,
    SYS_getrlimit,
#endif
});

// Nothing that a crawl calls by chance: whoever calls one of them is not ours.
constexpr auto kFatal = std::to_array<uint32_t>({
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_userfaultfd,
    SYS_open_by_handle_at,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_capset,
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
    SYS_iopl,
    SYS_ioperm,
#endif
});

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
constexpr uint32_t kTrap = SECCOMP_RET_TRAP;

// An argument, and what it has to be after the mask.
struct Condition {
  size_t argument = 0;
  uint32_t mask = UINT32_MAX;
  std::vector<uint32_t> values;
};

// A classic BPF program. The number of the call is in the accumulator whenever
// a method begins and ends.
class Filter {
 public:
  Filter() {
    Load(offsetof(seccomp_data, arch));
    Jump(BPF_JEQ, kArchitecture, 1, 0);
    Return(kTrap);
    Load(offsetof(seccomp_data, nr));
  }

  void If(uint32_t number, uint32_t action) {
    Jump(BPF_JEQ, number, 0, 1);
    Return(action);
  }
  void IfAbove(uint32_t number, uint32_t action) {
    Jump(BPF_JGT, number, 0, 1);
    Return(action);
  }
  // Allows the call if all conditions hold.
  void If(uint32_t number, std::initializer_list<Condition> conditions,
          uint32_t otherwise) {
    size_t size = 1;
    for (const Condition& one : conditions) size += 3 + one.values.size();
    Jump(BPF_JEQ, number, 0, static_cast<uint8_t>(size));
    for (const Condition& one : conditions) {
      // The low half: all of them are int or unsigned, or bits in it.
      Load(offsetof(seccomp_data, args) + one.argument * sizeof(uint64_t));
      Add(BPF_ALU | BPF_AND | BPF_K, one.mask, 0, 0);
      for (size_t i = 0; i < one.values.size(); ++i) {
        // Past the other values and the return.
        Jump(BPF_JEQ, one.values[i],
             static_cast<uint8_t>(one.values.size() - i), 0);
      }
      Return(otherwise);
    }
    Return(kAllow);
  }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action, 0, 0); }

  std::span<sock_filter> code() { return code_; }

 private:
  void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0);
  }
  void Jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false) {
    Add(static_cast<uint16_t>(BPF_JMP | BPF_K | test), value, if_true,
        if_false);
  }
  void Add(uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    code_.push_back({code, if_true, if_false, value});
  }

  std::vector<sock_filter> code_;
};

Filter MakeFilter() {
  constexpr uint32_t kSocketType = 0xf;  // without SOCK_CLOEXEC and the like
  const auto self = static_cast<uint32_t>(getpid());
  Filter filter;
  // Before the list: also what has the number of another table (x32).
  filter.IfAbove(kLastKnown, kUnknown);
  for (const uint32_t number : kAllowed) filter.If(number, kAllow);
  // No memory that can be written first and executed then.
  filter.If(SYS_mmap, {{2, PROT_EXEC, {0}}}, kRefuse);
  filter.If(SYS_mprotect, {{2, PROT_EXEC, {0}}}, kRefuse);
  filter.If(SYS_socket,
            {{0, UINT32_MAX, {AF_INET, AF_INET6, AF_UNIX}},
             {1, kSocketType, {SOCK_STREAM, SOCK_DGRAM}}},
            kRefuse);
  filter.If(SYS_socketpair, {{0, UINT32_MAX, {AF_UNIX}}}, kRefuse);
  // Nothing that could type into the terminal (TIOCSTI).
  filter.If(SYS_ioctl,
            {{1,
              UINT32_MAX,
              {FIONREAD, FIONBIO, FIOCLEX, TIOCGWINSZ, TCGETS, SIOCGIFINDEX,
               SIOCGIFNAME}}},
            kRefuse);
  filter.If(SYS_prctl, {{0, UINT32_MAX, {PR_SET_NAME, PR_GET_NAME}}}, kRefuse);
  filter.If(SYS_prlimit64, {{0, UINT32_MAX, {0, self}}}, kRefuse);
  filter.If(SYS_kill, {{0, UINT32_MAX, {self}}}, kRefuse);
  filter.If(SYS_tgkill, {{0, UINT32_MAX, {self}}}, kRefuse);
  // Threads, no processes. The arguments of clone3 cannot be seen; glibc uses
  // clone where there is none.
  filter.If(SYS_clone, {{0, CLONE_THREAD, {CLONE_THREAD}}}, kTrap);
  filter.If(SYS_clone3, kUnknown);
  for (const uint32_t number : kFatal) filter.If(number, kTrap);
  filter.Return(kRefuse);
  return filter;
}

// Only what a signal handler may call.
void OnForbidden(int signal, siginfo_t* info, void* /*context*/) {
  constexpr std::string_view kBefore = "nephila: system call ";
  constexpr std::string_view kAfter =
      " is forbidden by the sandbox; the process ends (sandbox.seccomp)\n";
  std::array<char, 128> line{};
  size_t size = kBefore.copy(line.data(), kBefore.size());
  std::array<char, 12> digits{};
  size_t count = 0;
  auto number = static_cast<unsigned>(info->si_syscall);
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) line[size++] = digits[--count];
  size += kAfter.copy(line.data() + size, kAfter.size());
  const ssize_t written = write(STDERR_FILENO, line.data(), size);
  static_cast<void>(written);
  std::signal(signal, SIG_DFL);
  raise(signal);
  _exit(128 + signal);
}

Unexpected<Error> Failed(std::string_view what, int error) {
  return Unexpected(
      Error::FromErrno(what, error)
          .WithContext("cannot confine the system calls of the crawl "
                       "(sandbox.seccomp=off runs it without)"));
}

}  // namespace

Result<Part> ConfineSystemCalls() {
  if (kIsSanitized) {
    return Part{State::kUnsupported, "this build has a sanitizer"};
  }
  if (kArchitecture == 0) {
    return Part{State::kUnsupported, "there is no list for this processor"};
  }
  uint32_t action = SECCOMP_RET_TRAP;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    return Part{
        State::kUnsupported,
        fmt::format("the kernel has no seccomp ({})", std::strerror(errno))};
  }
  struct sigaction handler {};
  handler.sa_sigaction = OnForbidden;
  handler.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&handler.sa_mask);
  if (sigaction(SIGSYS, &handler, nullptr) != 0) return Failed("SIGSYS", errno);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed("PR_SET_NO_NEW_PRIVS", errno);
  }
  Filter filter = MakeFilter();
  sock_fprog program{};
  program.len = static_cast<uint16_t>(filter.code().size());
  program.filter = filter.code().data();
  // Not 0 and no error: a thread that could not follow.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
              &program) != 0) {
    return Failed("seccomp", errno);
  }
  return Part{State::kOn, {}};
}

}  // namespace nephila::sandbox
