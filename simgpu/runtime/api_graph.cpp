#include "simgpu/runtime/api_graph.h"

#include <fstream>
#include <string>

/// Graphs as a whole, and the edges between their nodes.
namespace simgpu::runtime {
namespace {

std::vector<cudaGraphNode_t> handles_of(const std::vector<Node*>& nodes) {
  std::vector<cudaGraphNode_t> handles;
  for (Node* node : nodes) handles.push_back(handle_of(node));
  return handles;
}

int give_nodes(const std::vector<Node*>& nodes, cudaGraphNode_t* room, cudaGraphEdgeData* edges,
               size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (edges != nullptr) std::fill_n(edges, room == nullptr ? 0 : *count, cudaGraphEdgeData{});
  give_list(handles_of(nodes), room, count);
  return cudaSuccess;
}

std::vector<Node*> nodes_of(const Graph& graph, bool roots_only) {
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) {
    if (!roots_only || node->dependencies.empty()) nodes.push_back(node.get());
  }
  return nodes;
}

std::vector<Node*> dependents_of(const Node& of) {
  std::vector<Node*> dependents;
  for (const auto& node : of.graph->nodes()) {
    if (std::ranges::find(node->dependencies, &of) != node->dependencies.end()) {
      dependents.push_back(node.get());
    }
  }
  return dependents;
}

struct Edge {
  Node* from;
  Node* to;
};

/// Pairs of nodes of this graph. @returns whether they are that
bool find_edges(const Graph& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                size_t count, std::vector<Edge>* edges) {
  if (count != 0 && (from == nullptr || to == nullptr)) return false;
  const GraphTable& table = Context::get<GraphTable>();
  for (size_t i = 0; i < count; ++i) {
    const Edge edge{table.find(from[i]), table.find(to[i])};
    if (edge.from == nullptr || edge.to == nullptr || edge.from == edge.to) return false;
    if (edge.from->graph != &graph || edge.to->graph != &graph) return false;
    edges->push_back(edge);
  }
  return true;
}

bool is_edge(const Edge& edge) {
  const auto& dependencies = edge.to->dependencies;
  return std::ranges::find(dependencies, edge.from) != dependencies.end();
}

int add_edges(const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    if (is_edge(edge)) return cudaErrorInvalidValue;
    edge.to->dependencies.push_back(edge.from);
  }
  return cudaSuccess;
}

int remove_edges(const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    if (!is_edge(edge)) return cudaErrorInvalidValue;
    std::erase(edge.to->dependencies, edge.from);
  }
  return cudaSuccess;
}

const char* name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "memcpy";
    case cudaGraphNodeTypeMemset:
      return "memset";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "graph";
    case cudaGraphNodeTypeWaitEvent:
      return "event wait";
    case cudaGraphNodeTypeEventRecord:
      return "event record";
    case cudaGraphNodeTypeMemAlloc:
      return "mem alloc";
    case cudaGraphNodeTypeMemFree:
      return "mem free";
    default:
      return "empty";
  }
}

std::string label_of(const Node& node) {
  const auto* kernel = std::get_if<KernelWork>(&node.work);
  const char* name = nullptr;
  const bool named = kernel != nullptr && cudaFuncGetName(&name, kernel->function) == cudaSuccess;
  return named ? name : name_of(type_of(node.work));
}

/// The graph in the language of Graphviz.
std::string drawn(const Graph& graph) {
  std::string text = "digraph graph_1 {\n";
  for (const auto& node : graph.nodes()) {
    const std::string name = "node_" + std::to_string(node->id);
    text += "  " + name + " [label=\"" + label_of(*node) + "\"];\n";
    for (const Node* dependency : node->dependencies) {
      text += "  node_" + std::to_string(dependency->id) + " -> " + name + ";\n";
    }
  }
  return text + "}\n";
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::api;
using runtime::Context;
using runtime::Graph;
using runtime::GraphTable;
using runtime::Node;
using runtime::on_graph;
using runtime::on_node;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return api([&] {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    const auto lock = Context::get<GraphTable>().lock();
    *graph = Context::get<GraphTable>().keep(std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api([&] {
    const auto lock = Context::get<GraphTable>().lock();
    return Context::get<GraphTable>().destroy(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return on_graph(graph, [&](const Graph& original) {
    if (clone == nullptr) return cudaErrorInvalidValue;
    *clone = Context::get<GraphTable>().keep(original.clone());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return on_graph(clone, [&](const Graph& graph) {
    const Node* wanted = Context::get<GraphTable>().find(original);
    if (node == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
    for (const auto& candidate : graph.nodes()) {
      if (candidate->origin != wanted->id) continue;
      *node = runtime::handle_of(candidate.get());
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return on_graph(graph, [&](const Graph& found) {
    return runtime::give_nodes(runtime::nodes_of(found, false), nodes, nullptr, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return on_graph(graph, [&](const Graph& found) {
    return runtime::give_nodes(runtime::nodes_of(found, true), nodes, nullptr, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  return on_graph(graph, [&](const Graph& found) {
    if (count == nullptr || (from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> starts, ends;
    for (const auto& node : found.nodes()) {
      for (Node* dependency : node->dependencies) {
        starts.push_back(runtime::handle_of(dependency));
        ends.push_back(runtime::handle_of(node.get()));
      }
    }
    size_t same_count = *count;
    if (edges != nullptr && from != nullptr) std::fill_n(edges, *count, cudaGraphEdgeData{});
    runtime::give_list(starts, from, &same_count);
    runtime::give_list(ends, to, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, size_t* count) {
  return on_node(node, [&](const Node& found) {
    return runtime::give_nodes(found.dependencies, nodes, edges, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* edges, size_t* count) {
  return on_node(node, [&](const Node& found) {
    return runtime::give_nodes(runtime::dependents_of(found), nodes, edges, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  if (!runtime::is_plain(data, count)) return runtime::refuse("cudaGraphAddDependencies", "ports");
  return on_graph(graph, [&](const Graph& found) {
    std::vector<runtime::Edge> edges;
    const bool known = runtime::find_edges(found, from, to, count, &edges);
    return known ? runtime::add_edges(edges) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* /*data*/, size_t count) {
  return on_graph(graph, [&](const Graph& found) {
    std::vector<runtime::Edge> edges;
    const bool known = runtime::find_edges(found, from, to, count, &edges);
    return known ? runtime::remove_edges(edges) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return on_node(node, [&](const Node& found) {
    if (type == nullptr) return cudaErrorInvalidValue;
    *type = runtime::type_of(found.work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return on_node(node, [](Node& found) {
    found.graph->remove(&found);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned /*flags*/) {
  return on_graph(graph, [&](const Graph& found) {
    if (path == nullptr) return cudaErrorInvalidValue;
    std::ofstream file(path);
    file << runtime::drawn(found);
    return file.good() ? cudaSuccess : cudaErrorInvalidValue;
  });
}

}  // extern "C"
