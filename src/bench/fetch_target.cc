#include "bench/fetch_target.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/real_file_system.h"
#include "net/descriptor.h"
#include "sim/simulation.h"
#include "sim/web.h"

namespace nephila::bench {
namespace {

sim::Shape ShapeOf(uint64_t hosts) {
  sim::Shape shape;
  shape.hosts = static_cast<int64_t>(hosts);
  return shape;
}

// The child: tells its port, then serves until it is ended.
[[noreturn]] void Serve(uint64_t hosts, int tell) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const RealClock clock;
  auto fs = MakeRealFileSystem();
  sim::Scenario scenario;
  scenario.shape = ShapeOf(hosts);
  auto running = sim::Simulation::Start(std::move(scenario), {}, *fs, clock);
  const uint16_t port = running ? (*running)->port() : 0;
  if (write(tell, &port, sizeof(port)) != sizeof(port)) _exit(1);
  while (port != 0) pause();
  _exit(1);
}

}  // namespace

Result<std::unique_ptr<SimProcess>> SimProcess::Start(uint64_t hosts) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0)
    return Unexpected(Error::FromErrno("pipe", errno));
  const net::Descriptor hear(ends[0]);
  net::Descriptor tell(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return Unexpected(Error::FromErrno("fork", errno));
  if (pid == 0) Serve(hosts, tell.get());
  tell = net::Descriptor();
  uint16_t port = 0;
  if (read(hear.get(), &port, sizeof(port)) != sizeof(port) || port == 0) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return Unexpected(Error{ErrorCode::kIo, "the simulated web did not start"});
  }
  return std::unique_ptr<SimProcess>(new SimProcess(pid, port, hosts));
}

SimProcess::~SimProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Result<std::vector<FetchTarget>> SimProcess::Targets(size_t count) const {
  sim::Shape shape = ShapeOf(hosts_);
  shape.port = port_;
  NEPHILA_TRY(const sim::Web web, sim::Web::Make(shape));
  sim::Draw draw(7);
  std::vector<FetchTarget> targets;
  targets.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t pld = draw.Below(web.pld_count());
    const sim::HostId host{pld, draw.Below(web.HostsOf(pld))};
    const sim::PageId page{host, draw.Below(web.PagesOf(host))};
    FetchTarget target;
    web.AppendUrl(page, &target.url);
    web.AppendHostName(host, &target.host);
    target.port = port_;
    target.address = net::IpAddress::V4(web.AddressesOf(host).items[0]);
    targets.push_back(std::move(target));
  }
  return targets;
}

std::vector<FetchTarget> NginxTargets(const fetch::TestNginx& nginx,
                                      size_t count) {
  std::vector<FetchTarget> targets(count);
  for (size_t i = 0; i < count; ++i) {
    FetchTarget& target = targets[i];
    target.host = "h" + std::to_string(i) + ".wild.example";
    target.port = fetch::TestNginx::kTls13;
    target.https = true;
    target.address = nginx.address();
    target.url = "https://" + target.host + ":" + std::to_string(target.port) +
                 "/page.html";
  }
  return targets;
}

std::vector<FetchTarget> SlowTargets(const fetch::TestNginx& nginx,
                                     size_t count) {
  std::vector<FetchTarget> targets = NginxTargets(nginx, count);
  for (FetchTarget& target : targets) {
    target.https = false;
    target.port = fetch::TestNginx::kPlain;
    target.url =
        "http://" + target.host + ":" + std::to_string(target.port) + "/slow";
  }
  return targets;
}

}  // namespace nephila::bench
