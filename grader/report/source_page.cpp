#include "grader/report/source_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/report/access_picture.h"
#include "grader/report/html_page.h"
#include "grader/report/text.h"

namespace rooflab {
namespace {

using simgpu::InstructionRecord;
using Place = std::pair<std::string, std::uint32_t>;

constexpr std::uint32_t kContext = 3;     ///< lines around those that cost something
constexpr std::size_t kMostRows = 400;    ///< of a file
constexpr std::size_t kMostPtx = 40;      ///< of a line
constexpr std::size_t kMostPictures = 8;  ///< of a page
constexpr std::size_t kLongestSourceLine = 200;

/// A line that was inlined below a call.
struct Inlined {
  std::string function;
  const LineCost* line = nullptr;
  double time_us = 0;
};

/// Writes one page.
class Page {
 public:
  explicit Page(const SourceCosts& costs) : costs_(costs) {
    for (const LineCost& line : costs.lines) {
      lines_[{line.record.file, line.record.line}] = &line;
      for (const simgpu::CallRecord& call : line.record.calls) {
        if (call.inlined_at.empty()) continue;
        const simgpu::InlinedCall& at = call.inlined_at.front();
        inlined_[{at.file, at.line}].push_back({at.function, &line, call.time_us});
      }
    }
  }

  std::string html() {
    std::string html;
    for (const std::string& file : files()) html += file_html(file);
    return html;
  }

 private:
  /// Those with most of the time first.
  std::vector<std::string> files() const {
    std::vector<std::string> files;
    for (const LineCost& line : costs_.lines) {
      if (std::ranges::find(files, line.record.file) == files.end()) {
        files.push_back(line.record.file);
      }
    }
    return files;
  }

  std::string file_html(const std::string& file) {
    std::vector<std::string> text;
    if (const auto source = costs_.sources.find(file); source != costs_.sources.end()) {
      std::istringstream stream(source->second);
      for (std::string line; std::getline(stream, line);) text.push_back(line);
    }
    std::string rows;
    std::uint32_t last = 0;
    std::size_t count = 0;
    for (const std::uint32_t number : rows_of(file, text.size())) {
      if (++count > kMostRows) break;
      if (last != 0 && number != last + 1) rows += "<p class=\"gap\">…</p>";
      last = number;
      rows +=
          row_html(file, number, number <= text.size() ? text[number - 1] : own_text(file, number));
    }
    return fmt::format("<p class=\"place\">{}</p><div class=\"source\">{}</div>\n",
                       escape_html(file), rows);
  }

  /// Where the file is not there, as in a class's evidence, a line's own text still is.
  std::string own_text(const std::string& file, std::uint32_t number) const {
    const auto line = lines_.find({file, number});
    return line == lines_.end() ? std::string() : line->second->source;
  }

  /// The lines that cost something, and those around them.
  std::vector<std::uint32_t> rows_of(const std::string& file, std::size_t length) const {
    std::vector<std::uint32_t> rows;
    const auto add = [&](std::uint32_t line) {
      const std::uint32_t first = line > kContext ? line - kContext : 1;
      for (std::uint32_t row = first; row <= line + kContext; ++row) {
        if (row <= length || row == line) rows.push_back(row);
      }
    };
    for (const auto& [place, line] : lines_) {
      if (place.first == file) add(place.second);
    }
    for (const auto& [place, lines] : inlined_) {
      if (place.first == file) add(place.second);
    }
    std::ranges::sort(rows);
    const auto repeated = std::ranges::unique(rows);
    rows.erase(repeated.begin(), repeated.end());
    return rows;
  }

  double share(double time_us) const {
    return costs_.kernels_us > 0 ? std::clamp(time_us / costs_.kernels_us, 0.0, 1.0) : 0;
  }

  std::string row_html(const std::string& file, std::uint32_t number, const std::string& text) {
    const auto line = lines_.find({file, number});
    const auto calls = inlined_.find({file, number});
    const bool costs = line != lines_.end(), leads_on = calls != inlined_.end();
    const double own = costs ? line->second->record.time_us : 0;
    double below = 0;
    if (leads_on) {
      for (const Inlined& one : calls->second) below += one.time_us;
    }
    std::string cells = fmt::format(
        "<span class=\"number\">{}</span><span class=\"heat\"><i "
        "style=\"width:{:.1f}%\"></i></span>"
        "<span class=\"cost\">{}</span><code>{}</code>",
        number, 100 * share(std::max(own, below)), cost_words(own, below),
        escape_html(shorten(text, kLongestSourceLine)));
    if (!costs && !leads_on) return "<div class=\"row\">" + cells + "</div>";
    std::string more;
    if (costs) more += facts_html(*line->second);
    if (leads_on) more += inlined_html(calls->second);
    if (costs) more += pictures_html(*line->second) + ptx_html(*line->second);
    return "<details><summary class=\"row\">" + cells + "</summary><div class=\"more\">" + more +
           "</div></details>";
  }

  std::string cost_words(double own, double below) const {
    constexpr double kLeast = 0.001;
    const double most = std::max(own, below);
    if (share(most) < kLeast) return "";
    return format_percent(share(most)) + (below > own ? "*" : "");
  }

  std::string facts_html(const LineCost& line) const {
    const simgpu::LineCounters& c = line.record.counters;
    std::string facts = format_time_us(line.record.time_us) + " modelled";
    if (!line.words.empty()) facts += ": " + line.words;
    std::string html = "<p>" + escape_html(facts) + "</p>";
    std::string counts;
    const auto count = [&](const char* name, double value) {
      if (value > 0)
        counts += fmt::format("{}{} {}", counts.empty() ? "" : " · ", format_count(value), name);
    };
    count("warp instructions", static_cast<double>(c.warp_instructions));
    if (c.warp_instructions > 0) {
      counts += fmt::format(" · {:.1f} active lanes", static_cast<double>(c.thread_instructions) /
                                                          static_cast<double>(c.warp_instructions));
    }
    count("requests", static_cast<double>(c.requests));
    count("sectors", static_cast<double>(c.sectors));
    count("of them found in L1", static_cast<double>(c.l1_hit_sectors));
    count("at L2", static_cast<double>(c.l2_sectors));
    count("bytes of DRAM", static_cast<double>(c.dram_bytes));
    count("wavefronts", static_cast<double>(c.wavefronts));
    count("bank conflicts", static_cast<double>(c.bank_conflicts));
    count("waits at barriers", static_cast<double>(c.barriers));
    return html + (counts.empty() ? "" : "<p class=\"note\">" + escape_html(counts) + "</p>");
  }

  std::string inlined_html(const std::vector<Inlined>& calls) const {
    std::string items;
    for (const Inlined& one : calls) {
      const std::string function = one.function.empty() ? "" : " in " + one.function;
      items +=
          fmt::format("<li>{} at {}:{}{}: <code>{}</code></li>", format_percent(share(one.time_us)),
                      escape_html(one.line->record.file), one.line->record.line,
                      escape_html(shorten(function, kLongestSourceLine)),
                      escape_html(shorten(one.line->source, kLongestSourceLine)));
    }
    return "<p class=\"note\">inlined here</p><ul>" + items + "</ul>";
  }

  std::string pictures_html(const LineCost& line) {
    std::string html;
    std::set<std::string> told;
    for (const InstructionRecord& one : line.record.instructions) {
      if (!one.picture || pictures_ >= kMostPictures) continue;
      if (one.picture->transactions <= 1 && one.picture->fewest <= 1) continue;
      // The copies of an unrolled loop look alike.
      if (!told.insert(access_words(*one.picture)).second) continue;
      ++pictures_;
      html += "<figure>" + access_svg(*one.picture) + "<figcaption>" +
              escape_html(access_words(*one.picture)) + "</figcaption></figure>";
    }
    return html;
  }

  std::string ptx_html(const LineCost& line) const {
    std::string rows;
    std::size_t count = 0;
    for (const InstructionRecord& one : line.record.instructions) {
      if (++count > kMostPtx) break;
      rows += fmt::format(
          "<tr><td class=\"number\">{}</td><td><code>{}</code></td><td class=\"number\">{}</td>"
          "<td class=\"number\">{}</td></tr>",
          one.ptx_line, escape_html(one.text), format_time_us(one.time_us),
          format_count(static_cast<double>(one.counters.warp_instructions)));
    }
    if (rows.empty()) return {};
    return "<details><summary>PTX</summary><div class=\"wide\"><table><thead><tr><th>line</th>"
           "<th>instruction</th><th>time</th><th>warps</th></tr></thead><tbody>" +
           rows + "</tbody></table></div></details>";
  }

  const SourceCosts& costs_;
  std::map<Place, const LineCost*> lines_;
  std::map<Place, std::vector<Inlined>> inlined_;
  std::size_t pictures_ = 0;
};

}  // namespace

std::string source_page_html(const SourceCosts& costs, int heading_level) {
  if (costs.lines.empty() && costs.missing.empty()) return {};
  const std::string heading = html_heading(heading_level, "What it cost, line by line");
  if (costs.lines.empty()) {
    return heading + "<p class=\"note\">" + escape_html(costs.missing) + "</p>\n";
  }
  return heading +
         "<p class=\"note\">Share of the kernels' modelled time; an asterisk marks lines whose "
         "cost "
         "is that of functions inlined there. Open a line for what it did.</p>\n" +
         Page(costs).html();
}

const char* const kSourcePageStyle = R"css(
.source{border:1px solid var(--line);border-radius:.4rem;overflow-x:auto;font:13px/1.45 ui-monospace,Menlo,Consolas,monospace}
.source .row{display:grid;grid-template-columns:2.6rem 3.5rem 3.6rem minmax(20rem,1fr);gap:.4rem;margin:0;padding:0 .5rem;color:var(--ink)}
.source .number,.source .cost{text-align:right;color:var(--soft)}.source .cost{color:var(--bad)}
.source code{white-space:pre;font:inherit}.source summary.row:hover{background:var(--panel)}
.source summary.row{list-style:none}.source summary.row::-webkit-details-marker{display:none}
.heat{align-self:center;height:.7rem;background:var(--panel)}.heat i{display:block;height:100%;background:var(--bad);opacity:.7}
.source .more{border-left:3px solid var(--accent);margin:.2rem .5rem .5rem 3rem;padding:.1rem .7rem;font:14px/1.45 system-ui,sans-serif}
.source .more p{margin:.2rem 0}.source .more ul{margin:.2rem 0;padding-left:1.1rem}.source .gap{margin:0;padding:0 .5rem;color:var(--soft)}
.source figure{margin:.3rem 0}.access{width:100%;max-width:40rem;height:auto}.access text{font:9px system-ui,sans-serif;fill:var(--soft)}
.access .lane{fill:var(--accent)}.access .idle{fill:var(--line)}.access .sector{fill:var(--accent);opacity:.7}
.access .conflict{fill:var(--bad)}.access line{stroke:var(--soft);stroke-width:.7;opacity:.6}
@media print{.source details{display:block}}
@media (max-width:40rem){.source .row{grid-template-columns:2.2rem 1.5rem 3rem minmax(16rem,1fr)}}
)css";

}  // namespace rooflab
