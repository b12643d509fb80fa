#include "grader/review/review_frame.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "grader/report/text.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestText = 20'000;
constexpr double kMostPoints = 1000;

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' || byte == '_';
    encoded += plain ? std::string(1, character) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

}  // namespace

std::string review_page(const std::string& title, const std::string& content) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title>\n<link rel=\"stylesheet\" href=\"review.css\">"
      "<script src=\"review.js\" defer></script></head>\n"
      "<body><a class=\"skip\" href=\"#main\">to the content</a>\n"
      "<nav class=\"top\" aria-label=\"Review\"><a href=\"./\">Class</a><a "
      "href=\"questions\">Free text</a><a href=\"requests\">Regrade requests</a><a "
      "href=\"analysis\">Understanding</a><a "
      "href=\"history\">History</a><a "
      "href=\"outputs\">Gradebooks and feedback</a></nav>\n"
      "<main id=\"main\">\n{}</main></body></html>\n",
      escape_html(one_line(title)), content);
}

ReviewResponse review_message(int status, const std::string& title, const std::string& text) {
  return {.status = status,
          .body = review_page(title, fmt::format("<h1>{}</h1><p>{}</p><p><a href=\"./\">back to "
                                                 "the class</a></p>\n",
                                                 escape_html(title), escape_html(text)))};
}

std::string review_address(const std::string& page,
                           const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string address = page;
  char before = '?';
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    address += before + name + "=" + percent_encoded(value);
    before = '&';
  }
  return address;
}

std::string review_link(const std::string& address, const std::string& html,
                        const std::string& attributes) {
  return fmt::format("<a href=\"{}\"{}{}>{}</a>", escape_html(address.empty() ? "./" : address),
                     attributes.empty() ? "" : " ", attributes, html);
}

std::string review_form(const std::string& action, const std::string& form_token,
                        const std::vector<std::pair<std::string, std::string>>& hidden,
                        const std::string& attributes) {
  std::string form = fmt::format(
      "<form method=\"post\" action=\"{}\" enctype=\"multipart/form-data\" "
      "accept-charset=\"utf-8\"{}{}>"
      "<input type=\"hidden\" name=\"form_token\" value=\"{}\">",
      escape_html(action), attributes.empty() ? "" : " ", attributes, escape_html(form_token));
  for (const auto& [name, value] : hidden) {
    form +=
        fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">", name, escape_html(value));
  }
  return form;
}

std::string alert_html(const std::string& text) {
  if (text.empty()) return {};
  return "<p class=\"conflict\" role=\"alert\">" + escape_html(text) + "</p>\n";
}

std::string batch_html(const std::string& progress) {
  if (progress.empty()) return {};
  return "<p class=\"running\" role=\"status\"><b>A batch is running now:</b> " +
         escape_html(progress) +
         ". What you write is kept meanwhile. What it grades shows when you load the page "
         "again; the outputs can be written when it has ended.</p>\n";
}

std::string text_html(const std::string& text) {
  return "<div class=\"words\"><bdi>" + escape_html(text) + "</bdi></div>";
}

std::string text_of_form(const std::string& text) {
  std::string ours;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      ours += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      ours += '\n';
    }
  }
  ours = sanitize(ours);
  const std::size_t begin = ours.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return {};
  ours = ours.substr(begin, ours.find_last_not_of(" \t\n") - begin + 1);
  if (ours.size() > kLongestText) {
    throw FormError(fmt::format("a text may have {} bytes, and this has {}; shorten it",
                                kLongestText, ours.size()));
  }
  return ours;
}

double points_of_form(const std::string& text) {
  std::string number = text_of_form(text);
  if (const auto comma = number.find(','); comma != std::string::npos) number[comma] = '.';
  if (number.starts_with('+')) number.erase(0, 1);
  // A minus as word processors write it.
  if (number.starts_with("\u2212")) number.replace(0, 3, "-");
  double points = 0;
  const char* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, points, std::chars_format::fixed);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(points) ||
      std::abs(points) > kMostPoints) {
    throw FormError(fmt::format("\"{}\" is no number of points; write it as 2.5 or -1",
                                shorten(one_line(text), 40)));
  }
  return points + 0.0;  // no -0
}

}  // namespace rooflab
