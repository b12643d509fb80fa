#include "simgpu/ptx/label_table.h"

#include <fmt/format.h>

#include <utility>

namespace simgpu::ptx {

void LabelTable::define(const Token& name) {
  const auto target = static_cast<std::uint32_t>(function_.body.size());
  if (!scopes_.back().labels.emplace(name.text, target).second) {
    lexer_.fail_at(name, fmt::format("expected a new label: '{}' stands in this scope already",
                                     name.text.substr(0, 80)));
  }
}

void LabelTable::resolve(const LabelUse& use, std::uint32_t target) {
  if (use.in_table) {
    function_.branch_targets[use.owner].second[use.element] = target;
  } else {
    function_.body[use.owner].operands[use.operand].elements[use.element] = LabelRef{target};
  }
}

/// Moves the smaller side, so that many uses under deep nesting do not cost their product.
void LabelTable::move_outwards(Scope& inner, Scope& outer) {
  if (outer.uses.size() < inner.uses.size()) std::swap(outer.uses, inner.uses);
  for (auto& [name, uses] : inner.uses) {
    std::vector<LabelUse>& waiting = outer.uses[name];
    if (waiting.size() < uses.size()) std::swap(waiting, uses);
    waiting.insert(waiting.end(), uses.begin(), uses.end());
  }
}

void LabelTable::close() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const auto& [name, target] : scope.labels) {
    const auto uses = scope.uses.find(name);
    if (uses == scope.uses.end()) continue;
    for (const LabelUse& use : uses->second) resolve(use, target);
    scope.uses.erase(uses);
  }
  if (!scopes_.empty()) {
    move_outwards(scope, scopes_.back());
    return;
  }
  // What is left names functions and variables, or is an error; the first in the text is reported.
  const LabelUse* missing = nullptr;
  for (const auto& [name, uses] : scope.uses) {
    for (const LabelUse& use : uses) {
      const bool earlier = missing == nullptr || use.token.offset < missing->token.offset;
      if (use.required && earlier) missing = &use;
    }
  }
  if (missing != nullptr) {
    lexer_.fail_at(missing->token, fmt::format("expected a label of this function, found '{}'",
                                               missing->token.text.substr(0, 80)));
  }
}

}  // namespace simgpu::ptx
