#include "simgpu/replay/page.h"

#include <cstdint>
#include <string_view>

#include "simgpu/replay/page_data.h"
#include "simgpu/replay/page_files.h"
#include "simgpu/replay/trim.h"

namespace simgpu::replay {
namespace {

unsigned digit_of(char letter) {
  return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
}

/// As a content security policy writes a digest.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char letter : hex) {
    bits = bits << 4U | digit_of(letter);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text += kLetters[bits >> count & 63U];
  }
  if (count > 0) text += kLetters[bits << (6U - count) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string policy() {
  return "default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
         base64_of_hex(kScriptSha256) + "'; style-src 'sha256-" + base64_of_hex(kStyleSha256) + "'";
}

std::string around(const std::string& data) {
  std::string page = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy() + "\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<title>Replay</title>\n<style>";
  page += kStyle;
  page += "</style>\n</head>\n<body>\n<main>\n";
  page += kBody;
  page += "</main>\n<script type=\"application/json\" id=\"data\">";
  page += data;
  page += "</script>\n<script>";
  page += kScript;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace

std::string page_html(Recording recording, const PageWords& words, const SourceText& source) {
  PageWords told = words;
  std::string page = around(page_data(recording, told, source));
  while (page.size() > kMostPageBytes && recording.steps.size() > 1) {
    if (told.lines.size() == words.lines.size()) {
      told.lines.emplace_back("The replay would be too large: some of its steps are left out.");
    }
    const std::size_t fewer = recording.steps.size() / 2;
    recording = trimmed(std::move(recording), fewer);
    page = around(page_data(recording, told, source));
  }
  return page;
}

}  // namespace simgpu::replay
