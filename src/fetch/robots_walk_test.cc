#include "fetch/robots_walk.h"

#include <gtest/gtest.h>

#include <string>

#include "url/parser.h"

namespace nephila::fetch {
namespace {

using item::FetchOutcome;
using item::RobotsFetchEnd;
using item::Truncation;
using Step = RobotsWalk::Step;

class RobotsWalkTest : public testing::Test {
 protected:
  RobotsWalkTest() : walk_(fetch_, urls_) { Start("http://example.com/a?b#c"); }

  void Start(std::string_view page) {
    url::Url url;
    ASSERT_TRUE(url::Parse(page, nullptr, &url));
    walk_.Start(url);
  }
  Step Answer(int status, Truncation truncation = Truncation::kNone) {
    RobotsHop hop;
    hop.outcome = FetchOutcome::kResponse;
    hop.status = status;
    hop.truncation = truncation;
    return walk_.OnResult(hop);
  }
  Step Redirect(std::string_view location, int status = 302) {
    RobotsHop hop;
    hop.outcome = FetchOutcome::kResponse;
    hop.status = status;
    hop.location = location;
    return walk_.OnResult(hop);
  }
  Step Fail(FetchOutcome outcome) {
    RobotsHop hop;
    hop.outcome = outcome;
    return walk_.OnResult(hop);
  }

  config::FetchSettings fetch_;
  config::UrlSettings urls_;
  RobotsWalk walk_;
};

TEST_F(RobotsWalkTest, BeginsAtTheSite) {
  EXPECT_EQ(walk_.next().href(), "http://example.com/robots.txt");
  Start("https://user:pass@example.com:8443/x/y/");
  EXPECT_EQ(walk_.next().href(), "https://example.com:8443/robots.txt");
  Start("http://[2001:db8::1]");
  EXPECT_EQ(walk_.next().href(), "http://[2001:db8::1]/robots.txt");
}

TEST_F(RobotsWalkTest, AnAnswerEndsIt) {
  for (int status : {200, 204, 304, 403, 404, 429, 500, 503, 300, 305}) {
    Start("http://example.com/");
    EXPECT_EQ(Answer(status), Step::kEnd) << status;
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kAnswer) << status;
    EXPECT_EQ(walk_.status(), status);
  }
}

TEST_F(RobotsWalkTest, FollowsRedirectsToAnyHost) {
  EXPECT_EQ(Redirect("https://example.com/robots.txt", 301), Step::kAsk);
  EXPECT_EQ(walk_.next().href(), "https://example.com/robots.txt");
  EXPECT_EQ(Redirect("//www.example.org/x#y", 303), Step::kAsk);
  EXPECT_EQ(walk_.next().href(), "https://www.example.org/x");
  EXPECT_EQ(Redirect("http://u:p@other.example:81/r", 307), Step::kAsk);
  EXPECT_EQ(walk_.next().href(), "http://other.example:81/r");
  EXPECT_EQ(Redirect("s/../t", 308), Step::kAsk);
  EXPECT_EQ(walk_.next().href(), "http://other.example:81/t");
  EXPECT_EQ(walk_.redirects(), 4u);
  EXPECT_EQ(Answer(200), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kAnswer);
}

TEST_F(RobotsWalkTest, FollowsFiveAndNoMore) {
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(Redirect("/" + std::to_string(i)), Step::kAsk) << i;
  }
  EXPECT_EQ(Redirect("/6"), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kTooManyRedirects);
}

TEST_F(RobotsWalkTest, NoticesCircles) {
  EXPECT_EQ(Redirect("/robots.txt"), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kTooManyRedirects);
  Start("http://example.com/");
  EXPECT_EQ(Redirect("http://a.example/"), Step::kAsk);
  EXPECT_EQ(Redirect("http://b.example/"), Step::kAsk);
  EXPECT_EQ(Redirect("http://a.example/#again"), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kTooManyRedirects);
}

TEST_F(RobotsWalkTest, TellsRedirectsThatLeadNowhere) {
  for (const char* location :
       {"", "  ", "http://", "http://exa mple/", "http://x:99999/"}) {
    Start("http://example.com/");
    EXPECT_EQ(Redirect(location), Step::kEnd) << location;
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kBadRedirect) << location;
  }
}

TEST_F(RobotsWalkTest, RefusesRedirectToAPortThatBrowsersRefuse) {
  EXPECT_EQ(Redirect("http://other.example:25/robots.txt"), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kRefusedRedirect);
  EXPECT_EQ(walk_.redirects(), 0u);
}

TEST_F(RobotsWalkTest, RefusesWhatWeDoNotFetch) {
  const std::string long_url(3'000, 'x');
  for (const std::string& location :
       {std::string("ftp://example.com/robots.txt"),
        std::string("file:///etc/passwd"), std::string("data:text/plain,"),
        "/" + long_url}) {
    Start("http://example.com/");
    EXPECT_EQ(Redirect(location), Step::kEnd) << location;
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kRefusedRedirect) << location;
  }
  for (FetchOutcome outcome :
       {FetchOutcome::kAddressRefused, FetchOutcome::kBlocked,
        FetchOutcome::kOutOfScope}) {
    Start("http://example.com/");
    EXPECT_EQ(Redirect("http://10.0.0.1/"), Step::kAsk);
    EXPECT_EQ(Fail(outcome), Step::kEnd);
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kRefusedRedirect);
    Start("http://example.com/");
    EXPECT_EQ(Fail(outcome), Step::kEnd);
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kNetwork);
  }
}

TEST_F(RobotsWalkTest, TellsWhatCouldNotBeReached) {
  for (FetchOutcome outcome :
       {FetchOutcome::kDnsFailed, FetchOutcome::kNoSuchHost,
        FetchOutcome::kConnectFailed, FetchOutcome::kTlsFailed,
        FetchOutcome::kConnectionLost, FetchOutcome::kTimeout,
        FetchOutcome::kBadResponse, FetchOutcome::kHeadTooLarge,
        FetchOutcome::kProxyFailed, FetchOutcome::kInternalError}) {
    Start("http://example.com/");
    EXPECT_EQ(Redirect("http://other.example/"), Step::kAsk);
    EXPECT_EQ(Fail(outcome), Step::kEnd);
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kNetwork);
  }
}

TEST_F(RobotsWalkTest, AnAnswerThatBreaksOffIsNone) {
  EXPECT_EQ(Answer(200, Truncation::kLength), Step::kEnd);
  EXPECT_EQ(walk_.end(), RobotsFetchEnd::kAnswer);
  for (Truncation truncation : {Truncation::kTime, Truncation::kDisconnect,
                                Truncation::kUnspecified, Truncation::kPool}) {
    Start("http://example.com/");
    EXPECT_EQ(Answer(200, truncation), Step::kEnd);
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kNetwork);
    Start("http://example.com/");
    EXPECT_EQ(Answer(404, truncation), Step::kEnd);
    EXPECT_EQ(walk_.end(), RobotsFetchEnd::kAnswer);
  }
}

TEST_F(RobotsWalkTest, AnAnswerWithDamagedCodingsIsNone) {
  using coding::DecodeState;
  using Chunks = coding::ChunkedDecoder::Outcome;
  auto end = [&](int status, Truncation truncation, Chunks chunks,
                 DecodeState content) {
    Start("http://example.com/");
    RobotsHop hop;
    hop.outcome = FetchOutcome::kResponse;
    hop.status = status;
    hop.truncation = truncation;
    hop.chunks = chunks;
    hop.content = content;
    EXPECT_EQ(walk_.OnResult(hop), Step::kEnd);
    return walk_.end();
  };
  constexpr auto kNone = Truncation::kNone;
  constexpr auto kLength = Truncation::kLength;
  for (DecodeState content : {DecodeState::kCut, DecodeState::kBroken}) {
    EXPECT_EQ(end(200, kNone, Chunks::kWhole, content),
              RobotsFetchEnd::kNetwork);
    EXPECT_EQ(end(404, kNone, Chunks::kWhole, content),
              RobotsFetchEnd::kAnswer);
  }
  for (Chunks chunks : {Chunks::kCut, Chunks::kBroken}) {
    EXPECT_EQ(end(200, kNone, chunks, DecodeState::kWhole),
              RobotsFetchEnd::kNetwork);
  }
  for (DecodeState content : {DecodeState::kTooLarge, DecodeState::kBomb,
                              DecodeState::kAsItIs, DecodeState::kUnknown}) {
    EXPECT_EQ(end(200, kNone, Chunks::kNotChunked, content),
              RobotsFetchEnd::kAnswer);
  }
  // We ended it ourselves: of course it is cut.
  EXPECT_EQ(end(200, kLength, Chunks::kCut, DecodeState::kCut),
            RobotsFetchEnd::kAnswer);
  EXPECT_EQ(end(200, kLength, Chunks::kCut, DecodeState::kBroken),
            RobotsFetchEnd::kNetwork);
}

TEST_F(RobotsWalkTest, AnInterruptedHopIsAskedAgain) {
  EXPECT_EQ(Redirect("http://a.example/"), Step::kAsk);
  EXPECT_EQ(Fail(FetchOutcome::kInterrupted), Step::kAsk);
  EXPECT_EQ(walk_.next().href(), "http://a.example/");
  EXPECT_EQ(walk_.redirects(), 1u);
}

TEST_F(RobotsWalkTest, AtLeastFiveHundredKibibytesAreRead) {
  EXPECT_GE(config::RobotsSettings().max_size_bytes, 500u * 1024);
  EXPECT_GE(fetch_.robots_redirects, 5);
}

}  // namespace
}  // namespace nephila::fetch
