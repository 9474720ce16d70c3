/* SPDX-License-Identifier: Apache-2.0
 * Copies and sets. */
#include "inject/cuda/driver.h"

static const char* const kDirections[] = {
    "", "host to host", "host to device", "device to host", "device to device", "copy"};

static void about_copy(struct About* about, uint32_t kind, bool say_kind, uint64_t bytes) {
  about->name = kDirections[kind];
  about->name_length = (uint32_t)__builtin_strlen(kDirections[kind]);
  about->has_context = about->has_bytes = true;
  about->bytes = bytes;
  if (say_kind) about->copy = kind;
}

/* Whether an address is on a device, as the driver knows it; one that it does not know is the
 * host's. */
static bool is_on_device(Word address) {
  enum { kMemoryType = 2, kHost = 1 };
  typedef int AttributeFunction(void* to, uint32_t attribute, Word address);
  static AttributeFunction* get_attribute;
  uint32_t type = kHost;
  if (get_attribute == NULL)
    get_attribute = (AttributeFunction*)driver_function("cuPointerGetAttribute");
  return get_attribute != NULL && get_attribute(&type, kMemoryType, address) == 0 && type != kHost;
}

static void about_any_copy(struct About* about, Word to, Word from, uint64_t bytes) {
  const bool there = is_on_device(to), here = is_on_device(from);
  about_copy(about, kHostToHost + (there ? 1u : 0u) + (here ? 2u : 0u), true, bytes);
}

static uint32_t kind_of(uint32_t from, uint32_t to) {
  enum { kHost = 1, kUnified = 4 };
  if (from == kUnified || to == kUnified || from == 0 || to == 0) return kUnknownCopy;
  return kHostToHost + (to != kHost ? 1u : 0u) + (from != kHost ? 2u : 0u);
}

/* CUDA_MEMCPY2D and CUDA_MEMCPY3D, as far as they are read here. */
struct Copy2D {
  size_t from_x, from_y;
  uint32_t from_type;
  Word from[4];
  size_t to_x, to_y;
  uint32_t to_type;
  Word to[4];
  size_t width, height;
};
struct Copy3D {
  size_t from_place[4];
  uint32_t from_type;
  Word from[6];
  size_t to_place[4];
  uint32_t to_type;
  Word to[6];
  size_t width, height, depth;
};

static void about_copy_2d(struct About* about, Word of) {
  const struct Copy2D* copy = (const struct Copy2D*)of;
  if (copy == NULL) return;
  about_copy(about, kind_of(copy->from_type, copy->to_type), true, copy->width * copy->height);
}
static void about_copy_3d(struct About* about, Word of) {
  const struct Copy3D* copy = (const struct Copy3D*)of;
  if (copy == NULL) return;
  about_copy(about, kind_of(copy->from_type, copy->to_type), true,
             copy->width * copy->height * copy->depth);
}
static void about_batch(struct About* about, Word sizes, Word count) {
  uint64_t bytes = 0;
  for (size_t i = 0; sizes != 0 && i < count; ++i) bytes += ((const size_t*)sizes)[i];
  about_copy(about, kUnknownCopy, true, bytes);
}

#define COPY(function, since, count, ...) \
  CU_FULL(function, since, kCopyCall, count, NOTHING, __VA_ARGS__)
#define COPY_DS(function, since, count, ...) \
  COPY(function, since, count, __VA_ARGS__)  \
  COPY(function##_ptds, since, count, __VA_ARGS__)
#define COPY_SZ(function, since, count, ...) \
  COPY(function, since, count, __VA_ARGS__)  \
  COPY(function##_ptsz, since, count, __VA_ARGS__)
#define H2D(bytes) about_copy(&about, kHostToDevice, false, bytes)
#define D2H(bytes) about_copy(&about, kDeviceToHost, false, bytes)
#define D2D(bytes) about_copy(&about, kDeviceToDevice, false, bytes)

/* clang-format off: a line each */
COPY_DS(cuMemcpy, 4000, 3, about_any_copy(&about, a, b, c))
COPY_SZ(cuMemcpyAsync, 4000, 4, about_any_copy(&about, a, b, c); STREAM(d))
COPY_DS(cuMemcpyPeer, 4000, 5, D2D(e))
COPY_SZ(cuMemcpyPeerAsync, 4000, 6, D2D(e); STREAM(f))
COPY_DS(cuMemcpyHtoD_v2, 3020, 3, H2D(c))
COPY_SZ(cuMemcpyHtoDAsync_v2, 3020, 4, H2D(c); STREAM(d))
COPY_DS(cuMemcpyDtoH_v2, 3020, 3, D2H(c))
COPY_SZ(cuMemcpyDtoHAsync_v2, 3020, 4, D2H(c); STREAM(d))
COPY_DS(cuMemcpyDtoD_v2, 3020, 3, D2D(c))
COPY_SZ(cuMemcpyDtoDAsync_v2, 3020, 4, D2D(c); STREAM(d))
COPY_DS(cuMemcpyDtoA_v2, 3020, 4, D2D(d))
COPY_DS(cuMemcpyAtoD_v2, 3020, 4, D2D(d))
COPY_DS(cuMemcpyHtoA_v2, 3020, 4, H2D(d))
COPY_DS(cuMemcpyAtoH_v2, 3020, 4, D2H(d))
COPY_DS(cuMemcpyAtoA_v2, 3020, 5, D2D(e))
COPY_SZ(cuMemcpyHtoAAsync_v2, 3020, 5, H2D(d); STREAM(e))
COPY_SZ(cuMemcpyAtoHAsync_v2, 3020, 5, D2H(d); STREAM(e))
COPY_DS(cuMemcpy2D_v2, 3020, 1, about_copy_2d(&about, a))
COPY_DS(cuMemcpy2DUnaligned_v2, 3020, 1, about_copy_2d(&about, a))
COPY_SZ(cuMemcpy2DAsync_v2, 3020, 2, about_copy_2d(&about, a); STREAM(b))
COPY_DS(cuMemcpy3D_v2, 3020, 1, about_copy_3d(&about, a))
COPY_SZ(cuMemcpy3DAsync_v2, 3020, 2, about_copy_3d(&about, a); STREAM(b))
COPY_DS(cuMemcpy3DPeer, 4000, 1, about_copy_3d(&about, a))
COPY_SZ(cuMemcpy3DPeerAsync, 4000, 2, about_copy_3d(&about, a); STREAM(b))
COPY_SZ(cuMemcpyBatchAsync, 12080, 9, about_batch(&about, c, d); STREAM(i))
COPY_SZ(cuMemcpyBatchAsync_v2, 13000, 9, about_batch(&about, c, d); STREAM(h))
COPY_SZ(cuMemcpy3DBatchAsync, 12080, 5, STREAM(e))
COPY_SZ(cuMemcpy3DBatchAsync_v2, 13000, 5, STREAM(d))
CU_PTDS(cuMemsetD8_v2, 3020, 3, BYTES(c); CONTEXT)
CU_PTDS(cuMemsetD16_v2, 3020, 3, BYTES(c * 2); CONTEXT)
CU_PTDS(cuMemsetD32_v2, 3020, 3, BYTES(c * 4); CONTEXT)
CU_PTDS(cuMemsetD2D8_v2, 3020, 5, BYTES(d* e); CONTEXT)
CU_PTDS(cuMemsetD2D16_v2, 3020, 5, BYTES(d* e * 2); CONTEXT)
CU_PTDS(cuMemsetD2D32_v2, 3020, 5, BYTES(d* e * 4); CONTEXT)
CU_PTSZ(cuMemsetD8Async, 3020, 4, BYTES(c); STREAM(d))
CU_PTSZ(cuMemsetD16Async, 3020, 4, BYTES(c * 2); STREAM(d))
CU_PTSZ(cuMemsetD32Async, 3020, 4, BYTES(c * 4); STREAM(d))
CU_PTSZ(cuMemsetD2D8Async, 3020, 6, BYTES(d* e); STREAM(f))
CU_PTSZ(cuMemsetD2D16Async, 3020, 6, BYTES(d* e * 2); STREAM(f))
CU_PTSZ(cuMemsetD2D32Async, 3020, 6, BYTES(d* e * 4); STREAM(f))
/* clang-format on */
