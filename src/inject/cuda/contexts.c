/* SPDX-License-Identifier: Apache-2.0
 * Initialisation, devices, contexts, modules and libraries. */
#include <string.h>

#include "inject/cuda/context.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/gpu_times.h"
#include "inject/cuda/memory.h"
#include "inject/cuda/names.h"

static Word primaries[kMostDevices]; /* by device */

static void primary_retained(Word context, Word device) {
  if ((uint32_t)device < kMostDevices)
    __atomic_store_n(&primaries[(uint32_t)device], context, __ATOMIC_RELAXED);
}

/* It goes with the last who gave it back, or at once. */
static void primary_released(Word device) {
  typedef int StateFunction(int32_t device, uint32_t * flags, int32_t * active);
  StateFunction* get_state = (StateFunction*)driver_function("cuDevicePrimaryCtxGetState");
  uint32_t flags = 0;
  int32_t active = 1;
  contexts_changed();
  if ((uint32_t)device >= kMostDevices || get_state == NULL ||
      get_state((int32_t)device, &flags, &active) != 0 || active != 0)
    return;
  memory_context_gone(__atomic_load_n(&primaries[(uint32_t)device], __ATOMIC_RELAXED));
}

#define AT(pointer) (*(Word*)(pointer))
#define GOES(function, since, ...) \
  CU_FULL(function, since, kPlainCall, 1, gpu_times_flush(), __VA_ARGS__)
#define CHANGED \
  if (result == 0) context_changed()
#define NAMED(handle, text)       \
  if (result == 0 && (text) != 0) \
  name_set(AT(handle), (const char*)(text), strlen((const char*)(text)))

/* clang-format off: a line each */
CU(cuInit, 2000, 1, if (result == 0 && call.recorded) gpu_times_start())
CU_ASKS(cuDriverGetVersion, 2020)
CU_ASKS(cuDeviceGet, 2000)
CU_ASKS(cuDeviceGetCount, 2000)
CU_ASKS(cuDeviceGetName, 2000)
CU_ASKS(cuDeviceGetUuid, 9020)
CU_ASKS(cuDeviceGetUuid_v2, 11040)
CU_ASKS(cuDeviceTotalMem_v2, 3020)
CU_ASKS(cuDeviceGetAttribute, 2000)
CU_ASKS(cuDeviceGetPCIBusId, 4010)
CU_ASKS(cuDeviceGetByPCIBusId, 4010)
CU_ASKS(cuDeviceCanAccessPeer, 4000)
CU_ASKS(cuDeviceGetP2PAttribute, 8000)
CU_ASKS(cuDeviceGetDefaultMemPool, 11020)
CU_ASKS(cuDeviceGetMemPool, 11020)
CU_ANY(cuDeviceSetMemPool, 11020)
CU(
    cuDevicePrimaryCtxRetain, 7000, 2, if (result == 0) {
      primary_retained(AT(a), b);
      contexts_changed();
    })
GOES(cuDevicePrimaryCtxRelease, 7000, if (result == 0) primary_released(a))
GOES(cuDevicePrimaryCtxRelease_v2, 11000, if (result == 0) primary_released(a))
GOES(cuDevicePrimaryCtxReset, 7000, if (result == 0) primary_released(a))
GOES(cuDevicePrimaryCtxReset_v2, 11000, if (result == 0) primary_released(a))
CU_ASKS_MORE(cuDevicePrimaryCtxGetState, 7000, 3, NOTHING)
CU_ANY(cuDevicePrimaryCtxSetFlags, 7000)
CU_ANY(cuDevicePrimaryCtxSetFlags_v2, 11000)
CU(cuCtxCreate_v2, 3020, 8, CHANGED)
CU(cuCtxCreate_v3, 11040, 8, CHANGED)
CU(cuCtxCreate_v4, 12050, 8, CHANGED)
GOES(
    cuCtxDestroy_v2, 4000, if (result == 0) {
      contexts_changed();
      memory_context_gone(a);
    })
CU(cuCtxPushCurrent_v2, 4000, 1, CHANGED)
CU(cuCtxPopCurrent_v2, 4000, 1, CHANGED)
CU(cuCtxSetCurrent, 4000, 1, CHANGED)
CU_ASKS_MORE(cuCtxGetCurrent, 4000, 1, NOTHING)
CU_ASKS_MORE(cuCtxGetDevice, 2000, 2, NOTHING)
CU_ASKS(cuCtxGetFlags, 7000)
CU_ASKS(cuCtxGetLimit, 3010)
CU_ANY(cuCtxSetLimit, 3010)
CU_ASKS(cuCtxGetApiVersion, 3020)
CU_ASKS(cuCtxGetStreamPriorityRange, 5050)
CU(cuCtxSynchronize, 2000, 1, CONTEXT)
CU(cuCtxSynchronize_v2, 13000, 1, CONTEXT)
CU_ANY(cuCtxEnablePeerAccess, 4000)
CU_ANY(cuCtxDisablePeerAccess, 4000)
CU_ANY(cuModuleLoad, 2000)
CU_ANY(cuModuleLoadData, 2000)
CU_ANY(cuModuleLoadDataEx, 2010)
CU_ANY(cuModuleLoadFatBinary, 2000)
CU(cuModuleUnload, 2000, 1, names_forget_asked())
CU(cuModuleGetFunction, 2000, 3, NAMED(a, c))
CU_ASKS(cuModuleGetFunctionCount, 12040)
CU_ANY(cuModuleEnumerateFunctions, 12040)
CU_ANY(cuModuleGetGlobal_v2, 3020)
CU_ASKS(cuModuleGetLoadingMode, 11070)
CU_ANY(cuLibraryLoadData, 12000)
CU_ANY(cuLibraryLoadFromFile, 12000)
CU(cuLibraryUnload, 12000, 1, names_forget_asked())
CU(cuLibraryGetKernel, 12000, 3, NAMED(a, c))
CU_ASKS(cuLibraryGetKernelCount, 12040)
CU_ANY(cuLibraryEnumerateKernels, 12040)
CU_ANY(cuLibraryGetModule, 12000)
CU_ANY(cuLibraryGetGlobal, 12000)
CU_ANY(cuLibraryGetManaged, 12000)
CU_ANY(cuLibraryGetUnifiedFunction, 12000)
CU_ASKS_MORE(cuKernelGetFunction, 12000, 2, if (result == 0) name_same(AT(a), b))
CU_ASKS(cuKernelGetLibrary, 12050)
CU_ASKS(cuKernelGetAttribute, 12000)
CU_ANY(cuKernelSetAttribute, 12000)
CU_ASKS(cuKernelGetName, 12030)
CU_ANY(cuKernelSetCacheConfig, 12000)
CU_ASKS(cuFuncGetName, 12030)
CU_ASKS(cuFuncGetAttribute, 2020)
CU_ANY(cuFuncSetAttribute, 9000)
CU_ANY(cuFuncSetCacheConfig, 3000)
CU_ASKS(cuFuncGetModule, 11000)
CU_ANY(cuFuncLoad, 12040)
CU_ASKS(cuFuncIsLoaded, 12040)
CU_ANY(cuLinkCreate_v2, 6050)
CU(cuLinkAddData_v2, 6050, 8, NOTHING)
CU_ANY(cuLinkAddFile_v2, 6050)
CU_ANY(cuLinkComplete, 5050)
CU_ANY(cuLinkDestroy, 5050)
CU_ASKS(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)
CU_ASKS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000)
CU_ASKS(cuOccupancyMaxPotentialBlockSize, 6050)
CU_ASKS(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000)
CU_ASKS(cuOccupancyAvailableDynamicSMemPerBlock, 10020)
CU_ASKS(cuOccupancyMaxPotentialClusterSize, 11070)
CU_ASKS(cuOccupancyMaxActiveClusters, 11070)
CU(cuTensorMapEncodeTiled, 12000, 16, NOTHING)
CU(cuTensorMapEncodeIm2col, 12000, 16, NOTHING)
CU_ANY(cuTexObjectCreate, 5000)
CU_ANY(cuTexObjectDestroy, 5000)
CU_ANY(cuSurfObjectCreate, 5000)
CU_ANY(cuSurfObjectDestroy, 5000)
CU_ANY(cuProfilerStart, 4000)
CU_ANY(cuProfilerStop, 4000)
/* clang-format on */
