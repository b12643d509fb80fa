#include "grader/batch/intake/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "grader/batch/intake/fold_name.h"

namespace rooflab {
namespace {

constexpr std::string_view kLateMark = "LATE";
constexpr std::string_view kMoodleMark = "_assignsubmission_";

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Takes what stands before the next underline.
std::optional<std::string_view> take_word(std::string_view& text) {
  const std::size_t end = text.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end + 1);
  return word;
}

/// name[_LATE]_user_submission_file. Names of groups may hold underlines: the first two numbers
/// that stand side by side are it.
std::optional<Delivery> canvas_delivery(std::string_view name) {
  std::vector<std::string_view> words;
  std::string_view rest = name;
  while (words.size() < 16) {
    const auto word = take_word(rest);
    if (!word) return std::nullopt;
    words.push_back(*word);
    const std::size_t count = words.size();
    if (count < 3 || !is_id(words[count - 1]) || !is_id(words[count - 2])) continue;
    Delivery delivery;
    delivery.platform = Platform::canvas;
    const std::string_view user = words[count - 2];
    const std::size_t named = count - 2;
    delivery.marked_late = named >= 2 && words[named - 1] == kLateMark;
    const std::size_t last = delivery.marked_late ? named - 1 : named;
    delivery.hints.canvas_name =
        std::string(name.substr(0, static_cast<std::size_t>(words[last - 1].end() - name.begin())));
    delivery.hints.canvas_id = std::string(user);
    delivery.owner = delivery.hints.canvas_name + "_" + delivery.hints.canvas_id;
    delivery.return_name = fmt::format("{}_{}", user, words.back());
    delivery.file = std::string(rest);
    if (delivery.hints.canvas_name.empty() || rest.empty()) return std::nullopt;
    return delivery;
  }
  return std::nullopt;
}

/// "name_number_assignsubmission_file_rest". Students choose their files' names, and here and there
/// their own: a second mark in a file's name may be either, so that one says nothing.
std::optional<Delivery> moodle_delivery(std::string_view name, bool is_folder) {
  const std::size_t mark = name.rfind(kMoodleMark);
  if (mark == std::string_view::npos) return std::nullopt;
  if (!is_folder && name.find(kMoodleMark) != mark) return std::nullopt;
  const std::string_view owner = name.substr(0, mark);
  const std::size_t underline = owner.rfind('_');
  if (underline == std::string_view::npos || underline == 0) return std::nullopt;
  const std::string_view number = owner.substr(underline + 1);
  if (!is_id(number)) return std::nullopt;
  Delivery delivery;
  delivery.platform = Platform::moodle;
  delivery.hints.name = std::string(owner.substr(0, underline));
  delivery.hints.moodle_identifier = std::string(number);
  delivery.owner = std::string(owner);
  delivery.return_name = std::string(number);
  const std::string_view rest = name.substr(mark + kMoodleMark.size());  // "file_gemv.cu"
  const std::size_t file = rest.find('_');
  if (file != std::string_view::npos) delivery.file = std::string(rest.substr(file + 1));
  return delivery;
}

/// "x.tar-1.gz" and "x-1.zip" are Canvas's names for what came in again.
std::string without_copy_number(std::string name) {
  const std::size_t hyphen = name.rfind('-');
  if (hyphen == std::string::npos) return name;
  const std::size_t dot = std::min(name.find('.', hyphen), name.size());
  const std::string_view number = std::string_view(name).substr(hyphen + 1, dot - hyphen - 1);
  if (is_id(number) && number.size() <= 3) name.erase(hyphen, dot - hyphen);
  return name;
}

constexpr std::string_view kReadable[] = {".tar.gz", ".tar.xz", ".tgz", ".txz", ".tar", ".zip"};
constexpr std::string_view kUnreadable[] = {".tar.bz2", ".tar.zst", ".tbz2", ".tbz", ".7z",
                                            ".rar",     ".bz2",     ".zst",  ".gz",  ".xz"};

std::optional<std::string_view> extension_among(const std::string& file, const auto& extensions) {
  const std::string name = without_copy_number(lower_case(file));
  const auto* const found = std::ranges::find_if(
      extensions, [&](std::string_view extension) { return name.ends_with(extension); });
  if (found == std::end(extensions)) return std::nullopt;
  return *found;
}

}  // namespace

Delivery delivery_of(const std::string& name, bool is_folder) {
  if (const auto moodle = moodle_delivery(name, is_folder)) {
    if (is_folder == moodle->file.empty()) return *moodle;
  }
  if (auto canvas = canvas_delivery(name)) {
    if (is_folder) canvas->file.clear();  // somebody unpacked the archive of that name
    return *canvas;
  }
  constexpr std::string_view kGradescope = "submission_";
  Delivery delivery;
  if (is_folder && name.starts_with(kGradescope) && is_id(name.substr(kGradescope.size()))) {
    delivery.platform = Platform::gradescope;
    delivery.return_name = name.substr(kGradescope.size());
  }
  if (!is_folder) delivery.file = name;
  return delivery;
}

ArchiveName archive_name(const std::string& file) {
  if (extension_among(file, kReadable)) return {true, true};
  return {extension_among(file, kUnreadable).has_value(), false};
}

std::string without_extension(const std::string& file) {
  const std::string plain = without_copy_number(file);
  for (const auto& extension :
       {extension_among(plain, kReadable), extension_among(plain, kUnreadable)}) {
    if (extension) return plain.substr(0, plain.size() - extension->size());
  }
  const std::size_t dot = plain.rfind('.');
  return dot == std::string::npos || dot == 0 ? plain : plain.substr(0, dot);
}

bool is_clutter(const std::string& name) {
  return name.empty() || name.starts_with('.') || name == "__MACOSX" || name == "Thumbs.db" ||
         name == "desktop.ini";
}

}  // namespace rooflab
