#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "grader/review/web_values.h"

namespace rooflab {

/// The server cannot be started: why, and what to do.
class WebServerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Serves pages to browsers on this machine: HTTP on 127.0.0.1. Who may see them is Access's
/// matter; every answer has headers that let nothing run or load but our own script and style.
class WebServer {
 public:
  /// @param form_token that forms have to bring along
  using Handler =
      std::function<ReviewResponse(const ReviewRequest& request, const std::string& form_token)>;

  /// Takes the port, 0 for any that is free. @throws WebServerError where it cannot be had
  WebServer(int port, Handler handler);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  int port() const;
  /// Opens the pages, once for each browser.
  std::string address() const;
  /// Answers until stop(), which any thread may call.
  void run();
  void stop();
  /// Until run() answers. For whoever starts it in another thread.
  void wait_until_ready() const;

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace rooflab
