#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Finds what is said elsewhere too: passages of words, however they are laid out.
namespace rooflab {

/// A word: letters, digits and underscores in a row, in lower case. What lies between them does not
/// count, so that quoting, indenting and breaking lines anew hide nothing.
struct Word {
  std::string text;
  int line = 0;  ///< from 1; 0 in a compiled file
};

/// The words of a text file.
std::vector<Word> words_of(std::string_view text);

/// The words of the readable runs (six characters or more) of a compiled file. An empty word stands
/// between two runs: no passage goes across it.
std::vector<Word> words_of_compiled(std::string_view bytes);

/// Passages of fixed numbers of words, each with the number of whose it is.
class Passages {
 public:
  /// Adds every passage of `length` words of a text; the text whole, when it is shorter. Adds
  /// nothing when it has less than `least` words.
  void add(const std::vector<Word>& words, std::size_t length, std::size_t least,
           std::size_t owner);
  /// Forgets every passage that stands in these words too.
  void forget(const std::vector<Word>& words);

  struct Match {
    std::size_t owner = 0;
    std::size_t first = 0;   ///< the word that it begins with
    std::size_t length = 0;  ///< in words
  };
  /// Where these words hold passages: the first one of each owner.
  std::vector<Match> find(const std::vector<Word>& words) const;

 private:
  template <typename Seen>
  void each_passage(const std::vector<Word>& words, Seen seen) const;

  std::unordered_map<std::uint64_t, std::size_t> owners_;  ///< by hash of the passage
  std::vector<bool> filter_;          ///< by upper bits of the hash: false where no passage is
  std::vector<std::size_t> lengths_;  ///< that occur, ascending
};

}  // namespace rooflab
