// A crawl with all its threads, asked and steered through its socket from
// another thread.
#include "control/crawl_control.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "control/control_client.h"
#include "crawl/threads_testing.h"

namespace nephila::control {
namespace {

using crawl::CrawlEnd;

class CrawlControlThreads : public crawl::ThreadedCrawl {
 protected:
  // Runs the crawl; `talk` runs beside it on another thread.
  CrawlEnd Run(const std::function<void(ControlClient&)>& talk) {
    Logger log = Must(Logger::ToFile(Job() + "/log", clock_, LogLevel::kInfo));
    const auto control = Must(CrawlControl::Open(
        {*crawl_, *fs_, clock_, log, suffixes_, Job(), "test"}));
    std::thread client([&] {
      const auto connected = ControlClient::Connect(Job());
      EXPECT_OK(connected);
      if (connected) talk(**connected);
      crawl_->Stop();
    });
    const auto end = crawl_->Run(nullptr);
    client.join();
    EXPECT_OK(end);
    return end ? *end : CrawlEnd::kMaxTime;
  }

  static Json Ask(ControlClient& client, const Json& request) {
    auto answer = client.Ask(request);
    EXPECT_OK(answer);
    return answer ? *std::move(answer) : Json::object();
  }
};

TEST_F(CrawlControlThreads, AnswersAndObeysWhileItCrawls) {
  // The frontier's thread pauses the crawl twice: it cannot end before the
  // client has said all it has to say.
  uint64_t visits = 0;
  on_finished_ = [&](const crawl::FinishedVisit&) {
    ++visits;
    if (visits == 20 || visits == 80) crawl_->Pause();
  };
  Open(config::Profile::kBroad);
  uint64_t pages = 0;
  const auto wait_for_pause = [&](ControlClient& client) {
    std::string state;
    while (state != "paused") {
      const Json status = Ask(client, {{"verb", "status"}});
      ASSERT_TRUE(status.contains("state"));
      state = status["state"];
      pages = status.value("pages", uint64_t{0});
      Ask(client, {{"verb", "host"}, {"url", Seeds().front()}});
    }
  };
  const CrawlEnd end = Run([&](ControlClient& client) {
    wait_for_pause(client);
    const Json first = Ask(client, {{"verb", "checkpoint"}});
    const Json second = Ask(client, {{"verb", "checkpoint"}});
    EXPECT_LT(first.value("checkpoint", 0), second.value("checkpoint", 0));
    Ask(client, {{"verb", "set"},
                 {"settings", Json::array({"politeness.host_delay=3ms"})}});
    Ask(client, {{"verb", "block"}, {"entries", Json::array({"no.example"})}});
    Ask(client, {{"verb", "retry"}});
    EXPECT_EQ(Ask(client, {{"verb", "resume"}}).value("was", ""), "paused");
    wait_for_pause(client);
  });
  EXPECT_EQ(CrawlEndName(end), CrawlEndName(CrawlEnd::kStopped));
  Close();
  on_finished_ = nullptr;
  Open(config::Profile::kBroad);
  EXPECT_GE(crawl_->status().pages, pages);
  const auto finished = crawl_->Run(nullptr);
  EXPECT_OK(finished);
  if (finished) {
    EXPECT_EQ(CrawlEndName(*finished), CrawlEndName(CrawlEnd::kFinished));
  }
  ExpectFinished();
}

}  // namespace
}  // namespace nephila::control
