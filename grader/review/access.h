#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Who may use the page of a review: whoever has the address that the terminal shows, from a
/// browser on this machine, and no page of anybody else's.
namespace rooflab {

/// 128 bits of the operating system's, as 32 hexadecimal digits.
/// @throws std::runtime_error where it has none
std::string random_token();

/// What a request says of itself, as far as it decides whether it is let in.
struct KnockingRequest {
  std::string method;
  std::string path;
  std::string token;       ///< of the query; empty for none
  std::size_t hosts = 0;   ///< how many Host headers there are
  std::string host;        ///< the first of them
  std::string origin;      ///< empty where the browser sends none
  std::string fetch_site;  ///< Sec-Fetch-Site; empty where the browser sends none
  std::string cookies;     ///< the Cookie header
};

/// Why a request is not let in.
struct AccessRefusal {
  int status = 403;
  std::string why;
};

/// The secrets of one server.
///
/// The token opens a session, once for each browser: the answer is a cookie and a redirect to a
/// folder of a random name. Browsers send cookies to every port of a host, so the cookie is bound
/// to that folder: another service of this machine is not told it.
class Access {
 public:
  explicit Access(int port);

  /// "http://127.0.0.1:4711/?token=…"
  std::string address() const;
  /// "/3f…/": the pages lie below it.
  const std::string& folder() const { return folder_; }
  const std::string& form_token() const { return form_token_; }
  /// The Set-Cookie header of an opened session.
  std::string set_cookie() const;

  /// Whether the request opens a session: path "/" with the right token. Its host must be right,
  /// too.
  bool opens(const KnockingRequest& request) const;
  /// Nothing where the request may go on. The token of a form is not known here: see
  /// has_form_token().
  std::optional<AccessRefusal> refusal(const KnockingRequest& request) const;
  bool has_form_token(std::string_view token) const;

 private:
  std::optional<AccessRefusal> refusal_of_host(const KnockingRequest& request) const;
  bool has_cookie(const std::string& cookies) const;

  std::string port_;
  std::string token_, session_, form_token_, folder_;
};

}  // namespace rooflab
