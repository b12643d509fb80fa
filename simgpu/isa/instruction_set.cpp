#include "simgpu/isa/instruction_set.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <stdexcept>

namespace simgpu {
namespace {

/// All spellings a pattern stands for: "a[.b]{c|d}" is ac, ad, a.bc, a.bd.
void expand(std::string_view pattern, const std::string& prefix, std::vector<std::string>& out) {
  const std::size_t special = pattern.find_first_of("[{");
  if (special == std::string_view::npos) {
    out.push_back(prefix + std::string(pattern));
    return;
  }
  const std::string head = prefix + std::string(pattern.substr(0, special));
  const char closing = pattern[special] == '[' ? ']' : '}';
  const std::size_t end = pattern.find(closing, special);
  if (end == std::string_view::npos) throw std::logic_error("opcode pattern without end");
  const std::string_view tail = pattern.substr(end + 1);
  std::string_view choices = pattern.substr(special + 1, end - special - 1);
  if (closing == ']') expand(tail, head, out);
  while (true) {
    const std::size_t bar = choices.find('|');
    expand(tail, head + std::string(choices.substr(0, bar)), out);
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
}

std::vector<std::string> spellings_of(std::string_view pattern) {
  std::vector<std::string> all;
  expand(pattern, "", all);
  return all;
}

bool is_type(std::string_view modifier) {
  static const std::set<std::string_view> kTypes{
      "b8",    "u8",     "s8",    "b16",   "u16",  "s16",    "f16",    "bf16",
      "b32",   "u32",    "s32",   "f32",   "b64",  "u64",    "s64",    "f64",
      "f16x2", "bf16x2", "u16x2", "s16x2", "tf32", "e4m3x2", "e5m2x2", "pred"};
  return kTypes.contains(modifier);
}

/// A spelling with its modifiers in alphabetical order, and behind them its types as they are.
std::string in_order(const std::string& spelling) {
  std::istringstream parts(spelling);
  std::string opcode, types;
  std::getline(parts, opcode, '.');
  std::multiset<std::string> modifiers;
  for (std::string part; std::getline(parts, part, '.');) {
    if (is_type(part)) {
      types += "." + part;
    } else {
      modifiers.insert(part);
    }
  }
  for (const std::string& modifier : modifiers) opcode += "." + modifier;
  return opcode + types;
}

}  // namespace

ModifierForm::ModifierForm(std::string_view text) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    Group group;
    group.is_optional = word.front() == '[';
    if (group.is_optional) word = word.substr(1, word.size() - 2);
    std::istringstream names(word);
    for (std::string name; std::getline(names, name, '|');) group.names.push_back(name);
    groups_.push_back(std::move(group));
  }
}

bool ModifierForm::fits(const std::vector<std::string>& modifiers) const {
  std::vector<bool> taken(groups_.size(), false);
  for (const std::string& modifier : modifiers) {
    std::size_t at = 0;
    const auto takes = [&](const Group& group) {
      return std::find(group.names.begin(), group.names.end(), modifier) != group.names.end();
    };
    while (at < groups_.size() && (taken[at] || !takes(groups_[at]))) ++at;
    if (at == groups_.size()) return false;
    taken[at] = true;
  }
  for (std::size_t at = 0; at < groups_.size(); ++at) {
    if (!taken[at] && !groups_[at].is_optional) return false;
  }
  return true;
}

bool BuiltOpcode::has_form(const std::vector<std::string>& modifiers) const {
  if (forms.empty()) return modifiers.empty();
  return std::any_of(forms.begin(), forms.end(),
                     [&](const ModifierForm& form) { return form.fits(modifiers); });
}

InstructionSet::InstructionSet(const std::vector<OpcodeFile>& files,
                               std::span<const SequenceRow> sequences, const Primitives& primitives)
    : primitives_(primitives) {
  for (const OpcodeFile& file : files) {
    rows_.insert(rows_.end(), file.rows.begin(), file.rows.end());
    for (const BuiltOpcode& opcode : file.built) built_.emplace(opcode.root, opcode);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (const std::string& spelling : spellings_of(rows_[i].spelling)) {
      if (!by_spelling_.emplace(spelling, i).second) {
        throw std::logic_error("two rows for the opcode " + spelling);
      }
      if (!in_order_.emplace(in_order(spelling), i).second && in_order_[in_order(spelling)] != i) {
        throw std::logic_error("two rows for the modifiers of " + spelling);
      }
    }
  }
  for (const SequenceRow& row : sequences) {
    for (const std::string& spelling : spellings_of(row.spelling)) {
      rows_[by_spelling_.at(spelling)].cost.sequence = row.sequence;
    }
  }
}

const OpcodeRow* InstructionSet::find_row(const std::string& spelling) const {
  const auto found = by_spelling_.find(spelling);
  if (found != by_spelling_.end()) return &rows_[found->second];
  // With one modifier there is no other order.
  if (std::count(spelling.begin(), spelling.end(), '.') < 2) return nullptr;
  const auto same = in_order_.find(in_order(spelling));
  return same == in_order_.end() ? nullptr : &rows_[same->second];
}

std::vector<std::string> InstructionSet::spellings() const {
  std::vector<std::string> all;
  for (const auto& [spelling, row] : by_spelling_) all.push_back(spelling);
  return all;
}

std::vector<std::string> InstructionSet::built_roots() const {
  std::vector<std::string> all;
  for (const auto& [root, opcode] : built_) all.push_back(root);
  return all;
}

const BuiltOpcode* InstructionSet::find_built(const std::string& root) const {
  const auto found = built_.find(root);
  return found == built_.end() ? nullptr : &found->second;
}

}  // namespace simgpu
