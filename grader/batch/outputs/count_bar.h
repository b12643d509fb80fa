#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rooflab {

/// What a stretch of a bar stands for. Each has a pattern of its own, so that colour alone says
/// nothing.
enum class BarPart : std::uint8_t { right, almost, wrong, none };

struct BarStretch {
  BarPart part = BarPart::none;
  std::size_t count = 0;
};

/// A bar of so many, as SVG without style attributes.
/// @param words for who does not see it: "31 of 40 pass"; not yet escaped
std::string count_bar(const std::string& words, const std::vector<BarStretch>& stretches);

/// What the patterns mean. A page has it once: the bars take their patterns from it.
std::string bar_legend();

/// The style of both.
inline constexpr const char* kBarStyle = R"css(
.counts{width:8rem;height:.7rem;vertical-align:middle;margin-right:.5rem}
.counts .frame{fill:none;stroke:var(--soft)}
.counts .right{fill:var(--good)}
.counts .almost-ground,.counts .wrong-ground{fill:var(--paper)}
.counts .almost-lines{stroke:var(--todo)}.counts .wrong-lines{stroke:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;padding:0;margin:.8rem 0;font-size:.9rem}
.legend .counts{width:2.4rem}
)css";

}  // namespace rooflab
