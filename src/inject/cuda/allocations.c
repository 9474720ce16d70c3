/* SPDX-License-Identifier: Apache-2.0
 * Allocations and frees of every kind. These keep accounts also while nobody records. */
#include <stddef.h>

#include "inject/cuda/driver.h"
#include "inject/cuda/memory.h"

/* CUmemAllocationProp: where it is to be. */
struct PhysicalWhere {
  uint32_t type, handle_types, location_type;
  int32_t location;
};
enum { kOnDevice = 1 };

/* CUDA_ARRAY_DESCRIPTOR and its like with a depth. */
struct ArrayShape {
  size_t width, height;
  uint32_t format, channels;
};
struct ArrayShape3D {
  size_t width, height, depth;
  uint32_t format, channels;
};

static uint64_t element_bytes(uint32_t format, uint32_t channels) {
  switch (format) {
    case 0x01: /* 8 bits */
    case 0x08:
      return channels;
    case 0x02: /* 16 bits */
    case 0x09:
    case 0x10:
      return channels * 2u;
    case 0x03: /* 32 bits */
    case 0x0a:
    case 0x20:
      return channels * 4u;
    default:
      return 0; /* compressed, or not known */
  }
}
static uint64_t or_one(size_t of) { return of != 0 ? of : 1; }
static uint64_t array_bytes(Word shape) {
  const struct ArrayShape* of = (const struct ArrayShape*)shape;
  return of->width * or_one(of->height) * element_bytes(of->format, of->channels);
}
static uint64_t array_3d_bytes(Word shape) {
  const struct ArrayShape3D* of = (const struct ArrayShape3D*)shape;
  return of->width * or_one(of->height) * or_one(of->depth) *
         element_bytes(of->format, of->channels);
}

static void took_physical(Word handle, Word bytes, Word where, const char* call) {
  const struct PhysicalWhere* at = (const struct PhysicalWhere*)where;
  if (at != NULL && at->location_type == kOnDevice)
    memory_took_on(at->location, kPhysicalMemory, handle, bytes, call);
}

#define AT(pointer) (*(Word*)(pointer))
#define TOOK(kind, key, count)               \
  do {                                       \
    CONTEXT;                                 \
    if (result != 0) break;                  \
    const uint64_t taken = (count);          \
    BYTES(taken);                            \
    memory_took(kind, key, taken, __func__); \
  } while (0)
/* What is given back is forgotten first; its size is the call's bytes. */
#define FORGET(kind, key) const struct Allocation was = memory_forget(kind, key)
#define FREED                                    \
  do {                                           \
    CONTEXT;                                     \
    if (result != 0) memory_back(&was);          \
    if (was.kind != kNoMemory) BYTES(was.bytes); \
  } while (0)

#define FREE(function, since, count, kind, ...) \
  CU_FULL(function, since, kPlainCall, count, FORGET(kind, a), FREED; __VA_ARGS__)
#define FREE_SZ(function, since, count, kind, ...) \
  FREE(function, since, count, kind, __VA_ARGS__)  \
  FREE(function##_ptsz, since, count, kind, __VA_ARGS__)

/* clang-format off: a line each */
CU(cuMemAlloc_v2, 3020, 2, TOOK(kDeviceMemory, AT(a), b))
CU(cuMemAllocPitch_v2, 3020, 5, TOOK(kDeviceMemory, AT(a), AT(b) * d))
CU(cuMemAllocManaged, 6000, 3, TOOK(kDeviceMemory, AT(a), b))
CU_PTSZ(cuMemAllocAsync, 11020, 3, TOOK(kDeviceMemory, AT(a), b); STREAM(c))
CU_PTSZ(cuMemAllocFromPoolAsync, 11020, 4, TOOK(kDeviceMemory, AT(a), b); STREAM(d))
FREE(cuMemFree_v2, 3020, 1, kDeviceMemory, NOTHING)
FREE_SZ(cuMemFreeAsync, 11020, 2, kDeviceMemory, STREAM(b))
CU(cuMemAllocHost_v2, 3020, 2, TOOK(kHostMemory, AT(a), b))
CU(cuMemHostAlloc, 2020, 3, TOOK(kHostMemory, AT(a), b))
CU(cuMemHostRegister_v2, 6050, 3, TOOK(kHostMemory, a, b))
FREE(cuMemFreeHost, 2000, 1, kHostMemory, NOTHING)
FREE(cuMemHostUnregister, 4000, 1, kHostMemory, NOTHING)
CU(cuArrayCreate_v2, 3020, 2, TOOK(kArrayMemory, AT(a), array_bytes(b)))
CU(cuArray3DCreate_v2, 3020, 2, TOOK(kArrayMemory, AT(a), array_3d_bytes(b)))
FREE(cuArrayDestroy, 2000, 1, kArrayMemory, NOTHING)
CU(
    cuMemCreate, 10020, 4, CONTEXT; if (result == 0) {
      BYTES(b);
      took_physical(AT(a), b, c, __func__);
    })
CU(cuMemRelease, 10020, 1, CONTEXT; if (result == 0) memory_released(a))
CU(cuMemMap, 10020, 5, BYTES(b); CONTEXT; if (result == 0) memory_mapped(a, b, d))
CU(cuMemUnmap, 10020, 2, BYTES(b); CONTEXT; if (result == 0) memory_unmapped(a, b))
CU(cuMemRetainAllocationHandle, 11000, 2, CONTEXT; if (result == 0) memory_retained(AT(a)))
CU(cuMemAddressReserve, 10020, 5, BYTES(b))
CU(cuMemAddressFree, 10020, 2, BYTES(b))
CU_ANY(cuMemSetAccess, 10020)
CU_ASKS(cuMemGetAccess, 10020)
CU_ANY(cuMemExportToShareableHandle, 10020)
CU_ANY(cuMemImportFromShareableHandle, 10020)
CU_ASKS(cuMemGetAllocationGranularity, 10020)
CU_ASKS(cuMemGetAllocationPropertiesFromHandle, 10020)
CU_ANY(cuMemPoolCreate, 11020)
CU_ANY(cuMemPoolDestroy, 11020)
CU_ANY(cuMemPoolTrimTo, 11020)
CU_ANY(cuMemPoolSetAttribute, 11020)
CU_ASKS(cuMemPoolGetAttribute, 11020)
CU_ANY(cuMemPoolSetAccess, 11020)
CU_ASKS(cuMemPoolGetAccess, 11020)
CU_ANY(cuMemPoolExportToShareableHandle, 11020)
CU_ANY(cuMemPoolImportFromShareableHandle, 11020)
CU_ANY(cuMemPoolExportPointer, 11020)
CU_ANY(cuMemPoolImportPointer, 11020)
CU_ANY(cuMipmappedArrayCreate, 5000)
CU_ANY(cuMipmappedArrayDestroy, 5000)
CU_ANY(cuMemGetInfo_v2, 3020)
CU_ASKS(cuMemGetAddressRange_v2, 3020)
CU_ASKS(cuMemHostGetDevicePointer_v2, 3020)
CU_ASKS(cuMemHostGetFlags, 2030)
CU_ANY(cuMemAdvise, 8000)
CU_ANY(cuMemAdvise_v2, 12020)
CU_PTSZ(cuMemPrefetchAsync, 8000, 5, BYTES(b); STREAM(d))
CU_PTSZ(cuMemPrefetchAsync_v2, 12020, 5, BYTES(b); STREAM(e))
CU_ASKS(cuMemRangeGetAttribute, 8000)
CU_ASKS(cuMemRangeGetAttributes, 8000)
CU_ASKS(cuPointerGetAttribute, 4000)
CU_ASKS(cuPointerGetAttributes, 7000)
CU_ANY(cuPointerSetAttribute, 6000)
CU_ANY(cuIpcGetMemHandle, 4010)
CU(cuIpcOpenMemHandle, 4010, 16, NOTHING)
CU(cuIpcOpenMemHandle_v2, 11000, 16, NOTHING)
CU_ANY(cuIpcCloseMemHandle, 4010)
CU_ANY(cuIpcGetEventHandle, 4010)
CU(cuIpcOpenEventHandle, 4010, 16, NOTHING)
/* clang-format on */
