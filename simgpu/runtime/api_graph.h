#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "simgpu/runtime/api.h"
#include "simgpu/runtime/context.h"
#include "simgpu/runtime/graph.h"

// As it is defined here, which not every toolkit's headers have by this name.
extern "C" cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* edges, size_t count,
                                        cudaGraphNodeParams* parameters);

/// What the files that define the public functions of graphs share.
namespace simgpu::runtime {

/// Runs the body with the graph behind a handle, under the lock of all graphs.
template <typename Body>
cudaError_t on_graph(cudaGraph_t handle, Body body) noexcept {
  return api([&] {
    const auto lock = Context::get<GraphTable>().lock();
    Graph* graph = Context::get<GraphTable>().find(handle);
    return graph == nullptr ? static_cast<int>(cudaErrorInvalidValue)
                            : static_cast<int>(body(*graph));
  });
}

/// The same with a node.
template <typename Body>
cudaError_t on_node(cudaGraphNode_t handle, Body body) noexcept {
  return api([&] {
    const auto lock = Context::get<GraphTable>().lock();
    Node* node = Context::get<GraphTable>().find(handle);
    return node == nullptr ? static_cast<int>(cudaErrorInvalidValue)
                           : static_cast<int>(body(*node));
  });
}

/// The same with a node that does this kind of work.
template <typename Kind, typename Body>
cudaError_t on_node_of(cudaGraphNode_t handle, Body body) noexcept {
  return on_node(handle, [&](Node& node) {
    auto* work = std::get_if<Kind>(&node.work);
    return work == nullptr ? static_cast<int>(cudaErrorInvalidValue)
                           : static_cast<int>(body(node, *work));
  });
}

/// Nodes of this graph, each once. @returns whether they are that
inline bool find_nodes(const Graph& graph, const cudaGraphNode_t* handles, size_t count,
                       std::vector<Node*>* nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (size_t i = 0; i < count; ++i) {
    Node* node = Context::get<GraphTable>().find(handles[i]);
    if (node == nullptr || node->graph != &graph) return false;
    if (std::ranges::find(*nodes, node) != nodes->end()) return false;
    nodes->push_back(node);
  }
  return true;
}

/// Gives out a list as the runtime does: its length alone where there is no room for it; what does
/// not fit is left out, room that is left is cleared.
template <typename Value>
void give_list(const std::vector<Value>& values, Value* room, size_t* count) {
  if (room != nullptr) {
    for (size_t i = 0; i < *count; ++i) room[i] = i < values.size() ? values[i] : Value{};
  }
  if (room == nullptr || *count > values.size()) *count = values.size();
}

/// Edges have no annotations here: all of them are ordinary dependencies.
inline bool is_plain(const cudaGraphEdgeData* edges, size_t count) {
  if (edges == nullptr) return true;
  return std::all_of(edges, edges + count, [](const cudaGraphEdgeData& edge) {
    return edge.from_port == 0 && edge.to_port == 0 && edge.type == 0;
  });
}

}  // namespace simgpu::runtime
