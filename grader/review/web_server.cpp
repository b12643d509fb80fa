#include "grader/review/web_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <utility>

#include "grader/report/text.h"
#include "grader/review/access.h"

namespace rooflab {
namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::size_t kLargestRequest = std::size_t{1} << 20;

/// Should anything of a student's ever get past escape_html(): it cannot run, load or send.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'";

void add_headers(httplib::Response& response) {
  const std::pair<const char*, const char*> headers[] = {
      {"Content-Security-Policy", kPolicy},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      // Not "no-referrer": with that, browsers hide where a form comes from, from us too.
      {"Referrer-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  for (const auto& [name, value] : headers) {
    if (!response.has_header(name)) response.set_header(name, value);
  }
}

void say(httplib::Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Review"
      "</title><p>" +
          escape_html(why) + ".</p></html>\n",
      "text/html; charset=utf-8");
}

KnockingRequest knocking(const httplib::Request& request) {
  return {.method = request.method,
          .path = request.path,
          .token = request.get_param_value("token"),
          .hosts = request.get_header_value_count("Host"),
          .host = request.get_header_value("Host"),
          .origin = request.get_header_value("Origin"),
          .fetch_site = request.get_header_value("Sec-Fetch-Site"),
          .cookies = request.get_header_value("Cookie")};
}

}  // namespace

class WebServer::Http {
 public:
  Http(int port, Handler handler)
      : handler_(std::move(handler)), port_(bind(port)), access_(port_) {
    server_.set_payload_max_length(kLargestRequest);
    server_.set_read_timeout(10);
    server_.set_keep_alive_timeout(5);
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          return let_in(request, response) ? httplib::Server::HandlerResponse::Unhandled
                                           : httplib::Server::HandlerResponse::Handled;
        });
    server_.set_post_routing_handler(
        [](const httplib::Request&, httplib::Response& response) { add_headers(response); });
    server_.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
          say(response, 500, "the page failed; nothing was written");
        });
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      serve(request, response);
    };
    server_.Get(".*", answer);
    server_.Post(".*", answer);
  }

  int port() const { return port_; }
  std::string address() const { return access_.address(); }
  void run() { server_.listen_after_bind(); }
  void stop() { server_.stop(); }
  bool is_running() const { return server_.is_running(); }

 private:
  int bind(int port) {
    // The library's own options let two servers share one port, and each get half of the requests.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (port == 0) {
      const int any = server_.bind_to_any_port(kHost);
      if (any > 0) return any;
    } else if (server_.bind_to_port(kHost, port)) {
      return port;
    }
    throw WebServerError(fmt::format(
        "port {} of {} cannot be had; name another one with --port, or leave it out for any that "
        "is free",
        port, kHost));
  }

  bool let_in(const httplib::Request& request, httplib::Response& response) const {
    const KnockingRequest knock = knocking(request);
    if (access_.opens(knock)) {
      response.set_header("Set-Cookie", access_.set_cookie());
      response.set_redirect(access_.folder(), 303);
      return false;
    }
    const auto refusal = access_.refusal(knock);
    if (refusal) say(response, refusal->status, refusal->why);
    return !refusal;
  }

  void serve(const httplib::Request& request, httplib::Response& response) const {
    ReviewRequest asked;
    asked.page = request.path.substr(access_.folder().size());
    asked.query = ReviewFields(request.params.begin(), request.params.end());
    asked.writes = request.method == "POST";
    if (asked.writes) {
      // Forms come in parts: the library takes no other of more than 8 KiB.
      for (const auto& [name, part] : request.files) asked.form.emplace(name, part.content);
      if (!access_.has_form_token(value_of(asked.form, "form_token"))) {
        say(response, 403,
            "this form is of another session, and nothing was written; copy your words, load the "
            "page again and send them once more");
        return;
      }
    }
    ReviewResponse answer = handler_(asked, access_.form_token());
    response.status = answer.status;
    if (!answer.location.empty()) {
      response.set_redirect(access_.folder() + answer.location, 303);
    } else {
      response.set_content(answer.body, answer.type);
    }
  }

  httplib::Server server_;
  Handler handler_;
  int port_;
  Access access_;
};

WebServer::WebServer(int port, Handler handler)
    : http_(std::make_unique<Http>(port, std::move(handler))) {}
WebServer::~WebServer() = default;
int WebServer::port() const { return http_->port(); }
std::string WebServer::address() const { return http_->address(); }
void WebServer::run() { http_->run(); }
void WebServer::stop() { http_->stop(); }
void WebServer::wait_until_ready() const {
  while (!http_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace rooflab
