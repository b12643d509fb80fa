#include "grader/review/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

namespace rooflab {
namespace {

constexpr const char* kCookie = "rooflab_review";

/// Takes as long wherever they differ.
bool is_same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    differences |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return differences == 0;
}

}  // namespace

std::string random_token() {
  std::array<std::uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error(
        "the system has no random numbers, and a page without a secret "
        "would be everybody's; start the review again later");
  }
  std::string digits;
  for (const std::uint8_t byte : bytes) digits += fmt::format("{:02x}", byte);
  return digits;
}

Access::Access(int port)
    : port_(std::to_string(port)),
      token_(random_token()),
      session_(random_token()),
      form_token_(random_token()),
      folder_("/" + random_token() + "/") {}

std::string Access::address() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_);
}

std::string Access::set_cookie() const {
  return fmt::format("{}={}; Path={}; HttpOnly; SameSite=Strict", kCookie, session_, folder_);
}

bool Access::has_cookie(const std::string& cookies) const {
  const std::string wanted = fmt::format("{}=", kCookie);
  for (std::size_t begin = 0; begin < cookies.size();) {
    std::size_t end = cookies.find(';', begin);
    if (end == std::string::npos) end = cookies.size();
    std::string_view cookie = std::string_view(cookies).substr(begin, end - begin);
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(wanted) && is_same(cookie.substr(wanted.size()), session_)) return true;
    begin = end + 1;
  }
  return false;
}

/// A page of somebody else whose name was made to lead here (DNS rebinding) says its own name.
std::optional<AccessRefusal> Access::refusal_of_host(const KnockingRequest& request) const {
  const bool ours = request.hosts == 1 &&
                    (request.host == "127.0.0.1:" + port_ || request.host == "localhost:" + port_);
  if (ours) return std::nullopt;
  return AccessRefusal{.status = 421, .why = "this page answers to 127.0.0.1 and localhost alone"};
}

bool Access::opens(const KnockingRequest& request) const {
  return !refusal_of_host(request) && request.method == "GET" && request.path == "/" &&
         is_same(request.token, token_);
}

std::optional<AccessRefusal> Access::refusal(const KnockingRequest& request) const {
  if (const auto refusal = refusal_of_host(request)) return refusal;
  if (!request.path.starts_with(folder_) || !has_cookie(request.cookies)) {
    return AccessRefusal{.why = "open the address that grader review has printed on its terminal"};
  }
  if (request.method != "GET" && request.method != "POST") {
    return AccessRefusal{.status = 405, .why = "this page knows GET and POST alone"};
  }
  if (request.method == "GET") return std::nullopt;
  const bool foreign = !request.origin.empty() && request.origin != "http://" + request.host;
  const bool from_elsewhere = !request.fetch_site.empty() && request.fetch_site != "same-origin";
  if (foreign || from_elsewhere) {
    return AccessRefusal{.why =
                             "this was sent by a page of somebody else, and nothing was written"};
  }
  return std::nullopt;
}

bool Access::has_form_token(std::string_view token) const { return is_same(token, form_token_); }

}  // namespace rooflab
