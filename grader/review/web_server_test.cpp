#include "grader/review/web_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

/// Through a real client: who is let in, what every answer says, what a form has to bring along.
namespace rooflab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

class WebServerTest : public testing::Test {
 protected:
  WebServerTest()
      : server_(0,
                [this](const ReviewRequest& request, const std::string& form_token) {
                  ++answered_;
                  last_ = request;
                  form_token_ = form_token;
                  if (request.page == "elsewhere") return ReviewResponse{.location = "questions"};
                  if (request.page == "broken") throw std::runtime_error("</script>");
                  return ReviewResponse{.body = "secret grades"};
                }),
        thread_([this] { server_.run(); }) {
    server_.wait_until_ready();
    host_ = "127.0.0.1:" + std::to_string(server_.port());
  }
  ~WebServerTest() override {
    server_.stop();
    thread_.join();
  }

  httplib::Client client() const { return httplib::Client("127.0.0.1", server_.port()); }
  std::string token() const {
    return server_.address().substr(server_.address().find("token=") + 6);
  }

  /// Opens a session as a browser does.
  void open() {
    const auto answer = client().Get("/?token=" + token());
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->status, 303);
    folder_ = answer->get_header_value("Location");
    const std::string cookie = answer->get_header_value("Set-Cookie");
    cookie_ = cookie.substr(0, cookie.find(';'));
  }
  httplib::Headers headers() const { return {{"Cookie", cookie_}}; }

  int status_of(const std::string& path, const httplib::Headers& headers) const {
    const auto answer = client().Get(path, headers);
    return answer ? answer->status : 0;
  }

  int post(httplib::Headers more, const std::string& form_token) const {
    more.emplace("Cookie", cookie_);
    const httplib::MultipartFormDataItems items = {{"form_token", form_token, "", ""},
                                                   {"text", std::string(100'000, 'w'), "", ""}};
    const auto answer = client().Post(folder_ + "comment", more, items);
    return answer ? answer->status : 0;
  }

  WebServer server_;
  std::thread thread_;
  std::string host_, folder_, cookie_, form_token_;
  ReviewRequest last_;
  int answered_ = 0;
};

TEST_F(WebServerTest, ListensOnThisMachineAloneAndTellsATokenOf128Bits) {
  EXPECT_THAT(server_.address(),
              MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]{32}"));
}

TEST_F(WebServerTest, RefusesEveryRequestWithoutTheSession) {
  open();
  for (const std::string& path :
       {std::string("/"), std::string("/?token="), "/?token=" + std::string(32, '0'),
        "/?token=" + token().substr(1), folder_, folder_ + "submission", folder_ + "review.js",
        std::string("/etc/passwd"), std::string("/..%2f..%2fetc/passwd")}) {
    const auto answer = client().Get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 403) << path;
    EXPECT_THAT(answer->body, Not(HasSubstr("secret"))) << path;
    EXPECT_THAT(answer->get_header_value("Set-Cookie"), IsEmpty()) << path;
  }
  EXPECT_EQ(status_of(folder_, {{"Cookie", "rooflab_review=" + std::string(32, '0')}}), 403);
  EXPECT_EQ(status_of(folder_, {{"Cookie", "rooflab_review="}}), 403);
  EXPECT_EQ(status_of("/", headers()), 403);
  EXPECT_EQ(status_of("/" + std::string(32, '0') + "/", headers()), 403);
  EXPECT_EQ(answered_, 0);
}

TEST_F(WebServerTest, OpensASessionByACookieThatScriptsAndOtherSitesDoNotGet) {
  const auto answer = client().Get("/?token=" + token());
  EXPECT_THAT(answer->get_header_value("Set-Cookie"),
              MatchesRegex("rooflab_review=[0-9a-f]{32}; Path=/[0-9a-f]{32}/; HttpOnly; "
                           "SameSite=Strict"));
  EXPECT_THAT(answer->get_header_value("Set-Cookie"), Not(HasSubstr(token())));
  open();
  EXPECT_EQ(status_of(folder_, headers()), 200);
  EXPECT_EQ(status_of(folder_, {{"Cookie", "a=b; " + cookie_ + "; c=d"}}), 200);
  EXPECT_EQ(answered_, 2);
}

TEST_F(WebServerTest, AnswersToItsOwnNamesAlone) {
  open();
  const auto with_host = [&](const std::string& host) {
    return status_of(folder_, {{"Cookie", cookie_}, {"Host", host}});
  };
  const std::string port = std::to_string(server_.port());
  EXPECT_EQ(with_host("localhost:" + port), 200);
  for (const std::string& host :
       {std::string("evil.example"), "evil.example:" + port, std::string("127.0.0.1"),
        std::string("127.0.0.1:1"), "127.0.0.1.evil.example:" + port, "LOCALHOST.evil:" + port}) {
    EXPECT_EQ(with_host(host), 421) << host;
  }
  // Not even the token opens a session there.
  EXPECT_EQ(status_of("/?token=" + token(), {{"Host", "evil.example:" + port}}), 421);
}

TEST_F(WebServerTest, SaysOnEveryAnswerThatNothingMayRunOrLoad) {
  open();
  for (const std::string& path : {folder_, std::string("/"), folder_ + "elsewhere",
                                  folder_ + "broken", "/?token=" + token()}) {
    const auto answer = client().Get(path, headers());
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->get_header_value("Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'self'; "
              "base-uri 'none'; frame-ancestors 'none'")
        << path;
    EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(answer->get_header_value("Referrer-Policy"), "same-origin") << path;
    EXPECT_EQ(answer->get_header_value("Cache-Control"), "no-store") << path;
    EXPECT_THAT(answer->body, Not(HasSubstr("</script>"))) << path;
  }
}

TEST_F(WebServerTest, RedirectsWithinItsFolder) {
  open();
  const auto answer = client().Get(folder_ + "elsewhere", headers());
  EXPECT_EQ(answer->status, 303);
  EXPECT_EQ(answer->get_header_value("Location"), folder_ + "questions");
}

TEST_F(WebServerTest, WritesNothingForAFormWithoutItsToken) {
  open();
  ASSERT_EQ(status_of(folder_, headers()), 200);
  answered_ = 0;
  EXPECT_EQ(post({}, ""), 403);
  EXPECT_EQ(post({}, std::string(32, '0')), 403);
  EXPECT_EQ(post({}, token()), 403);
  EXPECT_EQ(answered_, 0);
  EXPECT_EQ(post({}, form_token_), 200);
  EXPECT_EQ(answered_, 1);
  EXPECT_TRUE(last_.writes);
  EXPECT_EQ(last_.page, "comment");
  EXPECT_EQ(value_of(last_.form, "text").size(), 100'000U);
}

TEST_F(WebServerTest, WritesNothingForAPageOfSomebodyElse) {
  open();
  ASSERT_EQ(status_of(folder_, headers()), 200);
  answered_ = 0;
  EXPECT_EQ(post({{"Origin", "http://evil.example"}}, form_token_), 403);
  EXPECT_EQ(post({{"Origin", "null"}}, form_token_), 403);
  EXPECT_EQ(post({{"Origin", "http://127.0.0.1:1"}}, form_token_), 403);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "cross-site"}}, form_token_), 403);
  EXPECT_EQ(post({{"Sec-Fetch-Site", "same-site"}}, form_token_), 403);
  EXPECT_EQ(answered_, 0);
  EXPECT_EQ(post({{"Origin", "http://" + host_}, {"Sec-Fetch-Site", "same-origin"}}, form_token_),
            200);
}

TEST_F(WebServerTest, KnowsNoOtherMethods) {
  open();
  const auto removed = client().Delete(folder_, headers());
  EXPECT_EQ(removed->status, 405);
  const auto put = client().Put(folder_, headers(), "x", "text/plain");
  EXPECT_EQ(put->status, 405);
  EXPECT_EQ(answered_, 0);
}

TEST_F(WebServerTest, RefusesWhatIsTooLarge) {
  open();
  const auto answer = client().Post(folder_ + "comment", headers(), std::string(3 << 20, 'x'),
                                    "multipart/form-data; boundary=x");
  EXPECT_TRUE(!answer || answer->status == 413);
  EXPECT_EQ(answered_, 0);
}

TEST_F(WebServerTest, DoesNotShareItsPort) {
  const auto second = [&] {
    WebServer server(server_.port(),
                     [](const ReviewRequest&, const std::string&) { return ReviewResponse{}; });
  };
  EXPECT_THROW(second(), WebServerError);
}

}  // namespace
}  // namespace rooflab
