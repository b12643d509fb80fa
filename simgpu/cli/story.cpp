#include "simgpu/cli/story.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <string_view>

#include "simgpu/memory/descriptor.h"
#include "simgpu/model/line_words.h"
#include "simgpu/notice.h"

namespace simgpu::cli {
namespace {

std::string printable(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7F) letter = '.';
  }
  return text;
}

std::string text_of(const Dim3& index) {
  return index.z == 0 ? fmt::format("({},{})", index.x, index.y)
                      : fmt::format("({},{},{})", index.x, index.y, index.z);
}

/// Line `number` of a source file, empty when there is none to show.
std::string source_line(const std::string& file, std::uint32_t number) {
  constexpr std::size_t kMostColumns = 160;
  if (file.empty() || number == 0) return {};
  std::istringstream stream(source_text(file).value_or(""));
  std::string line;
  for (std::uint32_t i = 0; i < number; ++i) {
    if (!std::getline(stream, line)) return {};
  }
  std::replace(line.begin(), line.end(), '\t', ' ');
  line.resize(std::min(line.size(), kMostColumns));
  return printable(line);
}

std::string label(const AccessSite& site) {
  if (!site.by_thread) return printable(site.action);
  if (!site.knows_thread) {
    return fmt::format("a thread of block {} {}", text_of(site.block), printable(site.action));
  }
  return fmt::format("thread {}, warp {}{}{}", text_of(site.thread), site.warp,
                     site.action.empty() ? "" : ", ", printable(site.action));
}

/// ", block (0,0), thread (3,0)", as far as it is known.
std::string who(const AccessSite& site) {
  if (!site.by_thread) return {};
  std::string text = ", block " + text_of(site.block);
  if (site.knows_thread) text += ", thread " + text_of(site.thread);
  return text;
}

std::string excerpt(const AccessSite& site, std::size_t gutter, std::string_view mark) {
  const std::string line = source_line(site.file, site.line);
  if (line.empty()) return {};
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t column = site.column > 0 ? site.column - 1 : indent;
  return fmt::format("{:>{}} | {}\n{:>{}} | {:>{}}{} {}\n", site.line, gutter, line, "", gutter, "",
                     std::min(std::max(column, indent), line.size()), mark, label(site));
}

template <typename Place>
std::string place(const Place& site) {
  std::string text = site.file.empty() ? "unknown source line" : printable(site.file);
  if (site.line != 0) text += fmt::format(":{}", site.line);
  if (site.column != 0) text += fmt::format(":{}", site.column);
  return text;
}

/// One line for each call between a place and its kernel.
std::string calls(const AccessSite& site) {
  std::string text;
  for (const InlinedCall& call : site.inlined_at) {
    text +=
        fmt::format("   in {}, called at {}\n",
                    call.function.empty() ? "a function" : printable(call.function), place(call));
  }
  return text;
}

std::string of_kernel(const Finding& finding) {
  return finding.kernel.empty() ? std::string() : ", kernel " + printable(finding.kernel);
}

/// The further lines that a finding leads to.
std::string other_lines(const Finding& finding, std::size_t gutter) {
  std::string text;
  for (const SourceNote& note : finding.also) {
    AccessSite site;
    site.file = note.file;
    site.line = note.line;
    site.by_thread = false;
    site.action = note.text;
    const std::string shown = excerpt(site, gutter, "---");
    text +=
        shown.empty() ? fmt::format("   and {}: {}\n", place(site), printable(note.text)) : shown;
  }
  return text;
}

}  // namespace

/// PTX may name any file as its source: opening a pipe would wait for ever, a device would not end.
std::optional<std::string> source_text(const std::string& file) {
  constexpr std::size_t kMostBytes = 4u << 20;
  const Descriptor source(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string text(kMostBytes, '\0');
  const ssize_t count = read(source.get(), text.data(), text.size());
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

std::string tell(const Finding& finding) {
  const char* severity = is_notice(finding) ? "warning" : "error";
  std::string story =
      fmt::format("{}[{}]: {}\n", severity, finding.code.text(), printable(finding.message));
  const AccessSite& where = finding.where;
  const bool on_device = where.line != 0 || !where.file.empty();
  if (on_device) {
    story += fmt::format("  --> {}{}{}\n", place(where), of_kernel(finding), who(where));
    std::uint32_t last = where.line;
    if (finding.other) last = std::max(last, finding.other->line);
    for (const SourceNote& note : finding.also) last = std::max(last, note.line);
    const std::size_t gutter = std::to_string(last).size();
    story += excerpt(where, gutter, "^^^") + calls(where);
    if (finding.other) {
      const std::string other = excerpt(*finding.other, gutter, "---");
      story += other.empty()
                   ? fmt::format("   and {}: {}{}\n", place(*finding.other),
                                 finding.other->by_thread && finding.other->knows_thread
                                     ? fmt::format("block {}, ", text_of(finding.other->block))
                                     : std::string(),
                                 label(*finding.other))
                   : other;
      story += calls(*finding.other);
    }
    story += other_lines(finding, gutter);
  } else if (!finding.kernel.empty()) {
    story += fmt::format("  --> kernel {}\n", printable(finding.kernel));
  }
  if (!finding.object.empty()) story += fmt::format("object: {}\n", printable(finding.object));
  if (finding.occurrences > 1) {
    story += fmt::format("note: this happened {} times\n", finding.occurrences);
  }
  // What helps against a detail is another thing than what helps against the code's other findings.
  const bool has_help = finding.detail == FindingDetail::none && *finding.code.help() != '\0';
  if (has_help) story += fmt::format("help: {}\n", finding.code.help());
  return story;
}

std::string tell_all(const std::vector<Finding>& findings) {
  if (findings.empty()) return {};
  std::string text;
  for (const Finding& finding : findings) text += tell(finding) + "\n";
  return text +
         fmt::format("simgpu: {} finding{}\n", findings.size(), findings.size() == 1 ? "" : "s");
}

std::string hottest_lines(const LineTable& table) {
  constexpr std::size_t kMost = 3;
  constexpr double kLittle = 0.02;  // of the time
  std::string text;
  for (const LineRecord& line : std::span(table.lines).first(std::min(kMost, table.lines.size()))) {
    if (table.time_us <= 0 || line.time_us < kLittle * table.time_us) break;
    std::string source = source_line(line.file, line.line);
    source.erase(0, std::min(source.find_first_not_of(' '), source.size()));
    text += fmt::format("  {:>3.0f} % at {}:{}{}{}\n        {}\n",
                        100 * line.time_us / table.time_us, printable(line.file), line.line,
                        source.empty() ? "" : ": ", source, words_of(line));
  }
  return text.empty() ? text : "  hottest lines:\n" + text;
}

}  // namespace simgpu::cli
