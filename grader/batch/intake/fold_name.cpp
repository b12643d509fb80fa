#include "grader/batch/intake/fold_name.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cstdint>

namespace rooflab {
namespace {

/// The letter below the accents of each code point from U+00C0 and from U+1E00 on, by Unicode's
/// compatibility decomposition and the usual way of writing ø, đ and ł; a capital stands for two
/// letters (kPairs), a question mark for a letter of its own.
constexpr char32_t kLatinFrom = 0xC0;
constexpr std::string_view kLatin =
    "aaaaaaAceeeeiiiidnooooo?ouuuuyTSaaaaaaAceeeeiiiidnooooo?ouuuuyTyaaaaaaccccccccdd"
    "ddeeeeeeeeeegggggggghhhhiiiiiiiiiiIIjjkkkllllll?\?llnnnnnnnnnooooooOOrrrrrrssssss"
    "ssttttttuuuuuuuuuuuuwwyyyzzzzzzs?\??\??\??\??\??\??\?e?\?ff?\??\??\??\??\??\??oo?\??\??\??\??"
    "\??\??u"
    "u?\??\??\??\??\??\??\??\??\??DDDLLLNNNaaiioouuuuuuuuuueaaaaAA?\?ggkkoooo?\?jDDDgg?\?nnaaAAoo"
    "aaaaeeeeiiiioooorrrruuuusstt?\?hh?\??\??\?aaeeooooooooyy?\??j?\??\??\??\??\??\??\??\??\??\??"
    "\??\?";
constexpr char32_t kAdditionalFrom = 0x1E00;
constexpr std::string_view kAdditional =
    "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooo"
    "oooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy?s?\?S?"
    "aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuu"
    "uuyyyyyyyy?\??\??\?";
constexpr std::string_view kPairs[] = {"Aae", "Ddz", "Iij", "Llj", "Nnj", "Ooe", "Sss", "Tth"};

char32_t lower(char32_t letter) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return unicode == nullptr
             ? letter
             : static_cast<char32_t>(towlower_l(static_cast<wint_t>(letter), unicode));
}

bool is_letter(char32_t letter) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return unicode == nullptr || iswalnum_l(static_cast<wint_t>(letter), unicode) != 0;
}

bool is_combining_mark(char32_t letter) { return letter >= 0x300 && letter <= 0x36F; }

void append(std::string& text, char32_t letter) {
  if (letter < 0x800) {
    text += static_cast<char>(0xC0 | (letter >> 6));
  } else if (letter < 0x10000) {
    text += static_cast<char>(0xE0 | (letter >> 12));
    text += static_cast<char>(0x80 | ((letter >> 6) & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (letter >> 18));
    text += static_cast<char>(0x80 | ((letter >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((letter >> 6) & 0x3F));
  }
  text += static_cast<char>(0x80 | (letter & 0x3F));
}

/// @return false when the letter has no base of its own
bool append_base(std::string& text, char32_t letter) {
  char base = '?';
  if (letter >= kLatinFrom && letter < kLatinFrom + kLatin.size()) {
    base = kLatin[letter - kLatinFrom];
  } else if (letter >= kAdditionalFrom && letter < kAdditionalFrom + kAdditional.size()) {
    base = kAdditional[letter - kAdditionalFrom];
  }
  if (base == '?') return false;
  const auto pair = std::ranges::find(kPairs, base, &std::string_view::front);
  if (pair == std::end(kPairs)) {
    text += base;
  } else {
    text += pair->substr(1);
  }
  return true;
}

/// Takes one code point off the front; 0 for a byte that is not UTF-8.
char32_t take_code_point(std::string_view& bytes) {
  const auto first = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  if (first < 0xC2 || first > 0xF4 || bytes.size() < more) return 0;
  char32_t letter = first & (0x3F >> more);
  for (std::size_t i = 0; i < more; ++i) {
    const auto next = static_cast<std::uint8_t>(bytes[i]);
    if ((next & 0xC0) != 0x80) return 0;
    letter = letter << 6 | (next & 0x3F);
  }
  bytes.remove_prefix(more);
  return letter;
}

}  // namespace

std::string fold_name(std::string_view name) {
  std::string folded;
  while (!name.empty()) {
    const char32_t letter = take_code_point(name);
    const bool ascii_letter = (letter >= 'a' && letter <= 'z') ||
                              (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
    if (ascii_letter) {
      folded += lower_case(std::string(1, static_cast<char>(letter)));
    } else if (letter < 0x80 || !(is_letter(letter) || is_combining_mark(letter))) {
      if (!folded.empty() && folded.back() != ' ') folded += ' ';
    } else if (!is_combining_mark(letter) && !append_base(folded, letter)) {
      append(folded, lower(letter));
    }
  }
  if (folded.ends_with(' ')) folded.pop_back();
  return folded;
}

std::string fold_letters(std::string_view name) {
  std::string folded = fold_name(name);
  std::erase(folded, ' ');
  return folded;
}

std::string given_name_first(std::string_view name) {
  const std::size_t comma = name.find(',');
  if (comma == std::string_view::npos) return std::string(name);
  std::string_view given = name.substr(comma + 1);
  given.remove_prefix(std::min(given.find_first_not_of(' '), given.size()));
  return std::string(given) + " " + std::string(name.substr(0, comma));
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  for (char& letter : lowered) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lowered;
}

bool means_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [&](const std::string& one) { return lower_case(one) == lower_case(name); });
}

}  // namespace rooflab
