#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What students read, without the parts that their course or kit does not have.
namespace rooflab {

/// Whether a part belongs to the course, or is in the kit.
using HasPart = std::function<bool(int)>;

/// Has these parts.
HasPart has_one_of(std::vector<int> parts);

/// The part that a path belongs to, by the first folder or file called part<number>-…;
/// "handouts/figures/part4-timeline.svg" is of part 4.
std::optional<int> part_of_path(const std::string& path);

/// Whether a path is of no part that is missing.
bool is_there(const std::string& path, const HasPart& has_part);

/// A page of Markdown without what leads to parts that are not there: rows of tables, items of
/// lists and paragraphs that are such a link, with headings that have nothing left below them;
/// lines of code that name them; and of other links all but their words. Authors mark sentences by
/// `<!-- with part 4 -->Part 4 tells more.<!-- end -->`, and write `<!-- without part 4: words -->`
/// for what stands there otherwise.
/// @param name of the page, for messages
/// @throws SpecError for a mark that is not closed or cannot be read
std::string page_of_course(const std::string& text, const HasPart& has_part,
                           const std::string& name);

/// A place where a text still names a part that is not there.
struct PartMention {
  int line = 0;
  int part = 0;
};
std::vector<PartMention> mentions_of_missing_parts(const std::string& text,
                                                   const HasPart& has_part);

}  // namespace rooflab
