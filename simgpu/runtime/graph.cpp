#include "simgpu/runtime/graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "simgpu/runtime/client.h"
#include "simgpu/runtime/context.h"

namespace simgpu::runtime {
namespace {

/// The device reports at the end what the program has not destroyed.
void tell_device(std::size_t kept) {
  Client::instance().ask(GuestOperation::graphs_kept, static_cast<std::uint64_t>(kept));
}

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

/// The work of a cloned node: a child graph is copied with it.
Work cloned(const Work& work) {
  const auto* child = std::get_if<ChildWork>(&work);
  return child == nullptr ? work : ChildWork{child->graph->clone()};
}

}  // namespace

cudaGraphNodeType type_of(const Work& work) {
  return std::visit(Overloaded{
                        [](const EmptyWork&) { return cudaGraphNodeTypeEmpty; },
                        [](const KernelWork&) { return cudaGraphNodeTypeKernel; },
                        [](const BlasWork&) { return cudaGraphNodeTypeKernel; },
                        [](const Copy&) { return cudaGraphNodeTypeMemcpy; },
                        [](const Fill&) { return cudaGraphNodeTypeMemset; },
                        [](const EventRecordWork&) { return cudaGraphNodeTypeEventRecord; },
                        [](const EventWaitWork&) { return cudaGraphNodeTypeWaitEvent; },
                        [](const HostWork&) { return cudaGraphNodeTypeHost; },
                        [](const ChildWork&) { return cudaGraphNodeTypeGraph; },
                        [](const AllocationWork&) { return cudaGraphNodeTypeMemAlloc; },
                        [](const ReleaseWork&) { return cudaGraphNodeTypeMemFree; },
                    },
                    work);
}

Graph::Graph() { Context::get<GraphTable>().graphs_.insert(this); }

Graph::~Graph() {
  GraphTable& table = Context::get<GraphTable>();
  for (const auto& node : nodes_) table.nodes_.erase(node.get());
  table.graphs_.erase(this);
}

Node* Graph::add(Work work, std::vector<Node*> dependencies) {
  GraphTable& table = Context::get<GraphTable>();
  auto node = std::make_unique<Node>();
  node->graph = this;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  node->id = table.next_id_++;
  table.nodes_.insert(node.get());
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

void Graph::remove(Node* node) {
  Context::get<GraphTable>().nodes_.erase(node);
  for (const auto& other : nodes_) std::erase(other->dependencies, node);
  std::erase_if(nodes_, [node](const auto& other) { return other.get() == node; });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  std::map<const Node*, Node*> counterparts;
  for (const auto& node : nodes_) {
    Node* counterpart = copy->add(cloned(node->work), {});
    counterpart->origin = node->id;
    counterparts[node.get()] = counterpart;
  }
  for (const auto& node : nodes_) {
    for (const Node* dependency : node->dependencies) {
      counterparts.at(node.get())->dependencies.push_back(counterparts.at(dependency));
    }
  }
  return copy;
}

std::vector<Node*> Graph::in_order() const {
  std::map<const Node*, std::size_t> positions;
  for (std::size_t i = 0; i < nodes_.size(); ++i) positions[nodes_[i].get()] = i;
  std::vector<std::size_t> missing(nodes_.size());
  std::vector<std::vector<std::size_t>> dependents(nodes_.size());
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    missing[i] = nodes_[i]->dependencies.size();
    for (const Node* dependency : nodes_[i]->dependencies) {
      dependents[positions.at(dependency)].push_back(i);
    }
    if (missing[i] == 0) ready.insert(i);
  }
  std::vector<Node*> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(nodes_[next].get());
    for (const std::size_t dependent : dependents[next]) {
      if (--missing[dependent] == 0) ready.insert(dependent);
    }
  }
  return order;
}

cudaGraph_t GraphTable::keep(std::shared_ptr<Graph> graph) {
  const cudaGraph_t handle = handle_of(graph.get());
  kept_.push_back(std::move(graph));
  tell_device(kept_.size());
  return handle;
}

bool GraphTable::destroy(cudaGraph_t graph) {
  const auto found = std::ranges::find_if(
      kept_, [graph](const auto& kept) { return handle_of(kept.get()) == graph; });
  if (found == kept_.end()) return false;
  const std::shared_ptr<Graph> destroyed = std::move(*found);
  kept_.erase(found);
  tell_device(kept_.size());
  return true;
}

Graph* GraphTable::find(cudaGraph_t graph) const {
  auto* found = reinterpret_cast<Graph*>(graph);
  return graphs_.contains(found) ? found : nullptr;
}

Node* GraphTable::find(cudaGraphNode_t node) const {
  auto* found = reinterpret_cast<Node*>(node);
  return nodes_.contains(found) ? found : nullptr;
}

void GraphTable::clear() {
  const std::vector<std::shared_ptr<Graph>> destroyed = std::exchange(kept_, {});
}

}  // namespace simgpu::runtime
