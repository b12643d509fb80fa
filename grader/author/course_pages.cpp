#include "grader/author/course_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <string_view>

#include "grader/spec/part.h"

namespace rooflab {
namespace {

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The number that a text begins with; 0 digits are none.
std::optional<int> leading_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return std::nullopt;
  return number;
}

/// The first part after `from` that a text names as a folder, "part4-", or as "--part 4".
struct Found {
  std::size_t at = std::string::npos;
  int part = 0;
};
Found find_part_folder(std::string_view text, std::size_t from = 0) {
  constexpr std::string_view kPart = "part";
  for (std::size_t at = text.find(kPart, from); at != std::string_view::npos;
       at = text.find(kPart, at + 1)) {
    if (at > 0 && continues_word(text[at - 1])) continue;
    const std::string_view rest = text.substr(at + kPart.size());
    if (rest.empty()) break;
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const bool is_folder = digits > 0 && digits < rest.size() && rest[digits] == '-';
    const auto number = is_folder ? leading_number(rest) : std::nullopt;
    if (number) return {at, *number};
  }
  return {};
}

bool names_missing_folder(std::string_view text, const HasPart& has_part) {
  for (Found found = find_part_folder(text); found.at != std::string::npos;
       found = find_part_folder(text, found.at + 1)) {
    if (!has_part(found.part)) return true;
  }
  return false;
}

bool is_command_for_missing(std::string_view line, const HasPart& has_part) {
  constexpr std::string_view kOption = "--part ";
  const std::size_t at = line.find(kOption);
  const auto number = at == std::string_view::npos || at + kOption.size() >= line.size()
                          ? std::nullopt
                          : leading_number(line.substr(at + kOption.size()));
  return (number && !has_part(*number)) || names_missing_folder(line, has_part);
}

int line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

/// What is marked as belonging to a part, or to its absence.
class Marks {
 public:
  Marks(const std::string& text, const HasPart& has_part, const std::string& name)
      : text_(text), has_part_(has_part), name_(name) {}

  std::string apply() {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = next(from); at != std::string::npos; at = next(from)) {
      out += text_.substr(from, at - from);
      const std::size_t close = text_.find("-->", at);
      if (close == std::string::npos) throw error(at, "the mark is not closed by -->");
      const std::string_view mark = std::string_view(text_).substr(at + 5, close - at - 5);
      from = close + 3;
      const int part = part_in(mark, at);
      if (mark.starts_with("without")) {
        const std::size_t colon = mark.find(": ");
        if (colon == std::string_view::npos) throw error(at, "the mark has no words after a colon");
        std::string_view words = mark.substr(colon + 2);
        words = words.substr(0, words.find_last_not_of(" \n") + 1);
        if (!has_part_(part)) out += words;
        continue;
      }
      const std::size_t end = text_.find(kEnd, from);
      if (end == std::string::npos || next(from) < end) {
        throw error(at, "the mark has no <!-- end --> of its own");
      }
      if (has_part_(part)) out += text_.substr(from, end - from);
      from = end + std::string_view(kEnd).size();
    }
    return out + text_.substr(from);
  }

 private:
  static constexpr const char* kEnd = "<!-- end -->";

  std::size_t next(std::size_t from) const {
    return std::min(text_.find("<!-- with part", from), text_.find("<!-- without part", from));
  }

  int part_in(std::string_view mark, std::size_t at) const {
    const std::size_t digits = mark.find_first_of("0123456789");
    const auto number =
        digits == std::string_view::npos ? std::nullopt : leading_number(mark.substr(digits));
    if (!number) throw error(at, "the mark names no part");
    return *number;
  }

  SpecError error(std::size_t at, const std::string& what) const {
    return SpecError(fmt::format(
        "{}:{}: {}; write <!-- with part 4 -->…<!-- end --> or <!-- without part 4: … -->", name_,
        line_of(text_, at), what));
  }

  const std::string& text_;
  const HasPart& has_part_;
  const std::string& name_;
};

/// [words](target), by its places in a text.
struct Link {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view words;
};

class PageFilter {
 public:
  explicit PageFilter(const HasPart& has_part) : has_part_(has_part) {}

  std::string run(const std::string& text) {
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      const bool is_fence = line.starts_with("```") || line.starts_with("~~~");
      if (is_fence && fence_.empty()) {
        end_block();
        fence_ = line.substr(0, 3);
        block_.push_back(line);
      } else if (!fence_.empty()) {
        block_.push_back(line);
        if (line.starts_with(fence_)) end_fence();
      } else if (line.empty() || line.starts_with('#')) {
        end_block();
        if (!line.empty()) {
          block_.push_back(line);
          end_block();
        } else {
          blank_ = true;
        }
      } else {
        block_.push_back(line);
      }
    }
    if (!fence_.empty()) keep(block_);
    end_block();
    drop_empty_heading(0);
    return std::move(out_);
  }

 private:
  void end_fence() {
    const std::size_t before = block_.size();
    std::erase_if(block_,
                  [&](const std::string& line) { return is_command_for_missing(line, has_part_); });
    fence_.clear();
    constexpr std::size_t kBothEnds = 2;
    if (block_.size() < before && block_.size() <= kBothEnds) {
      drop();
    } else {
      keep(block_);
    }
  }

  void end_block() {
    if (block_.empty()) return;
    const std::size_t before = block_.size();
    std::erase_if(block_, [&](const std::string& line) { return leads_only_away(line); });
    std::string text;
    for (const std::string& line : block_) text += (text.empty() ? "" : "\n") + line;
    if (block_.empty() && before > 0) return drop();
    const auto list = shorter_list(text);
    if ((list && list->empty()) || is_taught_elsewhere(text)) return drop();
    block_ = {list ? *list : without_links(text)};
    keep(block_);
  }

  /// A row of a table that is about such a part, or an item of a list that begins with its link.
  bool leads_only_away(const std::string& line) const {
    if (line.starts_with('|')) return names_missing_folder(line, has_part_);
    if (!line.starts_with("- [")) return false;
    const auto link = next_missing(line, 0);
    return link && link->begin == 2;
  }

  /// The next link after `from` to a part that is not there.
  std::optional<Link> next_missing(std::string_view text, std::size_t from) const {
    for (std::size_t at = text.find("](", from); at != std::string_view::npos;
         at = text.find("](", at + 1)) {
      const std::size_t open = text.rfind('[', at);
      const std::size_t close = text.find(')', at);
      if (open == std::string_view::npos || open < from || close == std::string_view::npos)
        continue;
      if (!names_missing_folder(text.substr(at + 2, close - at - 2), has_part_)) continue;
      return Link{open, close + 1, text.substr(open + 1, at - open - 1)};
    }
    return std::nullopt;
  }

  /// The links of a paragraph that has nothing else, but for "From the beginning:" before them.
  static std::vector<std::string> listed_links(std::string_view text, std::string& lead) {
    std::vector<std::string> links;
    const std::size_t first = text.find('[');
    if (first == std::string_view::npos) return {};
    lead = text.substr(0, first);
    if (!lead.empty() && !lead.ends_with(": ")) return {};
    for (text.remove_prefix(first); !text.empty();) {
      const std::size_t target = text.find("](");
      const std::size_t end = target == std::string_view::npos ? target : text.find(')', target);
      if (!text.starts_with('[') || end == std::string_view::npos) return {};
      links.emplace_back(text.substr(0, end + 1));
      text.remove_prefix(end + 1);
      const std::size_t comma = text.starts_with(',') ? 1 : 0;
      if (comma == 0 && !text.empty()) return {};
      text.remove_prefix(std::min(text.find_first_not_of(" \n", comma), text.size()));
    }
    return links;
  }

  /// Under "Where it is taught" a paragraph says nothing when none of its links leads somewhere.
  bool is_taught_elsewhere(std::string_view text) const {
    bool any = false;
    for (std::size_t at = text.find("]("); at != std::string_view::npos;
         at = text.find("](", at + 1)) {
      any = true;
      const std::string_view target = text.substr(at, text.find(')', at) - at);
      if (!names_missing_folder(target, has_part_)) return false;
    }
    return any && in_taught_;
  }

  /// Of a paragraph that is a list of links those that lead somewhere; nothing where it is none, or
  /// all of them do.
  std::optional<std::string> shorter_list(std::string_view text) const {
    std::string lead;
    std::vector<std::string> links = listed_links(text, lead);
    const std::size_t missing = std::erase_if(links, [&](const std::string& link) {
      return names_missing_folder(link.substr(link.find("](")), has_part_);
    });
    if (missing == 0) return std::nullopt;
    std::string list;
    for (const std::string& link : links) list += (list.empty() ? lead : ",\n") + link;
    return list;
  }

  std::string without_links(std::string_view text) const {
    std::string out;
    std::size_t from = 0;
    for (auto link = next_missing(text, 0); link; link = next_missing(text, from)) {
      out += text.substr(from, link->begin - from);
      out += link->words;
      from = link->end;
    }
    return out += text.substr(from);
  }

  static std::size_t level_of(std::string_view line) {
    return std::min(line.find_first_not_of('#'), line.size());
  }

  void drop() {
    block_.clear();
    dropped_ = true;
  }

  /// A heading under which something was dropped and nothing stays.
  void drop_empty_heading(std::size_t next_level) {
    if (dropped_ && heading_ != std::string::npos && next_level <= heading_level_) {
      out_.erase(heading_);
      blank_ = blank_ || !out_.empty();
      while (out_.ends_with("\n\n")) out_.pop_back();
    }
    dropped_ = false;
  }

  void keep(const std::vector<std::string>& lines) {
    const bool is_heading = fence_.empty() && lines.front().starts_with('#');
    if (is_heading) drop_empty_heading(level_of(lines.front()));
    if (blank_ && !out_.empty()) out_ += '\n';
    blank_ = false;
    heading_ = is_heading ? out_.size() : std::string::npos;
    if (is_heading) in_taught_ = lines.front() == "## Where it is taught";
    if (is_heading) heading_level_ = level_of(lines.front());
    if (is_heading) dropped_ = false;
    for (const std::string& line : lines) out_ += line + '\n';
    block_.clear();
  }

  const HasPart& has_part_;
  std::vector<std::string> block_;  ///< lines of the paragraph, table, list or code that is read
  std::string fence_;               ///< what ends the code; empty outside of it
  std::string out_;
  bool blank_ = false;                       ///< an empty line stood before what comes next
  bool in_taught_ = false;                   ///< the section that leads to where it is taught
  bool dropped_ = false;                     ///< something, since the last that was kept
  std::size_t heading_ = std::string::npos;  ///< in out_, of a heading that nothing follows yet
  std::size_t heading_level_ = 0;
};

/// The numbers of "Part 4", "parts 1 and 5", "Parts 0 to 5", from a word "part" on.
std::vector<int> numbers_after(std::string_view text) {
  std::vector<int> numbers;
  if (text.starts_with('s')) text.remove_prefix(1);
  for (bool first = true;; first = false) {
    bool joined = false;
    for (const std::string_view joint : {", and ", ", ", " and ", " or ", " to ", " ", "\n"}) {
      if ((first && joint != " " && joint != "\n") || !text.starts_with(joint)) continue;
      text.remove_prefix(joint.size());
      joined = true;
      break;
    }
    const auto number = joined && !text.empty() ? leading_number(text) : std::nullopt;
    if (!number) return numbers;
    numbers.push_back(*number);
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
}

}  // namespace

std::optional<int> part_of_path(const std::string& path) {
  const Found found = find_part_folder(path);
  return found.at == std::string::npos ? std::nullopt : std::optional(found.part);
}

bool is_there(const std::string& path, const HasPart& has_part) {
  const auto part = part_of_path(path);
  return !part || has_part(*part);
}

HasPart has_one_of(std::vector<int> parts) {
  return [parts = std::move(parts)](int part) {
    return std::ranges::find(parts, part) != parts.end();
  };
}

std::string page_of_course(const std::string& text, const HasPart& has_part,
                           const std::string& name) {
  return PageFilter(has_part).run(Marks(text, has_part, name).apply());
}

std::vector<PartMention> mentions_of_missing_parts(const std::string& text,
                                                   const HasPart& has_part) {
  std::vector<PartMention> mentions;
  const auto add = [&](std::size_t at, int part) {
    if (has_part(part)) return;
    const PartMention mention{line_of(text, at), part};
    const bool known =
        !mentions.empty() && mentions.back().line == mention.line && mentions.back().part == part;
    if (!known) mentions.push_back(mention);
  };
  for (std::size_t at = text.find("art", 1); at != std::string::npos;
       at = text.find("art", at + 1)) {
    if (text[at - 1] != 'p' && text[at - 1] != 'P') continue;
    if (at >= 2 && continues_word(text[at - 2])) continue;
    for (const int number : numbers_after(std::string_view(text).substr(at + 3))) add(at, number);
    const Found folder = find_part_folder(text, at - 1);
    if (folder.at == at - 1) add(at, folder.part);
  }
  return mentions;
}

}  // namespace rooflab
