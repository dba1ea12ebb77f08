#include "dns/dns_server_testing.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "dns/message.h"

namespace nephila::dns {
namespace {

std::string AddressBytes(std::string_view text) {
  const auto address = net::IpAddress::Parse(text);
  EXPECT_TRUE(address.has_value()) << text;
  const net::IpAddress value = address.value_or(net::IpAddress());
  return {reinterpret_cast<const char*>(value.bytes().data()),
          value.bytes().size()};
}

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

net::Descriptor BoundSocket(int type, uint16_t port) {
  net::Descriptor fd(socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
           sizeof(address)) != 0) {
    return net::Descriptor();
  }
  return fd;
}

uint16_t PortOf(int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

void PutRecord(const TestRecord& record, std::string* out) {
  PutName(record.name, out);
  PutNumber16(record.type, out);
  PutNumber16(kClassIn, out);
  PutNumber32(record.ttl_s, out);
  PutNumber16(static_cast<uint32_t>(record.data.size()), out);
  out->append(record.data);
}

}  // namespace

void PutNumber16(uint32_t value, std::string* out) {
  out->push_back(static_cast<char>(value >> 8 & 0xff));
  out->push_back(static_cast<char>(value & 0xff));
}

void PutNumber32(uint32_t value, std::string* out) {
  PutNumber16(value >> 16, out);
  PutNumber16(value, out);
}

void PutName(std::string_view name, std::string* out) {
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    out->push_back(static_cast<char>(dot));
    out->append(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out->push_back('\0');
}

TestRecord RecordA(std::string_view name, uint32_t ttl_s,
                   std::string_view address) {
  return {std::string(name), kTypeA, ttl_s, AddressBytes(address)};
}

TestRecord RecordAaaa(std::string_view name, uint32_t ttl_s,
                      std::string_view address) {
  return {std::string(name), kTypeAaaa, ttl_s, AddressBytes(address)};
}

TestRecord RecordCname(std::string_view name, uint32_t ttl_s,
                       std::string_view target) {
  TestRecord record{std::string(name), kTypeCname, ttl_s, ""};
  PutName(target, &record.data);
  return record;
}

TestRecord RecordNs(std::string_view zone, uint32_t ttl_s,
                    std::string_view server) {
  TestRecord record{std::string(zone), kTypeNs, ttl_s, ""};
  PutName(server, &record.data);
  return record;
}

TestRecord RecordSoa(std::string_view zone, uint32_t ttl_s,
                     uint32_t minimum_s) {
  TestRecord record{std::string(zone), kTypeSoa, ttl_s, ""};
  PutName("ns.example", &record.data);
  PutName("mail.example", &record.data);
  for (const uint32_t number : {1U, 3600U, 600U, 86'400U, minimum_s}) {
    PutNumber32(number, &record.data);
  }
  return record;
}

std::string TestMessage::Bytes() const {
  std::string out;
  PutNumber16(id, &out);
  PutNumber16(flags | (rcode & 0xfU), &out);
  PutNumber16(question.empty() ? 0 : 1, &out);
  PutNumber16(static_cast<uint32_t>(answers.size()), &out);
  PutNumber16(static_cast<uint32_t>(authorities.size()), &out);
  PutNumber16(opt ? 1 : 0, &out);
  out.append(question);
  for (const TestRecord& record : answers) PutRecord(record, &out);
  for (const TestRecord& record : authorities) PutRecord(record, &out);
  if (opt) {
    PutName("", &out);
    PutNumber16(kTypeOpt, &out);
    PutNumber16(kUdpBytes, &out);
    PutNumber32(static_cast<uint32_t>(rcode) >> 4 << 24, &out);
    PutNumber16(0, &out);
  }
  return out;
}

std::string QuestionBytes(std::string_view name, uint16_t type) {
  std::string out;
  PutName(name, &out);
  PutNumber16(type, &out);
  PutNumber16(kClassIn, &out);
  return out;
}

TestMessage TestDnsServer::Question::Reply(uint16_t rcode) const {
  TestMessage message;
  message.id = id;
  message.rcode = rcode;
  message.question = wire;
  return message;
}

TestDnsServer::TestDnsServer(net::EventLoop& loop, Script script)
    : loop_(loop),
      script_(std::move(script)),
      udp_handler_([this] { OnUdp(); }),
      tcp_handler_([this] { OnAccept(); }) {
  // A port that is free for UDP may not be for TCP.
  bool bound = Bind();
  for (int i = 0; i < 20 && !bound; ++i) bound = Bind();
  EXPECT_TRUE(bound);
  EXPECT_EQ(listen(tcp_.get(), 64), 0);
  EXPECT_TRUE(loop_.Watch(udp_.get(), EPOLLIN, &udp_handler_));
  EXPECT_TRUE(loop_.Watch(tcp_.get(), EPOLLIN, &tcp_handler_));
}

TestDnsServer::~TestDnsServer() {
  loop_.Forget(udp_.get());
  loop_.Forget(tcp_.get());
  for (const auto& [fd, connection] : connections_) loop_.Forget(fd);
}

bool TestDnsServer::Bind() {
  udp_ = BoundSocket(SOCK_DGRAM, 0);
  port_ = PortOf(udp_.get());
  tcp_ = BoundSocket(SOCK_STREAM, port_);
  return tcp_.get() >= 0;
}

std::string TestDnsServer::Address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

void TestDnsServer::OnUdp() {
  std::array<char, 2048> buffer{};
  while (true) {
    Question question;
    socklen_t size = sizeof(question.from);
    const ssize_t got =
        recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                 reinterpret_cast<sockaddr*>(&question.from), &size);
    if (got < 0) return;
    Ask({buffer.data(), static_cast<size_t>(got)}, std::move(question));
  }
}

void TestDnsServer::OnAccept() {
  net::Descriptor socket(
      accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int fd = socket.get();
  if (fd < 0) return;
  Connection& connection = connections_[fd];
  connection.socket = std::move(socket);
  connection.handler = std::make_unique<Handler>([this, fd] { OnTcp(fd); });
  EXPECT_TRUE(loop_.Watch(fd, EPOLLIN, connection.handler.get()));
}

void TestDnsServer::OnTcp(int fd) {
  std::array<char, 2048> buffer{};
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
  if (got < 0) return;
  if (got == 0) {
    Question question;
    question.fd = fd;
    Close(question);
    return;
  }
  connections_[fd].in.append(buffer.data(), static_cast<size_t>(got));
  while (connections_.count(fd) == 1 && connections_[fd].in.size() >= 2) {
    std::string& in = connections_[fd].in;
    const size_t size = static_cast<size_t>(static_cast<uint8_t>(in[0])) << 8 |
                        static_cast<uint8_t>(in[1]);
    if (in.size() < 2 + size) return;
    const std::string message = in.substr(2, size);
    in.erase(0, 2 + size);
    Question question;
    question.tcp = true;
    question.fd = fd;
    Ask(message, std::move(question));
  }
}

void TestDnsServer::Ask(std::string_view message, Question question) {
  MessageReader reader(message);
  uint16_t flags = 0;
  uint16_t dns_class = 0;
  ASSERT_TRUE(reader.U16(&question.id) && reader.U16(&flags));
  ASSERT_EQ(flags, 0x0100);  // a question, recursion desired, nothing else
  reader.Seek(10);
  uint16_t additional = 0;
  ASSERT_TRUE(reader.U16(&additional) && reader.Name(&question.name) &&
              reader.U16(&question.type) && reader.U16(&dns_class));
  question.wire = message.substr(kHeadBytes, reader.position() - kHeadBytes);
  question.edns = additional == 1;
  ++questions_;
  if (question.tcp) ++by_tcp_;
  script_(question);
}

void TestDnsServer::Send(const Question& to, std::string_view message) {
  if (!to.tcp) {
    EXPECT_GT(
        sendto(udp_.get(), message.data(), message.size(), 0,
               reinterpret_cast<const sockaddr*>(&to.from), sizeof(to.from)),
        0);
    return;
  }
  std::string framed;
  PutNumber16(static_cast<uint32_t>(message.size()), &framed);
  framed.append(message);
  EXPECT_EQ(send(to.fd, framed.data(), framed.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(framed.size()));
}

void TestDnsServer::Close(const Question& question) {
  const auto found = connections_.find(question.fd);
  if (found == connections_.end()) return;
  loop_.Forget(question.fd);
  old_.push_back(std::move(found->second.handler));
  connections_.erase(found);
}

ClosedPort::ClosedPort() {
  // A port that is free for UDP may not be for TCP.
  for (int i = 0; i < 20 && tcp_.get() < 0; ++i) {
    udp_ = BoundSocket(SOCK_DGRAM, 0);
    port_ = PortOf(udp_.get());
    tcp_ = BoundSocket(SOCK_STREAM, port_);
  }
  EXPECT_GE(tcp_.get(), 0);
  const sockaddr_in nobody = Loopback(1);
  EXPECT_EQ(connect(udp_.get(), reinterpret_cast<const sockaddr*>(&nobody),
                    sizeof(nobody)),
            0);
}

std::string ClosedPort::Address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

}  // namespace nephila::dns
