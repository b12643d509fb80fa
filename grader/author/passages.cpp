#include "grader/author/passages.h"

#include <algorithm>
#include <utility>

namespace rooflab {
namespace {

constexpr std::size_t kShortestRun = 6;
constexpr unsigned kFilterBits = 22;  // half a megabyte, for some ten thousand passages
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15;  // odd, so that powers of it never vanish

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Of what a person wrote: ASCII, and bytes of UTF-8.
bool is_readable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 ? byte != 0x7F : c == '\n' || c == '\t' || c == '\r';
}

void add_words(std::string_view text, bool with_lines, std::vector<Word>& words) {
  int line = 1;
  std::string word;
  for (const char c : text) {
    if (is_word(c)) {
      word += lower(c);
      continue;
    }
    if (!word.empty()) words.push_back({std::exchange(word, {}), with_lines ? line : 0});
    if (c == '\n') ++line;
  }
  if (!word.empty()) words.push_back({std::move(word), with_lines ? line : 0});
}

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EB;
  return value ^ (value >> 31U);
}

std::size_t filter_place(std::uint64_t hash) { return hash >> (64U - kFilterBits); }

std::uint64_t hash_of(const std::string& word) { return mixed(std::hash<std::string>{}(word)); }

}  // namespace

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  add_words(text, true, words);
  return words;
}

std::vector<Word> words_of_compiled(std::string_view bytes) {
  std::vector<Word> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    if (at < bytes.size() && is_readable(bytes[at])) continue;
    if (at - begin >= kShortestRun) {
      add_words(bytes.substr(begin, at - begin), false, words);
      words.push_back({});
    }
    begin = at + 1;
  }
  return words;
}

/// Calls seen(hash, first word, length) for each passage of each length that occurs.
template <typename Seen>
void Passages::each_passage(const std::vector<Word>& words, Seen seen) const {
  // The hash of words i … j - 1 follows from the sums up to i and up to j.
  std::vector<std::uint64_t> sums{0};
  std::vector<std::size_t> run_begins;  // where the run began that a word is in
  std::size_t run = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    sums.push_back(sums.back() * kBase + hash_of(words[i].text));
    if (words[i].text.empty()) run = i + 1;
    run_begins.push_back(run);
  }
  for (const std::size_t length : lengths_) {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < length; ++i) power *= kBase;
    for (std::size_t end = length; end <= words.size(); ++end) {
      const std::size_t first = end - length;
      if (run_begins[end - 1] > first) continue;
      seen(mixed(sums[end] - sums[first] * power + length), first, length);
    }
  }
}

void Passages::add(const std::vector<Word>& words, std::size_t length, std::size_t least,
                   std::size_t owner) {
  length = std::min(length, words.size());
  if (length == 0 || length < least) return;
  filter_.resize(std::size_t{1} << kFilterBits);
  Passages one;
  one.lengths_ = {length};
  one.each_passage(words, [&](std::uint64_t hash, std::size_t, std::size_t) {
    filter_[filter_place(hash)] = true;
    owners_.try_emplace(hash, owner);
  });
  const auto place = std::ranges::lower_bound(lengths_, length);
  if (place == lengths_.end() || *place != length) lengths_.insert(place, length);
}

void Passages::forget(const std::vector<Word>& words) {
  each_passage(words, [&](std::uint64_t hash, std::size_t, std::size_t) { owners_.erase(hash); });
}

std::vector<Passages::Match> Passages::find(const std::vector<Word>& words) const {
  std::unordered_map<std::size_t, Match> first_of;
  each_passage(words, [&](std::uint64_t hash, std::size_t first, std::size_t length) {
    if (!filter_[filter_place(hash)]) return;
    const auto found = owners_.find(hash);
    if (found == owners_.end()) return;
    const auto [known, is_new] =
        first_of.try_emplace(found->second, Match{found->second, first, length});
    if (!is_new && first < known->second.first) known->second = {found->second, first, length};
  });
  std::vector<Match> matches;
  for (const auto& [owner, match] : first_of) matches.push_back(match);
  std::ranges::sort(matches, {},
                    [](const Match& match) { return std::pair(match.first, match.owner); });
  return matches;
}

}  // namespace rooflab
