#include "control/control_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "control/control_client.h"
#include "control/control_testing.h"

namespace nephila::control {
namespace {

class ControlServerTest : public LoopTest {
 protected:
  void Open(ControlServer::Options options = {}) {
    options.version = "1.2.3";
    auto server = ControlServer::Open(*loop_, Folder(), options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    server_->Add("echo", [](const Json& request) {
      Json json;
      json["text"] = request.value("text", "");
      return json;
    });
    server_->AddLater("later",
                      [this](const Json&, const ControlServer::Answer& answer) {
                        loop_->Post([answer] { answer({{"late", true}}); });
                      });
    server_->AddLater("never",
                      [](const Json&, const ControlServer::Answer&) {});
    server_->Add("fails", [](const Json&) {
      return ErrorAnswer({ErrorCode::kNoSpace, "no room"});
    });
    server_->Add("clients", [this](const Json&) {
      return Json{{"clients", server_->clients()}};
    });
    server_->Add("long", [](const Json&) {
      return Json{{"text", std::string(1 << 20, 'x')}};
    });
  }
  void TearDown() override {
    Stop();
    server_.reset();
    LoopTest::TearDown();
  }
  std::unique_ptr<ControlClient> Connect() const {
    auto client = ControlClient::Connect(Folder());
    EXPECT_TRUE(client) << client.error().message;
    return client ? *std::move(client) : nullptr;
  }

  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlServerTest, GreetsWithItsVersionAndAnswersVerbs) {
  Open();
  Run();
  const auto client = Connect();
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(client->version(), "1.2.3");
  auto answer = client->Ask({{"verb", "echo"}, {"text", "hello\nworld"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ((*answer)["text"], "hello\nworld");
  answer = client->Ask({{"verb", "later"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)["late"], true);
}

TEST_F(ControlServerTest, ErrorsKeepTheirCode) {
  Open();
  Run();
  const auto client = Connect();
  const auto answer = client->Ask({{"verb", "fails"}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "no room");
  EXPECT_EQ(answer.error().code, ErrorCode::kNoSpace);
}

TEST_F(ControlServerTest, TheSocketIsItsOwnersAlone) {
  const mode_t before = umask(0);
  Open();
  umask(before);
  struct stat found {};
  ASSERT_EQ(stat((Folder() + "/control").c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777, 0600U);
}

TEST_F(ControlServerTest, GoesWithItsSocketAndReplacesADeadOnes) {
  EXPECT_EQ(ControlClient::Connect(Folder()).error().code,
            ErrorCode::kNotFound);
  Open();
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "control"));
  // One whose process was killed.
  { ASSERT_TRUE(ListenInFolder(Folder(), "control")); }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "control"));
  EXPECT_EQ(ControlClient::Connect(Folder()).error().code,
            ErrorCode::kNotFound);
  Open();
  Run();
  EXPECT_NE(Connect(), nullptr);
}

TEST_F(ControlServerTest, ReplacesNothingElse) {
  { std::ofstream(folder_ / "control") << "mine\n"; }
  const auto server = ControlServer::Open(*loop_, Folder(), {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ErrorCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::is_regular_file(folder_ / "control"));
}

TEST_F(ControlServerTest, PathsMayBeLongerThanASocketsName) {
  for (int i = 0; i < 10; ++i) folder_ /= std::string(50, 'f');
  std::filesystem::create_directories(folder_);
  Open();
  Run();
  const auto client = Connect();
  ASSERT_NE(client, nullptr);
  EXPECT_TRUE(client->Ask({{"verb", "echo"}}));
}

TEST_F(ControlServerTest, TwoClientsAreAnsweredSideBySide) {
  Open();
  Run();
  const auto one = Connect();
  const auto two = Connect();
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i);
    EXPECT_EQ((*one->Ask({{"verb", "echo"}, {"text", "a" + text}}))["text"],
              "a" + text);
    EXPECT_EQ((*two->Ask({{"verb", "later"}}))["late"], true);
  }
}

TEST_F(ControlServerTest, GarbageIsAnsweredWithAnError) {
  Open();
  Run();
  PlainClient client = PlainClient::ToFolder(Folder());
  client.Line();
  const std::string zeros(3, '\0');
  for (const std::string& garbage :
       {std::string("hello"), std::string("{"), std::string("[]"),
        std::string("{\"verb\":7}"), std::string("{\"verb\":\"\\u0000\"}"),
        std::string("null"), zeros, std::string(1000, '['), std::string(),
        std::string("\xff\xfe"), std::string("GET / HTTP/1.1\r")}) {
    ASSERT_TRUE(client.Send(garbage + "\n"));
    const Json answer = Json::parse(client.Line(), nullptr, false);
    EXPECT_TRUE(answer.contains("error")) << garbage;
  }
  ASSERT_TRUE(client.Send("{\"verb\":\"echo\",\"text\":\"still here\"}\n"));
  EXPECT_EQ(client.Line(), "{\"text\":\"still here\"}");
}

TEST_F(ControlServerTest, ARequestWithoutEndIsCutOff) {
  Open();
  Run();
  PlainClient client = PlainClient::ToFolder(Folder());
  client.Line();
  const std::string part(16'000, 'x');
  for (int i = 0; i < 8 && client.Send(part); ++i) {
  }
  EXPECT_NE(client.ToTheEnd().find("64 KiB"), std::string::npos);
  EXPECT_TRUE(Connect()->Ask({{"verb", "echo"}}));
}

TEST_F(ControlServerTest, RequestsThatComeTogetherAreAnsweredInTheirOrder) {
  Open();
  Run();
  PlainClient client = PlainClient::ToFolder(Folder());
  client.Line();
  std::string requests;
  for (int i = 0; i < 500; ++i) {
    requests += "{\"verb\":\"echo\",\"text\":\"" + std::to_string(i) + "\"}\n";
  }
  ASSERT_TRUE(client.Send(requests));
  client.EndSending();
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(client.Line(), "{\"text\":\"" + std::to_string(i) + "\"}");
  }
  EXPECT_EQ(client.ToTheEnd(), "");
}

TEST_F(ControlServerTest, WhoNeverReadsIsCutOffAndHoldsNobody) {
  ControlServer::Options options;
  options.idle = std::chrono::seconds(2);
  Open(options);
  Run();
  PlainClient deaf = PlainClient::ToFolder(Folder());
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += "{\"verb\":\"long\"}\n";
  ASSERT_TRUE(deaf.Send(requests));
  const auto other = Connect();
  const MonoTime deadline = clock_.Now() + std::chrono::minutes(2);
  while ((*other->Ask({{"verb", "clients"}}))["clients"] != 1) {
    ASSERT_LT(clock_.Now(), deadline);
  }
  // A part of the first answer, as much as the system keeps.
  EXPECT_LT(deaf.ToTheEnd().size(), size_t{2} << 20);
}

TEST_F(ControlServerTest, WhoSaysNothingIsCutOff) {
  ControlServer::Options options;
  options.idle = std::chrono::milliseconds(50);
  Open(options);
  Run();
  PlainClient client = PlainClient::ToFolder(Folder());
  client.Line();
  EXPECT_EQ(client.ToTheEnd(), "");
}

TEST_F(ControlServerTest, OneClientTooManyIsToldSo) {
  ControlServer::Options options;
  options.max_clients = 2;
  Open(options);
  Run();
  const auto one = Connect();
  const auto two = Connect();
  const auto three = ControlClient::Connect(Folder());
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().code, ErrorCode::kBusy);
  EXPECT_TRUE(one->Ask({{"verb", "echo"}}));
}

TEST_F(ControlServerTest, WaitsForADescriptorWithoutSpinning) {
  Open();
  PlainClient client = PlainClient::ToFolder(Folder());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  // The client cannot be accepted, and the listener is not ready any more.
  EXPECT_EQ(loop_->RunOnce(clock_.Now()), 1U);
  EXPECT_EQ(loop_->RunOnce(clock_.Now()), 0U);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  Run();
  ASSERT_TRUE(client.Send("{\"verb\":\"echo\"}\n"));
  EXPECT_NE(client.Line(), "");
}

TEST_F(ControlServerTest, ALateAnswerToWhoHasLeftIsForgotten) {
  Open();
  Run();
  for (int i = 0; i < 50; ++i) {
    PlainClient client = PlainClient::ToFolder(Folder());
    ASSERT_TRUE(client.Send("{\"verb\":\"later\"}\n"));
  }
  EXPECT_TRUE(Connect()->Ask({{"verb", "later"}}));
}

TEST_F(ControlServerTest, AClientGivesUpInTime) {
  Open();
  Run();
  const auto client = Connect();
  const auto answer =
      client->Ask({{"verb", "never"}}, std::chrono::milliseconds(50));
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("does not answer"), std::string::npos);
}

TEST_F(ControlServerTest, ACrawlThatEndsMeanwhileIsSaid) {
  Open();
  Run();
  const auto client = Connect();
  loop_->Post([this] { server_.reset(); });
  const auto answer = client->Ask({{"verb", "never"}});
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("has ended"), std::string::npos);
}

}  // namespace
}  // namespace nephila::control
