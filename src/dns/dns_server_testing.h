// A real name server for tests: UDP and TCP on 127.0.0.1, on the loop of the
// test itself, which answers what its script says. And messages, made by hand.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/descriptor.h"
#include "net/event_loop.h"
#include "net/ip_address.h"

namespace nephila::dns {

struct TestRecord {
  std::string name;
  uint16_t type = 0;
  uint32_t ttl_s = 0;
  std::string data;
};

TestRecord RecordA(std::string_view name, uint32_t ttl_s,
                   std::string_view address);
TestRecord RecordAaaa(std::string_view name, uint32_t ttl_s,
                      std::string_view address);
TestRecord RecordCname(std::string_view name, uint32_t ttl_s,
                       std::string_view target);
TestRecord RecordNs(std::string_view zone, uint32_t ttl_s,
                    std::string_view server);
TestRecord RecordSoa(std::string_view zone, uint32_t ttl_s, uint32_t minimum_s);

// Numbers and names as they travel, without compression.
void PutNumber16(uint32_t value, std::string* out);
void PutNumber32(uint32_t value, std::string* out);
void PutName(std::string_view name, std::string* out);

struct TestMessage {
  uint16_t id = 0;
  uint16_t flags = 0x8180;  // an answer, recursion desired and available
  uint16_t rcode = 0;
  std::string question;  // name, type and class, as on the wire
  std::vector<TestRecord> answers;
  std::vector<TestRecord> authorities;
  bool opt = false;  // with an OPT record, which has the upper bits of rcode

  std::string Bytes() const;
};

// A question with one name of this type.
std::string QuestionBytes(std::string_view name, uint16_t type);

class TestDnsServer {
 public:
  struct Question {
    std::string name;
    uint16_t type = 0;
    uint16_t id = 0;
    bool edns = false;
    bool tcp = false;
    std::string wire;    // name, type and class
    sockaddr_in from{};  // by UDP
    int fd = -1;         // by TCP

    // An answer to it, to be filled.
    TestMessage Reply(uint16_t rcode = 0) const;
  };
  using Script = std::function<void(const Question&)>;

  // Of the port 0 is any that is free.
  TestDnsServer(net::EventLoop& loop, Script script);
  ~TestDnsServer();
  TestDnsServer(const TestDnsServer&) = delete;
  TestDnsServer& operator=(const TestDnsServer&) = delete;

  void Send(const Question& to, std::string_view message);
  void Send(const Question& to, const TestMessage& message) {
    Send(to, message.Bytes());
  }
  // Closes the connection that a question came by.
  void Close(const Question& question);

  uint16_t port() const { return port_; }
  std::string Address() const;  // as dns.servers has it
  size_t questions() const { return questions_; }
  size_t by_tcp() const { return by_tcp_; }

 private:
  class Handler : public net::FdHandler {
   public:
    explicit Handler(std::function<void()> ready) : ready_(std::move(ready)) {}
    void OnReady(uint32_t /*events*/) override { ready_(); }

   private:
    const std::function<void()> ready_;
  };
  struct Connection {
    net::Descriptor socket;
    std::unique_ptr<Handler> handler;
    std::string in;
  };

  bool Bind();
  void OnUdp();
  void OnAccept();
  void OnTcp(int fd);
  void Ask(std::string_view message, Question question);

  net::EventLoop& loop_;
  const Script script_;
  net::Descriptor udp_;
  net::Descriptor tcp_;
  Handler udp_handler_;
  Handler tcp_handler_;
  std::map<int, Connection> connections_;
  std::vector<std::unique_ptr<Handler>> old_;  // may be on the stack
  uint16_t port_ = 0;
  size_t questions_ = 0;
  size_t by_tcp_ = 0;
};

// A port on which nobody listens: kept bound, so that nobody will, nor a
// question come from there. The UDP socket is connected, and so hears of nobody
// else.
class ClosedPort {
 public:
  ClosedPort();
  std::string Address() const;

 private:
  net::Descriptor udp_;
  net::Descriptor tcp_;
  uint16_t port_ = 0;
};

}  // namespace nephila::dns
