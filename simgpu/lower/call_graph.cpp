#include "simgpu/lower/call_graph.h"

#include <algorithm>

namespace simgpu {

CallOperands call_operands(const ptx::Instruction& call) {
  CallOperands found;
  for (const ptx::Operand& operand : call.operands) {
    if (operand.kind == ptx::Operand::Kind::list) {
      (found.callee == nullptr ? found.results : found.arguments) = &operand;
    } else if (found.callee == nullptr) {
      found.callee = &operand.elements.at(0);
    } else if (const auto* table = std::get_if<ptx::Symbol>(&operand.elements.at(0))) {
      found.table = table->name;
    }
  }
  return found;
}

Signature signature_of(const std::vector<ptx::Variable>& results,
                       const std::vector<ptx::Variable>& parameters) {
  Signature signature;
  for (const ptx::Variable& result : results)
    signature.results.push_back({result.size(), result.alignment});
  for (const ptx::Variable& each : parameters)
    signature.parameters.push_back({each.size(), each.alignment});
  return signature;
}

CallGraph::CallGraph(const ptx::Module& module)
    : first_(module.functions.data()), callees_(module.functions.size()) {
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    index_.emplace(module.functions[i].name, i);
  }
  find_addresses(module);
  find_cycles();
}

std::size_t CallGraph::index_of(const ptx::Function& function) const {
  return static_cast<std::size_t>(&function - first_);
}

bool CallGraph::is_recursive(const ptx::Function& function) const {
  return recursive_[index_of(function)] != 0;
}

/// Every name of a function that is not the callee of a direct call stands for its address.
void CallGraph::find_addresses(const ptx::Module& module) {
  std::vector<char> taken(module.functions.size(), 0);
  const auto take = [&](const std::string& name) {
    if (const auto found = index_.find(name); found != index_.end()) taken[found->second] = 1;
  };
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Relocation& relocation : variable.relocations) take(relocation.symbol);
  }
  for (std::uint32_t caller = 0; caller < module.functions.size(); ++caller) {
    for (const ptx::Instruction& instruction : module.functions[caller].body) {
      const bool calls = instruction.opcode == "call";
      if (calls) {
        const ptx::Scalar* callee = call_operands(instruction).callee;
        const auto* name = callee == nullptr ? nullptr : std::get_if<ptx::Symbol>(callee);
        const auto found = name == nullptr ? index_.end() : index_.find(name->name);
        if (found != index_.end()) callees_[caller].push_back(found->second);
        continue;
      }
      for (const ptx::Operand& operand : instruction.operands) {
        for (const ptx::Scalar& scalar : operand.elements) {
          if (const auto* symbol = std::get_if<ptx::Symbol>(&scalar)) take(symbol->name);
        }
      }
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const ptx::Function& function = module.functions[i];
    if (taken[i] && !function.is_entry && !function.is_declaration) {
      with_address_.push_back(&function);
    }
  }
}

/// Strongly connected components (R. Tarjan, "Depth-First Search and Linear Graph Algorithms"),
/// without recursion: the program decides how deep its calls nest.
void CallGraph::find_cycles() {
  const std::size_t count = callees_.size();
  constexpr std::uint32_t kUnseen = 0xFFFFFFFFU;
  std::vector<std::uint32_t> order(count, kUnseen), low(count, 0);
  std::vector<char> open(count, 0);
  std::vector<std::uint32_t> component;
  std::vector<std::pair<std::uint32_t, std::size_t>> path;
  recursive_.assign(count, 0);
  std::uint32_t next_order = 0;
  const auto enter = [&](std::uint32_t node) {
    order[node] = low[node] = next_order++;
    open[node] = 1;
    component.push_back(node);
    path.emplace_back(node, 0);
  };
  const auto close = [&](std::uint32_t root) {
    const bool alone = component.back() == root;
    std::uint32_t node = root;
    do {
      node = component.back();
      component.pop_back();
      open[node] = 0;
      recursive_[node] = alone ? 0 : 1;
    } while (node != root);
  };
  for (std::uint32_t start = 0; start < count; ++start) {
    if (order[start] != kUnseen) continue;
    enter(start);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < callees_[node].size()) {
        const std::uint32_t callee = callees_[node][next++];
        if (order[callee] == kUnseen) {
          enter(callee);
        } else if (open[callee]) {
          low[node] = std::min(low[node], order[callee]);
        }
        continue;
      }
      const std::uint32_t done = node;
      path.pop_back();
      if (!path.empty()) {
        low[path.back().first] = std::min(low[path.back().first], low[done]);
      }
      if (low[done] == order[done]) close(done);
    }
  }
  for (std::uint32_t node = 0; node < count; ++node) {
    const auto& callees = callees_[node];
    if (std::find(callees.begin(), callees.end(), node) != callees.end()) recursive_[node] = 1;
  }
}

}  // namespace simgpu
