#include "grader/mutation/slice.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace rooflab::mutation {
namespace {

bool is_assignment(const CodeToken& token) {
  constexpr std::array<std::string_view, 11> kSigns{
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  return std::ranges::find(kSigns, token.text) != kSigns.end();
}

/// What stands between two of ; { }: a statement, or the head of a loop or a branch.
struct Piece {
  std::size_t first = 0, behind = 0;  ///< tokens
  std::size_t function = 0;           ///< 0: outside of functions
  bool is_related = false;
  unsigned steps = 0;  ///< of a related one: LinesOfSlice::related
  unsigned due = 0;    ///< the steps at which it will be one; 0: nobody knows
};

/// Whether a loop or a branch has its head in the brackets that open here.
bool opens_head(const Code& code, std::size_t bracket) {
  return bracket > 0 && code.is(bracket, "(") &&
         (code.is(bracket - 1, "for") || code.is(bracket - 1, "if") ||
          code.is(bracket - 1, "while") || code.is(bracket - 1, "switch"));
}

/// Between functions lies what they share, and what declares them.
std::vector<Piece> pieces_of(const Code& code) {
  std::vector<Piece> pieces;
  std::size_t first = 0, functions = 0, end_of_function = 0;
  const auto end_piece = [&](std::size_t behind) {
    if (behind > first) {
      pieces.push_back({first, behind, behind <= end_of_function ? functions : 0});
    }
  };
  for (std::size_t i = 0; i <= code.size(); ++i) {
    if (opens_head(code, i) && code.partner(i) < code.size()) {
      i = code.partner(i);
      end_piece(i + 1);
      first = i + 1;
      continue;
    }
    const bool ends = i == code.size() || code.is(i, ";") || code.is(i, "{") || code.is(i, "}");
    if (!ends) continue;
    end_piece(i);
    const bool opens_function =
        code.is(i, "{") && i > end_of_function && i > 0 && code.is(i - 1, ")");
    if (opens_function) {
      ++functions;
      end_of_function = code.partner(i);
    }
    first = i + 1;
  }
  return pieces;
}

class Slice {
 public:
  explicit Slice(const Code& code) : code_(code), pieces_(pieces_of(code)) {}

  LinesOfSlice of(std::uint32_t line) {
    if (!begin_at(line)) return {};
    for (unsigned steps = 1; grow(steps);) ++steps;
    LinesOfSlice lines;
    std::set<std::uint32_t> unrelated;
    for (const Piece& piece : pieces_) {
      const bool is_related = piece.is_related || piece.function == 0;
      for (std::size_t i = piece.first; i < piece.behind; ++i) {
        const std::uint32_t own = code_.at(i).line;
        if (!is_related) {
          unrelated.insert(own);
          continue;
        }
        const auto [known, is_new] = lines.related.try_emplace(own, piece.steps);
        if (!is_new) known->second = std::min(known->second, piece.steps);
      }
    }
    for (const auto& [related, steps] : lines.related) unrelated.erase(related);
    lines.unrelated.assign(unrelated.begin(), unrelated.end());
    return lines;
  }

 private:
  /// To what decides the values of names that were known before.
  /// @return whether there was any, or will be
  bool grow(unsigned steps) {
    std::vector<Piece*> found;
    bool is_any_due = false;
    for (Piece& piece : pieces_) {
      if (piece.is_related || piece.function == 0) continue;
      const unsigned more = steps_of(piece);
      if (more != 0 && piece.due == 0) piece.due = steps + more - 1;
      if (piece.due == 0) continue;
      if (steps >= piece.due) found.push_back(&piece);
      is_any_due = true;
    }
    for (Piece* const piece : found) relate(*piece, steps);
    return is_any_due;
  }

  /// With the names of a line, but for a variable that it gives a value.
  bool begin_at(std::uint32_t line) {
    bool has_any = false;
    for (Piece& piece : pieces_) {
      bool is_there = false;
      for (std::size_t i = piece.first; i < piece.behind; ++i) {
        const CodeToken& token = code_.at(i);
        if (token.line != line || piece.function == 0) continue;
        is_there = true;
        if (is_name(i) && !is_assignment(code_.at(i + 1))) {
          names_[piece.function].insert(token.text);
          has_any = true;
        }
      }
      piece.is_related = piece.is_related || is_there;
    }
    return has_any;
  }

  /// Of threadIdx.x the object alone.
  bool is_name(std::size_t token) const {
    return code_.at(token).is_word() &&
           (token == 0 || (!code_.is(token - 1, ".") && !code_.is(token - 1, "->")));
  }

  void relate(Piece& piece, unsigned steps) {
    piece.is_related = true;
    piece.steps = steps;
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      if (is_name(i)) names_[piece.function].insert(code_.at(i).text);
    }
  }

  bool has_name(const Piece& piece, std::size_t token) const {
    const auto names = names_.find(piece.function);
    return names != names_.end() && is_name(token) && names->second.contains(code_.at(token).text);
  }

  bool is_head(const Piece& piece) const {
    const CodeToken& word = code_.at(piece.first);
    return word.is("for") || word.is("if") || word.is("while") || word.is("switch") ||
           word.is("else");
  }

  /// How far away a piece is that decides something of the names that matter; 0: it decides
  /// nothing. What computes a value is closer than what decides whether that happens or takes it
  /// along, and that is closer than what an array holds: where the array lies is decided elsewhere.
  unsigned steps_of(const Piece& piece) const {
    constexpr unsigned kToValue = 1, kToHead = 2, kToElement = 4;
    if (is_head(piece)) return encloses_related(piece) ? kToHead : 0;
    bool assigns = false, names_any = false, stores = false, gives_address = false;
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      const CodeToken& token = code_.at(i);
      const bool is_for_all = token.is("<<<") || token.text.starts_with("__sync") ||
                              token.is("return") || token.is("break") || token.is("continue");
      if (is_for_all) return kToHead;
      // That two calls are of the same function relates them to nothing.
      const bool is_named = has_name(piece, i) && !code_.is(i + 1, "(");
      names_any = names_any || is_named;
      gives_address = gives_address || (is_named && i > piece.first && code_.is(i - 1, "&"));
      const bool steps = token.is("++") || token.is("--");
      if (!is_assignment(token) && !steps) continue;
      assigns = true;
      const bool is_before = steps && i + 1 < piece.behind && code_.at(i + 1).is_word();
      if (!(is_before ? has_name(piece, i + 1) : changes_a_name(piece, i))) continue;
      if (is_before || !code_.is(i - 1, "]")) return kToValue;
      stores = true;
    }
    if (stores) return kToElement;
    if (assigns || !names_any || is_declaration(piece)) return 0;
    return gives_address ? kToValue : kToHead;
  }

  /// In the braces behind it, or the one statement.
  bool encloses_related(const Piece& head) const {
    const bool has_braces = code_.is(head.behind, "{");
    const std::size_t end = has_braces ? code_.partner(head.behind) : head.behind + 1;
    return std::ranges::any_of(pieces_, [&](const Piece& piece) {
      return piece.is_related && piece.first >= head.behind && piece.first < end;
    });
  }

  /// `float sums[kSide];` names what it does not change.
  bool is_declaration(const Piece& piece) const {
    return piece.behind > piece.first + 1 && code_.at(piece.first).is_word() &&
           code_.at(piece.first + 1).is_word();
  }

  /// Whether what stands left of an assignment is one of the names, or a part of it.
  bool changes_a_name(const Piece& piece, std::size_t sign) const {
    std::size_t i = sign;
    while (i > piece.first) {
      --i;
      if (code_.is(i, "]") || code_.is(i, ")")) {
        const std::size_t open = code_.partner(i);
        if (open >= i || open < piece.first) return true;  // nobody knows
        i = open;
        continue;
      }
      if (!code_.at(i).is_word()) return false;
      if (has_name(piece, i)) return true;
      const bool is_member = i > piece.first + 1 && (code_.is(i - 1, ".") || code_.is(i - 1, "->"));
      if (!is_member) return false;
      --i;
    }
    return false;
  }

  const Code& code_;
  std::vector<Piece> pieces_;
  std::map<std::size_t, std::set<std::string>> names_;  ///< by function
};

}  // namespace

LinesOfSlice slice_of(const Code& code, std::uint32_t line) { return Slice(code).of(line); }

}  // namespace rooflab::mutation
