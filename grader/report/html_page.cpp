#include "grader/report/html_page.h"

#include <fmt/format.h>

#include "grader/report/html_style.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

// Bars get their widths by style attributes, hence unsafe-inline for styles alone.
constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

}  // namespace

std::string html_page(std::string_view title, std::string_view content,
                      std::string_view more_style) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"generator\" content=\"Rooflab\">"
      "<title>{}</title>\n<style>{}{}</style></head>\n<body><main>\n{}</main></body></html>\n",
      kContentSecurityPolicy, escape_html(title), kStyleSheet, more_style, content);
}

std::string html_heading(int level, std::string_view html) {
  return fmt::format("<h{0}>{1}</h{0}>", level, html);
}

}  // namespace rooflab
