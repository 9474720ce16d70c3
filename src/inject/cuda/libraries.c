/* SPDX-License-Identifier: Apache-2.0
 * Calls of NVIDIA's libraries above the driver, as ranges by their names: a line each. They return
 * a status (0: success) and take whole registers or stack slots, as the driver's functions do; what
 * takes numbers in floating-point registers is left alone. Only those are seen that the program is
 * linked to, and only by the recorder: the logs of seed 002 have none. */
#include "inject/core/files.h"
#include "inject/core/real.h"
#include "inject/core/text.h"
#include "inject/cuda/driver.h"

#define P24                                                                                        \
  (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k, Word l, \
   Word m, Word n, Word o, Word p, Word q, Word r, Word s, Word t, Word u, Word v, Word w, Word x)
#define G24 (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
enum { kNotThere = 1 /* to all of them an error */ };

static bool find_real(void** real, const char* name) {
  void* found = find_next_function(name);
  if (found != NULL) __atomic_store_n(real, found, __ATOMIC_RELEASE);
  return found != NULL;
}

static void end(struct Call* call, const struct CallSite* site, int result, uint32_t file,
                uint64_t bytes, bool has_bytes) {
  const uint32_t flags =
      (has_bytes ? (uint32_t)kCallHasBytes : 0u) | (result != 0 ? (uint32_t)kCallFailed : 0u);
  call_end(call, site, file, has_bytes && result == 0 ? (int64_t)bytes : 0, flags, result);
}

/* Bytes of so many elements of an ncclDataType_t. */
static uint64_t nccl_bytes(Word count, Word type) {
  static const uint8_t kBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  const uint32_t number = (uint32_t)type;
  return number < sizeof kBytes ? (uint64_t)count * kBytes[number] : 0;
}

static uint32_t new_product_shape(Word m, Word n, Word k) {
  char buffer[96];
  struct Text text = text_in(buffer, sizeof buffer);
  put(&text, "\tm=");
  put_number(&text, (uint32_t)m);
  put(&text, "\tn=");
  put_number(&text, (uint32_t)n);
  put(&text, "\tk=");
  put_number(&text, (uint32_t)k);
  return file_named(buffer, (size_t)(text.at - buffer));
}

static uint32_t product_shape(Word m, Word n, Word k) {
  const uint64_t hash =
      mix(mix((uint32_t)m | (uint64_t)(uint32_t)n << 32, 0x6d6e6b), (uint64_t)(uint32_t)k + 1);
  uint64_t* slot = &fathom_texts[hash % kTextSlots];
  uint32_t text = text_in_slot(slot, hash);
  if (unlikely(text == 0)) {
    text = new_product_shape(m, n, k);
    put_in_slot(slot, hash, text);
  }
  return text;
}

#define RANGE_FULL(function, count, file, bytes, has_bytes)                           \
  FATHOM_EXPORT int function P##count;                                                \
  CALL_SITE(function);                                                                \
  static void* real_##function;                                                       \
  int function P##count {                                                             \
    struct Call call;                                                                 \
    if (unlikely(real_##function == NULL) && !find_real(&real_##function, #function)) \
      return kNotThere;                                                               \
    const bool recorded = call_begin(&call, &site_##function);                        \
    const int result = ((int(*) P##count)real_##function)G##count;                    \
    if (unlikely(!recorded)) return result;                                           \
    call_stop(&call);                                                                 \
    end(&call, &site_##function, result, file, bytes, has_bytes);                     \
    return result;                                                                    \
  }
#define RANGE(function, count) RANGE_FULL(function, count, 0, 0, false)
#define COLLECTIVE(function, elements, type) \
  RANGE_FULL(function, 8, 0, nccl_bytes(elements, type), true)
#define PRODUCT(function, count, m, n, k) \
  RANGE_FULL(function, count, product_shape(m, n, k), 0, false)

/* clang-format off: a line each */
COLLECTIVE(ncclAllReduce, c, d)
COLLECTIVE(ncclReduce, c, d)
COLLECTIVE(ncclBroadcast, c, d)
COLLECTIVE(ncclBcast, b, c)
COLLECTIVE(ncclAllGather, c, d)
COLLECTIVE(ncclReduceScatter, c, d)
COLLECTIVE(ncclSend, b, c)
COLLECTIVE(ncclRecv, b, c)
RANGE(ncclGroupStart, 1)
RANGE(ncclGroupEnd, 1)
RANGE(ncclCommInitRank, 24)
RANGE(ncclCommInitRankConfig, 24)
RANGE(ncclCommInitAll, 4)
RANGE(ncclCommSplit, 8)
RANGE(ncclCommFinalize, 1)
RANGE(ncclCommDestroy, 1)
RANGE(ncclCommAbort, 1)
RANGE(cublasCreate_v2, 1)
RANGE(cublasDestroy_v2, 1)
PRODUCT(cublasSgemm_v2, 16, d, e, f)
PRODUCT(cublasDgemm_v2, 16, d, e, f)
PRODUCT(cublasCgemm_v2, 16, d, e, f)
PRODUCT(cublasZgemm_v2, 16, d, e, f)
PRODUCT(cublasHgemm, 16, d, e, f)
PRODUCT(cublasSgemmEx, 24, d, e, f)
PRODUCT(cublasGemmEx, 24, d, e, f)
PRODUCT(cublasSgemmBatched, 16, d, e, f)
PRODUCT(cublasDgemmBatched, 16, d, e, f)
PRODUCT(cublasSgemmStridedBatched, 24, d, e, f)
PRODUCT(cublasDgemmStridedBatched, 24, d, e, f)
PRODUCT(cublasHgemmStridedBatched, 24, d, e, f)
PRODUCT(cublasGemmBatchedEx, 24, d, e, f)
PRODUCT(cublasGemmStridedBatchedEx, 24, d, e, f)
RANGE(cublasSgemv_v2, 16)
RANGE(cublasDgemv_v2, 16)
RANGE(cublasStrsm_v2, 16)
RANGE(cublasDtrsm_v2, 16)
RANGE(cublasSdot_v2, 8)
RANGE(cublasSaxpy_v2, 8)
RANGE(cublasLtCreate, 1)
RANGE(cublasLtDestroy, 1)
RANGE(cublasLtMatmul, 16)
RANGE(cublasLtMatmulAlgoGetHeuristic, 11)
RANGE(cudnnCreate, 1)
RANGE(cudnnDestroy, 1)
RANGE(cudnnBackendFinalize, 1)
RANGE(cudnnBackendExecute, 3)
RANGE(cudnnConvolutionForward, 16)
RANGE(cudnnConvolutionBackwardData, 16)
RANGE(cudnnConvolutionBackwardFilter, 16)
RANGE(cudnnConvolutionBiasActivationForward, 24)
RANGE(cudnnActivationForward, 8)
RANGE(cudnnActivationBackward, 16)
RANGE(cudnnPoolingForward, 8)
RANGE(cudnnPoolingBackward, 16)
RANGE(cudnnSoftmaxForward, 9)
RANGE(cudnnSoftmaxBackward, 16)
RANGE(cudnnDropoutForward, 8)
RANGE(cudnnDropoutBackward, 8)
RANGE(cudnnRNNForward, 24)
/* clang-format on */
