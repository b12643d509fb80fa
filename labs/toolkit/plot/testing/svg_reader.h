#pragma once

#include <cstdlib>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace rooflab::plot {

/// One element of an SVG text, flat: its name, attributes and the text up to the next element.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< entities as characters

  double number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
  bool is(const std::string& css_class) const {
    const auto found = attributes.find("class");
    return found != attributes.end() &&
           (" " + found->second + " ").find(" " + css_class + " ") != std::string::npos;
  }
};

inline std::string without_entities(const std::string& text) {
  static const std::map<std::string, char> kEntities{
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&amp;", '&'}};
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::string entity = text.substr(at, text.find(';', at) - at + 1);
    const auto found = text[at] == '&' ? kEntities.find(entity) : kEntities.end();
    plain += found == kEntities.end() ? text[at] : found->second;
    at += found == kEntities.end() ? 1 : entity.size();
  }
  return plain;
}

/// All elements in order. Throws std::runtime_error where the text is not well-formed: every tag
/// closed in order, every attribute quoted, every & an entity of XML, no stray < or >.
inline std::vector<Element> read_svg(const std::string& svg) {
  static const std::regex kOpen(R"re(<([a-z]+)((?: [A-Za-z0-9-]+="[^"<>]*")*)(/?)>)re");
  static const std::regex kAttribute(R"re( ([A-Za-z0-9-]+)="([^"]*)")re");
  static const std::regex kText("([^<>&]|&(amp|lt|gt|quot|#39);)*");
  std::vector<Element> elements;
  std::vector<std::string> open;
  for (std::size_t at = 0; at < svg.size();) {
    const std::size_t tag = std::min(svg.find('<', at), svg.size());
    const std::string text = svg.substr(at, tag - at);
    if (text.size() < 2000 && !std::regex_match(text, kText))
      throw std::runtime_error("a bare character in: " + text);
    if (!elements.empty()) elements.back().text += without_entities(text);
    if (tag == svg.size()) break;
    const std::size_t end = svg.find('>', tag);
    if (end == std::string::npos) throw std::runtime_error("an open tag");
    const std::string whole = svg.substr(tag, end - tag + 1);
    at = end + 1;
    if (whole[1] == '/') {
      if (open.empty() || whole.substr(2, whole.size() - 3) != open.back())
        throw std::runtime_error(whole + " closes nothing");
      open.pop_back();
      continue;
    }
    std::smatch match;
    if (!std::regex_match(whole, match, kOpen)) throw std::runtime_error("not a tag: " + whole);
    Element element{match[1], {}, ""};
    const std::string attributes = match[2];
    for (std::sregex_iterator it(attributes.begin(), attributes.end(), kAttribute), last;
         it != last; ++it) {
      const std::string value = (*it)[2];
      if (!std::regex_match(value, kText)) throw std::runtime_error("a bare & in: " + value);
      if (!element.attributes.emplace((*it)[1], without_entities(value)).second)
        throw std::runtime_error("an attribute twice in " + whole);
    }
    elements.push_back(element);
    if (match[3].length() == 0) open.push_back(element.name);
  }
  if (!open.empty()) throw std::runtime_error("<" + open.back() + "> is never closed");
  return elements;
}

}  // namespace rooflab::plot
