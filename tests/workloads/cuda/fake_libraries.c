/* SPDX-License-Identifier: Apache-2.0
 * A libnccl.so.2, libcublas.so.13 and libcudnn.so.9 in one, for tests: functions that check every
 * argument that they get, and launch something. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uintptr_t W;
int cuLaunchKernel(W kernel, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c,
                   unsigned shared, W stream, void** arguments, void** extra);
struct Id {
  char bytes[128];
};

static int launch(W stream) {
  uint64_t sum = 0, *where = &sum;
  void* arguments[] = {&where};
  return cuLaunchKernel((W) "within", 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

int ncclCommInitRank(W* comm, int ranks, struct Id id, int rank) {
  for (int i = 0; i < 128; ++i)
    if (id.bytes[i] != (char)(i * 3)) return 4;
  return ranks == 2 && rank == 1 ? (*comm = 77, 0) : 4;
}
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, W comm,
                  W stream) {
  if (comm != 77 || type != 7 || operation != 0 || stream != 5) return 4;
  memcpy(to, from, count * 4);
  return launch(0);
}
int ncclCommDestroy(W comm) { return comm == 77 ? 0 : 4; }

int cublasGemmStridedBatchedEx(W handle, int a, int b, int m, int n, int k, const float* alpha,
                               W left, int left_type, int ld_left, long long left_stride, W right,
                               int right_type, int ld_right, long long right_stride,
                               const float* beta, W to, int to_type, int ld_to, long long stride,
                               int batches, int compute, int algorithm) {
  const int right_words = handle == 1 && a == 2 && b == 3 && m == 64 && n == 256 && k == 128 &&
                          *alpha == 1.5f && left == 8 && left_type == 9 && ld_left == 10 &&
                          left_stride == 11 && right == 12 && right_type == 13 && ld_right == 14 &&
                          right_stride == 15 && *beta == 2.5f && to == 17 && to_type == 18 &&
                          ld_to == 19 && stride == -20 && batches == 21 && compute == 22 &&
                          algorithm == -1;
  return right_words ? launch(0) : 7;
}
int cudnnBackendExecute(W handle, W plan, W pack) {
  return handle == 1 && plan == 2 && pack == 3 ? launch(0) : 9;
}
