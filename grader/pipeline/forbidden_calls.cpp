#include "grader/pipeline/forbidden_calls.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "grader/spec/pattern.h"
#include "simgpu/names/demangle.h"

namespace rooflab {
namespace {

/// Where a function's source is, as the compiler's debug information has it.
struct Place {
  std::string file;
  std::uint32_t line = 0;
};

/// Calls work(line) for each line of a text.
template <typename Work>
void for_each_line(std::string_view text, const Work& work) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    work(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// "0000000000000000 T _Z3runPf\t/tmp/x/part1/gemm.cu:5": places by symbol, without those that have
/// none.
std::map<std::string, Place> places_of(const std::string& listed) {
  std::map<std::string, Place> places;
  for_each_line(listed, [&](std::string_view line) {
    const std::size_t tab = line.find('\t');
    const std::size_t colon = line.rfind(':');
    if (tab == std::string_view::npos || colon == std::string_view::npos || colon < tab) return;
    const std::size_t name = line.rfind(' ', tab);
    if (name == std::string_view::npos) return;
    Place place{std::string(line.substr(tab + 1, colon - tab - 1)), 0};
    std::from_chars(line.data() + colon + 1, line.data() + line.size(), place.line);
    places.emplace(line.substr(name + 1, tab - name - 1), std::move(place));
  });
  return places;
}

/// "cudaMalloc" of "cudaError cudaMalloc<float>(float**, unsigned long)".
std::string base_name(const std::string& symbol) {
  const std::string name = simgpu::demangled(symbol);
  const std::string head = name.substr(0, name.find_first_of("<("));
  const std::size_t before = head.find_last_of(" :");
  return before == std::string::npos ? head : head.substr(before + 1);
}

/// Without the version that a header's macro adds: "_v2", "_ptsz", "_ptds".
std::string_view without_version(std::string_view name) {
  for (const std::string_view ending : {"_ptsz", "_ptds"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool is_version = last != std::string_view::npos && last + 1 < name.size() &&
                          name.substr(0, last + 1).ends_with("_v");
  return is_version ? name.substr(0, last - 1) : name;
}

/// The first line from `line` on (1 is the first) that has the name in it, as C++ code or with a
/// version that a header's macro adds ("cublasSgemm" for "cublasSgemm_v2"); else `line` itself.
std::uint32_t line_of_call(const std::string& text, std::uint32_t line, const std::string& symbol) {
  const std::string whole = base_name(symbol);
  const std::string_view name = without_version(whole);
  std::uint32_t number = 0;
  std::uint32_t found = 0;
  for_each_line(text, [&](std::string_view here) {
    if (++number >= line && found == 0 && here.find(name) != std::string_view::npos) found = number;
  });
  return found != 0 ? found : line;
}

/// Whether a path leads into a folder, which may have "*" for a name.
bool lies_in(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const std::filesystem::path inside = file.lexically_normal();
  auto part = inside.begin();
  for (const auto& name : folder) {
    if (part == inside.end() || (name != "*" && *part != name)) return false;
    ++part;
  }
  return true;
}

/// What initializes a file's own variables, which the compiler puts into one nameless function.
bool is_initializer(const std::string& function) {
  return function.starts_with("_GLOBAL__") ||
         function.find("__static_initialization_and_destruction") != std::string::npos;
}

/// One file's references, and which of its functions are the student's.
class Callers {
 public:
  Callers(const TracedFile& file, const std::vector<Pattern>& forbidden)
      : file_(file), places_(places_of(file.places)) {
    for (const Reference& reference : file.references) {
      if (wraps_.contains(reference.function) ||
          has_forbidden_name(reference.function, forbidden)) {
        wraps_[reference.function].insert(reference.symbol);
      }
    }
  }

  /// The place of a call of the student's of this symbol, or of a header's function that has a
  /// forbidden name itself and calls it.
  std::optional<Place> own_call(const std::string& symbol) const {
    for (const Reference& reference : file_.references) {
      const bool leads_there =
          reference.symbol == symbol || is_wrapper_of(reference.symbol, symbol);
      if (!leads_there || !is_own(reference.function)) continue;
      const auto place = places_.find(reference.function);
      if (place == places_.end()) {
        return Place{file_.name, line_of_call(file_.text, 1, reference.symbol)};
      }
      const auto [name, text] = source_at(place->second);
      return Place{name, line_of_call(text, place->second.line, reference.symbol)};
    }
    return std::nullopt;
  }

  bool refers_to(const std::string& symbol) const {
    return std::ranges::find(file_.references, symbol, &Reference::symbol) !=
           file_.references.end();
  }

 private:
  /// Name and text of the submitted header that the place is in, else of the file itself.
  std::pair<std::string, std::string> source_at(const Place& place) const {
    const auto header = file_.headers.find(std::filesystem::path(place.file).filename().string());
    if (header == file_.headers.end()) return {file_.name, file_.text};
    return *header;
  }

  /// Code without a known place is nobody else's, nor is what lies in no folder of headers.
  bool is_own(const std::string& function) const {
    const auto place = places_.find(function);
    if (place == places_.end() || is_initializer(function)) return true;
    return std::ranges::none_of(file_.header_folders, [&](const std::string& folder) {
      return lies_in(place->second.file, folder);
    });
  }

  bool is_wrapper_of(const std::string& function, const std::string& symbol) const {
    const auto wrapped = wraps_.find(function);
    return wrapped != wraps_.end() && wrapped->second.contains(symbol);
  }

  bool has_forbidden_name(const std::string& function,
                          const std::vector<Pattern>& forbidden) const {
    if (!places_.contains(function)) return false;  // not defined here
    return has_match(base_name(function), forbidden);
  }

  const TracedFile& file_;
  std::map<std::string, Place> places_;
  /// What functions of a forbidden name refer to.
  std::map<std::string, std::set<std::string>> wraps_;
};

bool is_of_another_library(const std::string& symbol, const DynamicSymbols& symbols) {
  return std::ranges::find(symbols.withheld, symbol) == symbols.withheld.end() &&
         std::ranges::find(symbols.undefined, symbol) != symbols.undefined.end();
}

/// A text whose lines that end in a backslash go on in the next one, as the compiler reads it.
class SplicedText {
 public:
  explicit SplicedText(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\') {
        const std::size_t end = text.find_first_not_of(kBlanks, i + 1);  // GCC allows some
        if (end != std::string_view::npos && text[end] == '\n') {
          i = end;
          continue;
        }
      }
      text_ += text[i];
      places_.push_back(i);
    }
  }
  std::size_t size() const { return text_.size(); }
  /// Where a character is in the text that was given.
  std::size_t place(std::size_t at) const { return places_[at]; }

  /// Behind `#` as C++20 can spell it, without trigraphs; else `at` itself.
  std::size_t behind_hash(std::size_t at) const {
    for (const std::string_view hash : {"#", "%:"}) {
      if (rest(at).starts_with(hash)) return at + hash.size();
    }
    return at;
  }
  /// Whether nothing stands before it on its line but blanks and what a comment may end.
  bool begins_line(std::size_t at) const {
    const std::size_t last = std::string_view(text_).substr(0, at).find_last_not_of(kBlanks);
    return last == std::string::npos || text_[last] == '\n' ||
           (text_[last] == '/' && last > 0 && text_[last - 1] == '*');
  }
  /// Whether what follows a `#` makes it a line directive.
  bool moves_line(std::size_t at) {
    for (;;) {
      at = std::min(text_.find_first_not_of(kBlanks, at), text_.size());
      if (!rest(at).starts_with("/*")) break;
      at = behind_comment(at + 2);
    }
    constexpr std::string_view kLine = "line";
    if (rest(at).empty()) return false;
    if (!rest(at).starts_with(kLine)) return is_digit(text_[at]);
    const std::string_view behind = rest(at + kLine.size());
    return behind.empty() || !(is_digit(behind[0]) || behind[0] == '_' || is_letter(behind[0]));
  }

 private:
  static constexpr std::string_view kBlanks = " \t\v\f\r";
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  std::string_view rest(std::size_t at) const { return std::string_view(text_).substr(at); }
  /// Directives are looked at in order, so that the end that was found last is the next one, or all
  /// between are comments. It is looked for once, however many begin before it.
  std::size_t behind_comment(std::size_t at) {
    if (comment_end_ < at) comment_end_ = std::min(text_.find("*/", at), text_.size());
    return std::min(comment_end_ + 2, text_.size());
  }

  std::string text_;
  std::size_t comment_end_ = 0;
  std::vector<std::size_t> places_;
};

}  // namespace

std::vector<std::string> forbidden_symbols(const TaskSpec& task) {
  std::vector<std::string> forbidden = task.forbidden;
  if (std::ranges::find(task.libraries, "cupti") == task.libraries.end()) {
    forbidden.emplace_back("^dl(m?open|v?sym)$");
  }
  return forbidden;
}

std::string without_line_directives(const std::string& text) {
  SplicedText code(text);
  std::string kept;
  kept.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t behind = code.behind_hash(i);
    if (behind == i || !code.begins_line(i) || !code.moves_line(behind)) continue;
    const std::size_t place = code.place(behind - 1) + 1;
    kept.append(text, copied, place - copied).append("pragma ");
    copied = place;
  }
  return kept.append(text, copied);
}

std::vector<ForbiddenCall> forbidden_calls_of(const DynamicSymbols& symbols, const TaskSpec& task,
                                              const std::vector<TracedFile>& files) {
  const std::vector<std::string> patterns = forbidden_symbols(task);
  const std::vector<Pattern> forbidden(patterns.begin(), patterns.end());
  const bool complete = std::ranges::all_of(files, &TracedFile::complete);
  std::vector<Callers> callers;
  callers.reserve(files.size());
  for (const TracedFile& file : files) callers.emplace_back(file, forbidden);

  std::vector<ForbiddenCall> calls;
  for (const std::string& symbol : all_forbidden(symbols, patterns)) {
    ForbiddenCall call{symbol, ForbiddenCall::By::student, {}, 0};
    bool referred_to = false;
    for (const Callers& file : callers) {
      referred_to = referred_to || file.refers_to(symbol);
      if (!call.file.empty()) continue;
      if (const auto place = file.own_call(symbol)) {
        call.file = place->file;
        call.line = place->line;
      }
    }
    if (call.file.empty() && is_of_another_library(symbol, symbols)) {
      if (referred_to) call.by = ForbiddenCall::By::header;
      if (!complete) call.by = ForbiddenCall::By::unknown;
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string note_of_untraced(const ForbiddenCall& call) {
  return "the built code needs " + simgpu::demangled(call.symbol).substr(0, 300) +
         ", which this task forbids; whether the submission calls it, or only a header that it "
         "includes, could not be found out";
}

}  // namespace rooflab
