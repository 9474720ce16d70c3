/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/graphs.h"

#include "inject/core/text.h"
#include "inject/cuda/names.h"

enum { kMostNodes = 1024, kKernelNode = 0 };

typedef int NodesFunction(Word graph, Word* nodes, size_t* count);
typedef int TypeFunction(Word node, uint32_t* type);

/* Kernels among its nodes; UINT64_MAX: too many to ask for here. */
static uint64_t count_kernels(Word graph, NodesFunction* get_nodes, size_t nodes) {
  TypeFunction* get_type = (TypeFunction*)driver_function("cuGraphNodeGetType");
  Word list[kMostNodes];
  uint64_t kernels = 0;
  if (get_type == NULL || nodes > kMostNodes || get_nodes(graph, list, &nodes) != 0)
    return UINT64_MAX;
  for (size_t i = 0; i < nodes; ++i) {
    uint32_t type = UINT32_MAX;
    if (get_type(list[i], &type) == 0 && type == kKernelNode) ++kernels;
  }
  return kernels;
}

void graph_instantiated(Word executable, Word graph) {
  NodesFunction* get_nodes = (NodesFunction*)driver_function("cuGraphGetNodes");
  size_t nodes = 0;
  if (get_nodes == NULL || get_nodes(graph, NULL, &nodes) != 0) return;
  const uint64_t kernels = count_kernels(graph, get_nodes, nodes);
  char name[64];
  struct Text text = text_in(name, sizeof name);
  put(&text, "graph of ");
  put_number(&text, nodes);
  put(&text, " nodes");
  if (kernels != UINT64_MAX) {
    put(&text, ", ");
    put_number(&text, kernels);
    put(&text, " kernels");
  }
  name_set(executable, name, (size_t)(text.at - name));
}

void about_graph(struct About* about, Word executable) {
  const struct KernelName* name = name_find(executable);
  if (name == NULL) return;
  about->name = name->text;
  about->name_length = name->length;
}

#define MADE(executable, graph) \
  if (result == 0 && (executable) != 0) graph_instantiated(*(Word*)(executable), graph)

/* clang-format off: a line each */
CU_ANY(cuGraphCreate, 10000)
CU_ANY(cuGraphDestroy, 10000)
CU_ANY(cuGraphClone, 10000)
CU(cuGraphInstantiate, 10000, 5, MADE(a, b))
CU(cuGraphInstantiate_v2, 11000, 5, MADE(a, b))
CU(cuGraphInstantiateWithFlags, 11040, 3, MADE(a, b))
CU(cuGraphInstantiateWithParams, 12000, 3, MADE(a, b))
CU(cuGraphInstantiateWithParams_ptsz, 12000, 3, MADE(a, b))
CU_ANY(cuGraphExecDestroy, 10000)
CU_ANY(cuGraphExecUpdate, 10020)
CU_ANY(cuGraphExecUpdate_v2, 12000)
CU_PTSZ(cuGraphUpload, 11010, 2, STREAM(b))
CU_ANY(cuGraphAddNode, 12020)
CU_ANY(cuGraphAddNode_v2, 12030)
CU_ANY(cuGraphAddKernelNode, 10000)
CU_ANY(cuGraphAddKernelNode_v2, 12000)
CU_ANY(cuGraphAddMemcpyNode, 10000)
CU_ANY(cuGraphAddMemsetNode, 10000)
CU_ANY(cuGraphAddHostNode, 10000)
CU_ANY(cuGraphAddChildGraphNode, 10000)
CU_ANY(cuGraphAddEmptyNode, 10000)
CU_ANY(cuGraphAddEventRecordNode, 11010)
CU_ANY(cuGraphAddEventWaitNode, 11010)
CU_ANY(cuGraphAddMemAllocNode, 11040)
CU_ANY(cuGraphAddMemFreeNode, 11040)
CU_ANY(cuGraphExecKernelNodeSetParams, 10010)
CU_ANY(cuGraphExecKernelNodeSetParams_v2, 12000)
CU_ASKS(cuGraphGetNodes, 10000)
CU_ANY(cuGraphKernelNodeSetParams, 10000)
CU_ANY(cuGraphKernelNodeSetParams_v2, 12000)
CU_ANY(cuGraphConditionalHandleCreate, 12030)
CU_ANY(cuDeviceGraphMemTrim, 11040)
/* clang-format on */
