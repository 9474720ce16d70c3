/* SPDX-License-Identifier: Apache-2.0
 * Known numbers of calls of the fake libraries, which it is linked to. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uintptr_t W;
struct Id {
  char bytes[128];
};
int cuInit(unsigned flags);
int ncclCommInitRank(W* comm, int ranks, struct Id id, int rank);
int ncclAllReduce(const void* from, void* to, size_t count, int type, int operation, W comm,
                  W stream);
int ncclCommDestroy(W comm);
int cublasGemmStridedBatchedEx(W handle, int a, int b, int m, int n, int k, const float* alpha,
                               W left, int left_type, int ld_left, long long left_stride, W right,
                               int right_type, int ld_right, long long right_stride,
                               const float* beta, W to, int to_type, int ld_to, long long stride,
                               int batches, int compute, int algorithm);
int cudnnBackendExecute(W handle, W plan, W pack);

int main(void) {
  struct Id id;
  W comm = 0;
  const float alpha = 1.5f, beta = 2.5f, from[100] = {1, 2, 3};
  float to[100] = {0};
  int wrong = cuInit(0);
  for (int i = 0; i < 128; ++i) id.bytes[i] = (char)(i * 3);
  wrong |= ncclCommInitRank(&comm, 2, id, 1);
  for (int i = 0; i < 7; ++i) wrong |= ncclAllReduce(from, to, 100, 7, 0, comm, 5);
  wrong |= ncclAllReduce(from, to, 100, 8, 0, comm, 5) != 4; /* refused */
  wrong |= ncclCommDestroy(comm);
  for (int i = 0; i < 5; ++i)
    wrong |= cublasGemmStridedBatchedEx(1, 2, 3, 64, 256, 128, &alpha, 8, 9, 10, 11, 12, 13, 14, 15,
                                        &beta, 17, 18, 19, -20, 21, 22, -1);
  for (int i = 0; i < 3; ++i) wrong |= cudnnBackendExecute(1, 2, 3);
  if (wrong != 0 || memcmp(from, to, sizeof to) != 0) fprintf(stderr, "an argument was lost\n");
  return wrong != 0 ? 1 : 7;
}
