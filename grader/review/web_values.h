#pragma once

#include <map>
#include <string>

/// Requests and answers as plain values: pages are made of these, and know nothing of HTTP.
namespace rooflab {

using ReviewFields = std::multimap<std::string, std::string>;

/// A request that was let in. Everything in it is untrusted all the same.
struct ReviewRequest {
  bool writes = false;  ///< a POST, whose token against forgery was right
  std::string page;     ///< "submission"; empty for the class
  ReviewFields query = {};
  ReviewFields form = {};
};

struct ReviewResponse {
  int status = 200;
  std::string body = {};
  std::string type = "text/html; charset=utf-8";
  std::string location = {};  ///< of a redirect, relative to the page: "submission?student=ada"
};

/// The first value of that name; empty where there is none.
inline std::string value_of(const ReviewFields& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

}  // namespace rooflab
