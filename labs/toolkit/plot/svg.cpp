#include "labs/toolkit/plot/svg.h"

#include <array>
#include <cmath>

#include "labs/toolkit/plot/words.h"

namespace rooflab::plot {
namespace {

// Colours of Okabe and Ito, which people with any colour vision tell apart; lighter on dark pages.
// Every rule starts with the class of the root, so that none acts outside of a chart that stands
// in a page.
constexpr const char* kStyle = R"css(
.rooflab-plot{--paper:#fff;--ink:#1c2126;--soft:#59636d;--line:#e9ecef;--strong:#c9d0d7;
--c0:#0072b2;--c1:#c65300;--c2:#00825f;--c3:#a8508a;--c4:#8a6a00;--c5:#2a7fb8;--c6:#a03030;--c7:#5c6670}
@media (prefers-color-scheme:dark){.rooflab-plot{--paper:#14171a;--ink:#e6e9ec;--soft:#9aa5b0;--line:#22282e;--strong:#3d464f;
--c0:#56b4e9;--c1:#f5a15d;--c2:#3ecf9f;--c3:#e39bc8;--c4:#e2c04e;--c5:#8ad0f5;--c6:#f08a80;--c7:#a9b4bf}}
.rooflab-plot .paper{fill:var(--paper)}
.rooflab-plot text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
.rooflab-plot .title{font-size:15px;font-weight:600}
.rooflab-plot .soft{fill:var(--soft)}
.rooflab-plot .on-plot{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.rooflab-plot .grid{stroke:var(--line)}
.rooflab-plot .power{stroke:var(--strong)}
.rooflab-plot .frame{fill:none;stroke:var(--strong)}
.rooflab-plot .roof{stroke:var(--ink);stroke-width:2}
.rooflab-plot .ridge{fill:var(--paper);stroke:var(--ink);stroke-width:1.5}
.rooflab-plot .leader{stroke:var(--soft);stroke-width:.8}
.rooflab-plot .pair{stroke:var(--soft);stroke-dasharray:3 3}
.rooflab-plot .arrow{fill:var(--ink)}
.rooflab-plot .predicted{fill:none;stroke:var(--c0);stroke-width:2}
.rooflab-plot .modelled{fill:var(--c1);stroke:var(--paper)}
.rooflab-plot .measured{fill:var(--c2);stroke:var(--paper)}
.rooflab-plot .target{fill:var(--ink);stroke:var(--paper);stroke-width:.5}
.rooflab-plot .c0{color:var(--c0)}.rooflab-plot .c1{color:var(--c1)}.rooflab-plot .c2{color:var(--c2)}
.rooflab-plot .c3{color:var(--c3)}.rooflab-plot .c4{color:var(--c4)}.rooflab-plot .c5{color:var(--c5)}
.rooflab-plot .c6{color:var(--c6)}.rooflab-plot .c7{color:var(--c7)}
.rooflab-plot .line{fill:none;stroke:currentColor;stroke-width:2}
.rooflab-plot .filled{fill:currentColor;stroke:var(--paper)}
.rooflab-plot .hollow{fill:var(--paper);stroke:currentColor;stroke-width:2}
.rooflab-plot .missing{fill:none;stroke:var(--ink);stroke-width:2}
)css";

constexpr std::array<const char*, 3> kAnchors{"start", "middle", "end"};

// Advance widths of the characters from space to ~ in DejaVu Sans, one of the widest faces in use,
// in hundredths of the font's size.
constexpr std::array<int, 95> kWidths{
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};
constexpr double kFontSize = 12;

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// Width of the character that starts with this byte of UTF-8.
double character_width(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0x20 && byte < 0x7F) return kFontSize * kWidths[byte - 0x20] / 100;
  // Accented Latin and Greek letters are two bytes; of what is longer the widest fill a square.
  return byte < 0xE0 ? kFontSize * 0.9 : kFontSize * 1.1;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string pixels(double value) { return rounded(value, 1); }

std::string attribute(std::string_view name, std::string_view value) {
  return joined({" ", name, "=\"", escaped(value), "\""});
}

std::string attribute(std::string_view name, double value) {
  return attribute(name, pixels(value));
}

/// The end of an element that may carry a tooltip.
std::string closed(std::string_view element, std::string_view tooltip) {
  if (tooltip.empty()) return "/>\n";
  return joined({"><title>", escaped(tooltip), "</title></", element, ">\n"});
}

/// A step of path data, as in "L12 34".
std::string step(std::string_view command, Place place) {
  return joined({command, pixels(place.x), " ", pixels(place.y)});
}

/// The corners of a polygon as path data.
std::string polygon(const std::vector<Place>& corners) {
  std::string data;
  for (const Place& corner : corners) data += step(data.empty() ? "M" : "L", corner);
  return data + "Z";
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    if (starts_character(c)) width += character_width(c);
  }
  return width;
}

std::string shortened(const std::string& text, double most) {
  if (text_width(text) <= most) return text;
  static constexpr std::string_view kEllipsis = "…";
  double width = text_width(kEllipsis);
  std::size_t end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!starts_character(text[i])) continue;
    end = i;
    width += character_width(text[i]);
    if (width > most) break;
  }
  return text.substr(0, end) + std::string(kEllipsis);
}

Svg::Svg(double height, std::string_view title, std::string_view description)
    : height_(height), title_(title), description_(description) {}

void Svg::line(std::string_view css_class, Place from, Place to) {
  text_ += joined({"<line", attribute("class", css_class), attribute("x1", from.x),
                   attribute("y1", from.y), attribute("x2", to.x), attribute("y2", to.y), "/>\n"});
}

void Svg::polyline(std::string_view css_class, const std::vector<Place>& places) {
  std::string points;
  for (const Place& place : places) points += joined({pixels(place.x), ",", pixels(place.y), " "});
  if (!points.empty()) points.pop_back();
  text_ +=
      joined({"<polyline", attribute("class", css_class), attribute("points", points), "/>\n"});
}

void Svg::box(std::string_view css_class, const Box& box, std::string_view tooltip) {
  text_ += joined({"<rect", attribute("class", css_class), attribute("x", box.x),
                   attribute("y", box.y), attribute("width", box.width),
                   attribute("height", box.height), closed("rect", tooltip)});
}

void Svg::text(std::string_view css_class, Place place, std::string_view words, Anchor anchor,
               double degrees) {
  text_ += joined(
      {"<text", attribute("class", css_class), attribute("x", place.x), attribute("y", place.y)});
  if (anchor != Anchor::start)
    text_ += attribute("text-anchor", kAnchors[static_cast<std::size_t>(anchor)]);
  if (degrees != 0) {
    text_ += attribute("transform", joined({"rotate(", pixels(-degrees), " ", pixels(place.x), " ",
                                            pixels(place.y), ")"}));
  }
  text_ += joined({">", escaped(words), "</text>\n"});
}

void Svg::label(std::string_view css_class, const Box& box, std::string_view words) {
  text(css_class, {box.x, box.y + box.height - kTextDescent}, words);
}

void Svg::path(std::string_view css_class, const std::string& data, std::string_view tooltip) {
  text_ += joined(
      {"<path", attribute("class", css_class), attribute("d", data), closed("path", tooltip)});
}

void Svg::circle(std::string_view css_class, Place center, std::string_view tooltip) {
  text_ += joined({"<circle", attribute("class", css_class), attribute("cx", center.x),
                   attribute("cy", center.y), attribute("r", 4.5), closed("circle", tooltip)});
}

void Svg::marker(std::string_view css_class, Marker marker, Place place, std::string_view tooltip) {
  const auto outline = [&](const std::vector<Place>& around) {
    std::vector<Place> corners;
    for (const Place& corner : around) corners.push_back({place.x + corner.x, place.y + corner.y});
    path(css_class, polygon(corners), tooltip);
  };
  switch (marker) {
    case Marker::circle:
      return circle(css_class, place, tooltip);
    case Marker::square:
      return outline({{-4, -4}, {4, -4}, {4, 4}, {-4, 4}});
    case Marker::diamond:
      return outline({{0, -6}, {6, 0}, {0, 6}, {-6, 0}});
    case Marker::triangle:
      return outline({{0, -5}, {5, 4}, {-5, 4}});
    case Marker::bar:
      return outline({{-6, -1.5}, {6, -1.5}, {6, 1.5}, {-6, 1.5}});
    case Marker::cross:
      return path(
          css_class,
          joined({step("M", {place.x - 4, place.y - 4}), step("L", {place.x + 4, place.y + 4}),
                  step("M", {place.x - 4, place.y + 4}), step("L", {place.x + 4, place.y - 4})}),
          tooltip);
  }
}

void Svg::arrow(Place tip, Place direction) {
  const double length = std::hypot(direction.x, direction.y);
  const Place along{direction.x / length * 8, direction.y / length * 8};
  path("arrow",
       polygon({tip,
                {tip.x - along.x - along.y / 2, tip.y - along.y + along.x / 2},
                {tip.x - along.x + along.y / 2, tip.y - along.y - along.x / 2}}),
       "");
}

std::string Svg::finish() && {
  const std::string width = pixels(kCanvasWidth), height = pixels(height_);
  return joined({"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rooflab-plot\"",
                 attribute("viewBox", joined({"0 0 ", width, " ", height})), " role=\"img\"",
                 attribute("aria-label", title_), ">\n<title>", escaped(title_), "</title>\n<desc>",
                 escaped(description_), "</desc>\n<style>", kStyle,
                 "</style>\n<rect class=\"paper\"", attribute("width", width),
                 attribute("height", height), " rx=\"6\"/>\n", text_, "</svg>\n"});
}

}  // namespace rooflab::plot
