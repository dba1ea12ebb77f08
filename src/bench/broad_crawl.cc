#include "bench/broad_crawl.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "net/descriptor.h"
#include "sim/simulation.h"

namespace nephila::bench {
namespace {

constexpr int kLines = 10;
constexpr const char* kSeedFile = "/seeds";

// What the crawler has used and fetched up to a moment.
struct Sample {
  double seconds = 0;
  uint64_t pages = 0;
  uint64_t robots = 0;
  uint64_t rss_bytes = 0;
  std::map<std::string, double> cpu;  // by name of thread

  double CpuSeconds() const {
    double all = 0;
    for (const auto& [name, seconds_of] : cpu) all += seconds_of;
    return all;
  }
};

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// Of one thread, in seconds: fields 14 and 15 of its stat, behind the name,
// which may have anything in it.
double ThreadSeconds(const std::filesystem::path& task) {
  const std::string stat = TextOf(task / "stat");
  std::istringstream fields(
      stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) /
         static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string NameOf(const std::filesystem::path& task) {
  std::string name = TextOf(task / "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name == "nephila" ? "frontier" : name;  // the first thread is it
}

uint64_t ResidentOf(pid_t pid) {
  std::istringstream pages(TextOf(fmt::format("/proc/{}/statm", pid)));
  uint64_t all = 0;
  uint64_t resident = 0;
  pages >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Sample Look(pid_t pid, const sim::Simulation& web, double seconds) {
  Sample sample;
  sample.seconds = seconds;
  const sim::HttpCounts counts = web.counts();
  sample.robots = counts.robots;
  sample.pages = counts.requests - counts.robots;
  sample.rss_bytes = ResidentOf(pid);
  std::error_code error;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid);
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    sample.cpu[NameOf(task.path())] += ThreadSeconds(task.path());
  }
  return sample;
}

std::vector<std::string> Command(const BroadCrawlOptions& options,
                                 const std::string& nephila,
                                 const std::string& folder,
                                 const sim::Simulation& web) {
  std::vector<std::string> words = {nephila,
                                    "crawl",
                                    "--job",
                                    folder + "/job",
                                    "--seeds",
                                    folder + kSeedFile,
                                    "--quiet",
                                    "--profile",
                                    "broad",
                                    "--memory",
                                    options.memory,
                                    "--max-time",
                                    fmt::format("{}s", options.time.count())};
  std::vector<std::string> settings = {
      "agent.contact=https://example.org/bench", "guard.allow=127.0.0.0/8",
      fmt::format("dns.servers=127.0.0.1:{}", web.dns_port()),
      "dns.rate=100000", "disk.floor=0"};
  settings.insert(settings.end(), options.settings.begin(),
                  options.settings.end());
  for (const std::string& setting : settings) {
    words.insert(words.end(), {"--set", setting});
  }
  return words;
}

Status WriteSeeds(const sim::Web& web, uint64_t count,
                  const std::string& path) {
  std::ofstream file(path);
  std::string url;
  for (uint64_t pld = 0; pld < std::min(count, web.pld_count()); ++pld) {
    url.clear();
    web.AppendUrl({{pld, 0}, 0}, &url);
    file << url << '\n';
  }
  file.close();
  if (!file) return Unexpected(Error{ErrorCode::kIo, path + ": not written"});
  return {};
}

[[noreturn]] void Become(const std::vector<std::string>& command,
                         const std::string& output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

void Print(const Sample& from, const Sample& to, bool json, bool is_whole,
           std::ostream& out) {
  const double seconds = to.seconds - from.seconds;
  const double cpu = to.CpuSeconds() - from.CpuSeconds();
  const auto pages = static_cast<double>(to.pages - from.pages);
  if (json) {
    nlohmann::ordered_json line;
    line["crawler"] = "nephila";
    line["work"] = is_whole ? "broad" : "broad-part";
    line["seconds"] = seconds;
    line["pages"] = to.pages - from.pages;
    line["robots"] = to.robots - from.robots;
    line["pages_per_s"] = pages / seconds;
    line["pages_per_cpu_s"] = pages / cpu;
    line["cpu_us_per_page"] = cpu / pages * 1e6;
    line["rss_bytes"] = to.rss_bytes;
    for (const auto& [name, of] : to.cpu) {
      const auto before = from.cpu.find(name);
      line["cpu_share"][name] =
          (of - (before == from.cpu.end() ? 0 : before->second)) / cpu;
    }
    out << line.dump() << '\n';
    return;
  }
  out << fmt::format(
      "{}{:6.0f} to {:4.0f} s: {:8.0f} pages, {:6.0f} robots.txt; {:6.0f} "
      "pages/s, {:6.0f} a CPU-second ({:.0f} us); {:.0f} MB resident;",
      is_whole ? "second half " : "", from.seconds, to.seconds, pages,
      static_cast<double>(to.robots - from.robots), pages / seconds,
      pages / cpu, cpu / pages * 1e6, static_cast<double>(to.rss_bytes) / 1e6);
  for (const auto& [name, of] : to.cpu) {
    const auto before = from.cpu.find(name);
    out << fmt::format(
        " {} {:.0f}%", name,
        100 * (of - (before == from.cpu.end() ? 0 : before->second)) / cpu);
  }
  out << '\n';
  out.flush();
}

}  // namespace

Status RunBroadCrawl(const BroadCrawlOptions& options,
                     const std::string& nephila, const std::string& folder,
                     bool json, std::ostream& out) {
  const auto fs = MakeRealFileSystem();
  const RealClock clock;
  sim::Scenario scenario;
  scenario.shape.hosts = options.hosts;
  scenario.shape.addresses = options.addresses;
  NEPHILA_TRY(const auto web,
              sim::Simulation::Start(std::move(scenario), {}, *fs, clock));
  const std::vector<std::string> command =
      Command(options, nephila, folder, *web);
  NEPHILA_RETURN_IF_ERROR(
      WriteSeeds(web->site().web(), options.seeds, folder + kSeedFile));
  const std::string output = folder + "/output";
  const auto begin = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid < 0) return Unexpected(Error::FromErrno("fork", errno));
  if (pid == 0) Become(command, output);
  const net::Descriptor ended(
      static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  std::vector<Sample> samples(1);
  const double part = static_cast<double>(options.time.count()) / kLines;
  bool is_over = false;
  for (int line = 1; line <= kLines && !is_over; ++line) {
    // The last look is a little before the crawl ends by itself.
    const double at = line < kLines ? part * line : part * line - 1;
    const auto left = begin + std::chrono::duration<double>(at) -
                      std::chrono::steady_clock::now();
    pollfd wait = {ended.get(), POLLIN, 0};
    is_over =
        poll(&wait, 1,
             std::max(0, static_cast<int>(
                             std::chrono::duration<double, std::milli>(left)
                                 .count()))) != 0;
    if (is_over) break;
    const std::chrono::duration<double> now =
        std::chrono::steady_clock::now() - begin;
    samples.push_back(Look(pid, *web, now.count()));
    Print(samples[samples.size() - 2], samples.back(), json, false, out);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
      WEXITSTATUS(status) != 0 || is_over) {
    return Unexpected(
        Error{ErrorCode::kIo, "the crawl ended by itself: " + TextOf(output)});
  }
  Print(samples[kLines / 2], samples[kLines], json, true, out);
  if (!json) out << TextOf(output);
  return web->Stop();
}

}  // namespace nephila::bench
