#include "simgpu/source/array_elements.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "simgpu/source/array_declarations.h"

namespace simgpu {
namespace {

/// A declaration that fits an array, with what the array's bytes add to it.
struct Shape {
  const ArrayDeclaration* declared = nullptr;
  std::uint64_t element_bytes = 0;
  std::vector<std::int64_t> lengths;  ///< empty: not all are known
  std::string file = {};              ///< that declares it
};

/// Elements of all dimensions whose length is known; 0 where there can be none.
std::uint64_t known_elements(const ArrayDeclaration& declared) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
  std::uint64_t elements = 1;
  for (const std::optional<std::int64_t>& length : declared.dimensions) {
    if (!length) continue;
    if (*length <= 0) return 0;
    elements *= static_cast<std::uint64_t>(*length);
    if (elements > kMost) return 0;
  }
  return elements;
}

/// The declaration as that of an array of so many bytes; nullopt where it cannot be.
std::optional<Shape> shape_of(const ArrayDeclaration& declared, std::uint64_t bytes) {
  const std::uint64_t known = known_elements(declared);
  const auto unknown = std::ranges::count_if(
      declared.dimensions,
      [](const std::optional<std::int64_t>& length) { return !length.has_value(); });
  if (known == 0 || bytes == 0 || bytes % known != 0) return std::nullopt;
  if (declared.dimensions.empty() && declared.element_bytes == 0) return std::nullopt;  // a struct
  Shape shape{&declared, declared.element_bytes, {}};
  if (unknown == 0) {
    if (shape.element_bytes == 0) shape.element_bytes = bytes / known;
    if (known * shape.element_bytes != bytes) return std::nullopt;
  } else if (shape.element_bytes == 0 || bytes % (known * shape.element_bytes) != 0) {
    return std::nullopt;
  }
  if (unknown > 1) return shape;
  // One that is not known, such as a template's parameter, is what remains.
  const auto rest = static_cast<std::int64_t>(bytes / (known * shape.element_bytes));
  for (const std::optional<std::int64_t>& length : declared.dimensions) {
    shape.lengths.push_back(length.value_or(rest));
  }
  return shape;
}

/// Files and lines at which a site is: its own, and those of the calls that it was inlined into.
std::vector<std::pair<std::string, std::uint32_t>> lines_of(const AccessSite& site) {
  std::vector<std::pair<std::string, std::uint32_t>> lines{{site.file, site.line}};
  for (const InlinedCall& call : site.inlined_at) lines.emplace_back(call.file, call.line);
  return lines;
}

class Namer {
 public:
  explicit Namer(const SourceText& text) : text_(text) {}

  void name(Finding& finding) {
    // The longest words first: one place's may contain another's.
    std::vector<ArrayPlace*> places;
    for (ArrayPlace& place : finding.places) places.push_back(&place);
    std::ranges::stable_sort(places, std::greater<>(),
                             [](const ArrayPlace* place) { return place->words.size(); });
    for (ArrayPlace* place : places) {
      const auto shape = shape_for(*place, finding);
      const auto words = shape ? words_for(*place, *shape) : std::nullopt;
      if (!words) continue;
      reword_place(finding, *place, *words);
      if (is_outside(*place)) note_declaration(*shape, *place, finding);
    }
  }

 private:
  static bool is_outside(const ArrayPlace& place) {
    return place.offset < 0 || static_cast<std::uint64_t>(place.offset) >= place.bytes;
  }

  /// How long the array is, where its length is made.
  static void note_declaration(const Shape& shape, const ArrayPlace& place, Finding& finding) {
    const ArrayDeclaration& declared = *shape.declared;
    if (!declared.is_shared || declared.line == 0) return;
    std::string text = declared.is_dynamic
                           ? declared.name + " is declared here; the launch gives its bytes, " +
                                 std::to_string(place.bytes)
                           : declared.name + " is declared here, with " +
                                 std::to_string(place.bytes / shape.element_bytes) + " elements";
    finding.also.push_back({shape.file, declared.line, std::move(text)});
  }

  static std::optional<std::string> words_for(const ArrayPlace& place, const Shape& shape) {
    const ArrayDeclaration& declared = *shape.declared;
    const std::string what = place.space == ArraySpace::local ? "the thread's own " : "shared ";
    if (shape.lengths.empty() && !declared.is_dynamic && !declared.dimensions.empty()) {
      const auto element = place.offset / static_cast<std::int64_t>(shape.element_bytes);
      return "element " + std::to_string(element) + " of " + declared.name;
    }
    const std::vector<std::int64_t> one_dimension{0};
    const auto element =
        element_text(declared.name, declared.is_dynamic ? one_dimension : shape.lengths,
                     shape.element_bytes, place.offset);
    if (!element) return std::nullopt;
    if (is_outside(place)) return *element + ", which is outside of " + what + declared.text();
    return *element + " (" + what + declared.text() + ")";
  }

  /// The declaration that an array has: of its name, as long as it, and nearest before the place.
  std::optional<Shape> shape_for(const ArrayPlace& place, const Finding& finding) {
    if (place.space != ArraySpace::shared && place.space != ArraySpace::dynamic_shared &&
        place.space != ArraySpace::local) {
      return std::nullopt;
    }
    std::optional<Shape> best;
    bool is_ambiguous = false;
    for (const auto& [file, line] : lines_of(finding.where)) {
      for (const ArrayDeclaration& declared : declarations_in(file)) {
        if (!fits(declared, place) || (declared.line > line && line != 0)) continue;
        auto shape = declared.is_dynamic
                         ? std::optional(Shape{&declared, declared.element_bytes, {}})
                         : shape_of(declared, place.bytes);
        if (!shape || shape->element_bytes == 0) continue;
        // Of a thread's own arrays nobody says which one lies where.
        is_ambiguous = is_ambiguous || (best && place.space == ArraySpace::local &&
                                        best->declared->text() != declared.text());
        best = std::move(shape);
        best->file = file;
      }
      if (best) break;
    }
    return is_ambiguous ? std::nullopt : best;
  }

  static bool fits(const ArrayDeclaration& declared, const ArrayPlace& place) {
    if (place.space == ArraySpace::dynamic_shared) return declared.is_dynamic;
    if (place.space == ArraySpace::local) return !declared.is_shared && !declared.lengths.empty();
    return declared.is_shared && !declared.is_dynamic && declared.name == place.name;
  }

  const std::vector<ArrayDeclaration>& declarations_in(const std::string& file) {
    const auto known = declarations_.find(file);
    if (known != declarations_.end()) return known->second;
    return declarations_[file] = array_declarations(file, text_);
  }

  const SourceText& text_;
  std::map<std::string, std::vector<ArrayDeclaration>> declarations_;
};

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos && !from.empty()) text.replace(at, from.size(), to);
}

}  // namespace

std::optional<std::string> element_text(const std::string& name,
                                        const std::vector<std::int64_t>& lengths,
                                        std::uint64_t element_bytes, std::int64_t offset) {
  if (element_bytes == 0 || element_bytes > (std::uint64_t{1} << 31)) return std::nullopt;
  const auto floor_divided = [](std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
  };
  std::int64_t rest = floor_divided(offset, static_cast<std::int64_t>(element_bytes));
  std::string indices;
  for (std::size_t d = lengths.size(); d-- > 1;) {
    if (lengths[d] <= 0) return std::nullopt;
    const std::int64_t above = floor_divided(rest, lengths[d]);
    indices.insert(0, "[" + std::to_string(rest - above * lengths[d]) + "]");
    rest = above;
  }
  if (lengths.empty() && rest == 0) return name;  // a single variable
  return name + "[" + std::to_string(rest) + "]" + indices;
}

void reword_place(Finding& finding, ArrayPlace& place, const std::string& words) {
  replace_first(finding.object, place.words, words);
  replace_first(finding.message, place.words, words);
  place.words = words;
}

void name_array_elements(std::vector<Finding>& findings, const SourceText& text) {
  Namer namer(text);
  for (Finding& finding : findings) namer.name(finding);
}

}  // namespace simgpu
