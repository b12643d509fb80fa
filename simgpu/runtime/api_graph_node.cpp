#include "simgpu/runtime/api_graph.h"
#include "simgpu/runtime/graph_params.h"

/// Nodes of graphs that a program builds by hand, and what they do.
namespace simgpu::runtime {
namespace {

/// Where a new node comes in a graph.
struct Place {
  cudaGraphNode_t* node;  ///< the new node's handle goes here
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  size_t count;
};

/// @param describe fills in the node's work and returns a cudaError_t
template <typename Describe>
cudaError_t add(const Place& place, Describe describe) {
  return on_graph(place.graph, [&](Graph& graph) {
    std::vector<Node*> dependencies;
    if (place.node == nullptr ||
        !find_nodes(graph, place.dependencies, place.count, &dependencies)) {
      return static_cast<int>(cudaErrorInvalidValue);
    }
    Work work;
    const int error = describe(&work);
    if (error == 0) {
      *place.node = handle_of(graph.add(std::move(work), std::move(dependencies)));
    }
    return error;
  });
}

/// Other work of the same kind for a node.
template <typename Kind, typename Describe>
cudaError_t change(cudaGraphNode_t node, Describe describe) {
  return on_node_of<Kind>(node, [&](Node& found, Kind& /*work*/) {
    Work work;
    const int error = describe(&work);
    if (error == 0) found.work = std::move(work);
    return error;
  });
}

/// Takes something from a node's work; there must be room for it.
template <typename Kind, typename Value, typename Take>
cudaError_t take(cudaGraphNode_t node, Value* value, Take get) {
  return on_node_of<Kind>(node, [&](Node& found, Kind& work) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = get(found, work);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace simgpu::runtime

namespace runtime = simgpu::runtime;
using runtime::add;
using runtime::change;
using runtime::Copy;
using runtime::EventRecordWork;
using runtime::EventWaitWork;
using runtime::Fill;
using runtime::HostWork;
using runtime::KernelWork;
using runtime::Node;
using runtime::take;
using runtime::Work;

extern "C" {

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  return add({node, graph, dependencies, count}, [&](Work* work) {
    return runtime::work_of("cudaGraphAddKernelNode", parameters, work);
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* parameters) {
  return take<KernelWork>(node, parameters, [](Node& found, KernelWork& work) {
    return runtime::parameters_of(found, work);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams* parameters) {
  return change<KernelWork>(node, [&](Work* work) {
    return runtime::work_of("cudaGraphKernelNodeSetParams", parameters, work);
  });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add({node, graph, dependencies, count}, [&](Work* work) {
    return runtime::work_of("cudaGraphAddMemcpyNode", parameters, work);
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     void* destination, const void* source, size_t bytes,
                                     cudaMemcpyKind kind) {
  return add({node, graph, dependencies, count}, [&](Work* work) {
    return runtime::work_of_copy(destination, source, bytes, kind, work);
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* parameters) {
  return take<Copy>(node, parameters, [](const Node& /*node*/, const Copy& copy) {
    return runtime::parameters_of(copy);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms* parameters) {
  return change<Copy>(node, [&](Work* work) {
    return runtime::work_of("cudaGraphMemcpyNodeSetParams", parameters, work);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* destination,
                                           const void* source, size_t bytes, cudaMemcpyKind kind) {
  return change<Copy>(node, [&](Work* work) {
    return runtime::work_of_copy(destination, source, bytes, kind, work);
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* parameters) {
  return add({node, graph, dependencies, count},
             [&](Work* work) { return runtime::work_of(parameters, work); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* parameters) {
  return take<Fill>(node, parameters, [](const Node& /*node*/, const Fill& fill) {
    return runtime::parameters_of(fill);
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* parameters) {
  return change<Fill>(node, [&](Work* work) { return runtime::work_of(parameters, work); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const cudaHostNodeParams* parameters) {
  return add({node, graph, dependencies, count},
             [&](Work* work) { return runtime::work_of(parameters, work); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* parameters) {
  return take<HostWork>(node, parameters, [](const Node& /*node*/, const HostWork& work) {
    return cudaHostNodeParams{.fn = work.function, .userData = work.data};
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* parameters) {
  return change<HostWork>(node, [&](Work* work) { return runtime::work_of(parameters, work); });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  return add({node, graph, dependencies, count},
             [&](Work* work) { return runtime::work_of_child(child, work); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return take<runtime::ChildWork>(node, graph,
                                  [](const Node& /*node*/, const runtime::ChildWork& work) {
                                    return runtime::handle_of(work.graph.get());
                                  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return add({node, graph, dependencies, count}, [](Work* /*work*/) { return 0; });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  return add({node, graph, dependencies, count}, [&](Work* work) {
    *work = EventRecordWork{event};
    return 0;
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return take<EventRecordWork>(
      node, event, [](const Node& /*node*/, const EventRecordWork& work) { return work.event; });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  return add({node, graph, dependencies, count}, [&](Work* work) {
    *work = EventWaitWork{event};
    return 0;
  });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return take<EventWaitWork>(
      node, event, [](const Node& /*node*/, const EventWaitWork& work) { return work.event; });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* edges,
                             size_t count, cudaGraphNodeParams* parameters) {
  if (!runtime::is_plain(edges, count)) return runtime::refuse("cudaGraphAddNode", "ports");
  return add({node, graph, dependencies, count},
             [&](Work* work) { return runtime::work_of("cudaGraphAddNode", parameters, work); });
}

}  // extern "C"
