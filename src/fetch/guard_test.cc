// Addresses that are not public are never connected to, as the kernel counts
// it: in a network of its own, where every address there is would answer.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "fetch/fetch_testing.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;

constexpr std::string_view kNotPublic[] = {
    "0.0.0.1",          "10.0.0.1",
    "100.64.0.1",       "127.0.0.1",
    "127.255.0.9",      "169.254.169.254",
    "172.16.0.1",       "172.31.255.255",
    "192.0.2.1",        "192.168.1.1",
    "198.18.0.1",       "203.0.113.9",
    "240.0.0.1",        "::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1",
    "::10.0.0.1",       "fd00:ec2::254",
    "fec0::1",          "2001:db8::1",
    "64:ff9b::a00:1",   "64:ff9b::7f00:1",
    "2002:a00:1::1",    "2002:7f00:1::1",
};

FetchRequest To(std::string_view address, uint16_t port, uint64_t id) {
  FetchRequest request;
  request.id = id;
  request.address = *net::IpAddress::Parse(address);
  request.port = port;
  request.host = request.address.is_v6() ? "[" + std::string(address) + "]"
                                         : std::string(address);
  request.url = "http://" + request.host + ":" + std::to_string(port) + "/";
  return request;
}

// How many connections were begun in this network, ever.
long ActiveOpens() {
  std::ifstream file("/proc/self/net/snmp");
  std::string line;
  std::string names;
  while (std::getline(file, line)) {
    if (!line.starts_with("Tcp:")) continue;
    if (names.empty()) {
      names = line;
      continue;
    }
    std::istringstream name(names);
    std::istringstream value(line);
    std::string word;
    std::string number;
    while (name >> word && value >> number) {
      if (word == "ActiveOpens") return std::stol(number);
    }
  }
  return -1;
}

bool Shell(const char* command) { return std::system(command) == 0; }

// A network in which all addresses are this machine's. False if the system
// does not let us have one.
bool EnterOwnNetwork() {
  if (unshare(CLONE_NEWNET) != 0 &&
      unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return false;
  }
  return Shell(
      "ip link set lo up && "
      "ip route add local default dev lo && "
      "ip -6 route add local default dev lo");
}

constexpr int kNoNetwork = 77;

// The exit code of a child: 0 if all holds.
int CheckInOwnNetwork() {
  if (!EnterOwnNetwork()) return kNoNetwork;
  const ScriptedServer server(
      [](ServerConnection& c) {
        c.ReadHead();
        c.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      },
      *net::IpAddress::Parse("::"));
  int wrong = 0;
  uint64_t id = 0;
  {
    // That they would answer.
    Engine open;
    open.allow = "10.0.0.0/8";
    open.Make();
    const long before = ActiveOpens();
    const auto result = open.Fetch(To("10.0.0.1", server.port(), ++id));
    const bool connected = result->outcome == FetchOutcome::kResponse &&
                           ActiveOpens() == before + 1;
    if (!connected) ++wrong;
    const auto far = open.Fetch(To("8.8.8.8", server.port(), ++id));
    if (far->outcome != FetchOutcome::kResponse) ++wrong;
  }
  Engine engine;
  engine.allow = "192.88.99.1";
  engine.Make();
  const long before = ActiveOpens();
  for (const std::string_view address : kNotPublic) {
    const auto result = engine.Fetch(To(address, server.port(), ++id));
    if (result->outcome != FetchOutcome::kAddressRefused ||
        result->contact != MonoTime()) {
      std::fprintf(stderr, "%s: %s\n", std::string(address).c_str(),
                   result->error.c_str());
      ++wrong;
    }
  }
  if (before < 0 || ActiveOpens() != before) {
    std::fprintf(stderr, "%ld connections were begun, then %ld\n", before,
                 ActiveOpens());
    ++wrong;
  }
  return wrong;
}

// How a child ended that exits with what `check` gives.
int StatusOfChild(int (*check)()) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Guard, TheKernelSeesNoConnectionToWhatIsNotPublic) {
  const int status = StatusOfChild(CheckInOwnNetwork);
  ASSERT_TRUE(WIFEXITED(status));
  // Where nobody may have a network of his own the next test has to do.
  if (WEXITSTATUS(status) == kNoNetwork) return;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// From here on the kernel ends this process when it connects to anything.
bool ForbidConnect() {
  std::array<sock_filter, 4> steps = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{steps.size(), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int ConnectThoughForbidden() {
  Engine engine;
  engine.allow = "127.0.0.1";
  engine.Make();
  if (!ForbidConnect()) return 1;
  engine.Fetch(To("127.0.0.1", 9, 1));
  return 2;
}

int AskForWhatIsNotPublic() {
  Engine engine;
  engine.allow = "192.88.99.1";
  engine.Make();
  if (!ForbidConnect()) return 1;
  uint64_t id = 0;
  for (const std::string_view address : kNotPublic) {
    const auto result = engine.Fetch(To(address, 9, ++id));
    if (result->outcome != FetchOutcome::kAddressRefused) return 2;
  }
  return 0;
}

TEST(Guard, TheKernelLetsNobodyConnectAndNobodyTries) {
  const int forbidden = StatusOfChild(ConnectThoughForbidden);
  ASSERT_TRUE(WIFSIGNALED(forbidden));
  EXPECT_EQ(WTERMSIG(forbidden), SIGSYS);
  const int status = StatusOfChild(AskForWhatIsNotPublic);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Guard, ListenersSeeNoConnection) {
  const ScriptedServer four([](ServerConnection& c) { c.WaitForClient(); });
  const ScriptedServer six([](ServerConnection& c) { c.WaitForClient(); },
                           *net::IpAddress::Parse("::1"));
  Engine engine;
  engine.allow = "192.88.99.1";
  engine.Make();
  uint64_t id = 0;
  for (const std::string_view address : kNotPublic) {
    const uint16_t port = address.starts_with("::1") ? six.port() : four.port();
    const auto result = engine.Fetch(To(address, port, ++id));
    EXPECT_EQ(result->outcome, FetchOutcome::kAddressRefused) << address;
    EXPECT_EQ(result->error, "guard");
    EXPECT_EQ(result->contact, MonoTime());
    EXPECT_EQ(result->request, "");
  }
  EXPECT_EQ(four.accepted(), 0U);
  EXPECT_EQ(six.accepted(), 0U);
}

TEST(Guard, WhatIsAllowedIsAllowedAsItIsWritten) {
  const ScriptedServer server(
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  Engine engine;
  engine.allow = "127.0.0.1";
  engine.Make();
  EXPECT_EQ(engine.Fetch(To("127.0.0.1", server.port(), 1))->outcome,
            FetchOutcome::kResponse);
  EXPECT_EQ(engine.Fetch(To("127.0.0.2", server.port(), 2))->outcome,
            FetchOutcome::kAddressRefused);
  EXPECT_EQ(engine.Fetch(To("::ffff:127.0.0.1", server.port(), 3))->outcome,
            FetchOutcome::kAddressRefused);
  EXPECT_EQ(server.accepted(), 1U);
}

// The page of an allowed server cannot lead to another.
TEST(Guard, HoldsForTheTargetOfARedirect) {
  const ScriptedServer inner([](ServerConnection& c) { c.WaitForClient(); },
                             net::IpAddress::V4(127, 0, 0, 2));
  const ScriptedServer outer(
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:" +
      std::to_string(inner.port()) + "/\r\nContent-Length: 0\r\n\r\n");
  Engine engine;
  engine.allow = "127.0.0.1";
  engine.Make();
  const auto result = engine.Fetch(To("127.0.0.1", outer.port(), 1));
  EXPECT_EQ(result->status, 302);
  EXPECT_EQ(engine.Fetch(To("127.0.0.2", inner.port(), 2))->outcome,
            FetchOutcome::kAddressRefused);
  EXPECT_EQ(inner.accepted(), 0U);
}

// The name was public a moment ago: what counts is the address at hand.
TEST(Guard, HoldsForANameThatMoved) {
  const ScriptedServer server(
      std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  Engine engine;
  engine.allow = "127.0.0.1";
  engine.Make();
  FetchRequest request = engine.RequestTo(server);
  request.keep_connection = true;
  EXPECT_EQ(engine.Fetch(request)->outcome, FetchOutcome::kResponse);
  request.id = ++engine.last_id;
  request.address = net::IpAddress::V4(127, 0, 0, 3);
  EXPECT_EQ(engine.Fetch(std::move(request))->outcome,
            FetchOutcome::kAddressRefused);
}

}  // namespace
}  // namespace nephila::fetch
