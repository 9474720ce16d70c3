// SPDX-License-Identifier: Apache-2.0
// Known numbers of launches and bytes through the CUDA runtime: 17 launches of scale<float>, 5 copies
// to the device and 3 back, of 4,000 bytes each. Prints a sum.
#include <cstdio>
#include <vector>

template <class Number>
__global__ void scale(Number* values, int count, Number by) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] = values[i] * by + 1;
}

#define CHECK(call)                                                       \
  do {                                                                    \
    if (const cudaError_t failed = (call); failed != cudaSuccess) {       \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(failed)); \
      return 3;                                                           \
    }                                                                     \
  } while (false)

int main() {
  constexpr int kCount = 1000;
  std::vector<float> values(kCount, 1), back(kCount);
  float* there = nullptr;
  CHECK(cudaMalloc(&there, kCount * sizeof(float)));
  for (int i = 0; i < 5; ++i)
    CHECK(cudaMemcpy(there, values.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  for (int i = 0; i < 17; ++i) scale<<<(kCount + 127) / 128, 128>>>(there, kCount, 0.5F);
  CHECK(cudaGetLastError());
  for (int i = 0; i < 3; ++i)
    CHECK(cudaMemcpy(back.data(), there, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(there));
  double sum = 0;
  for (const float value : back) sum += value;
  std::printf("%.6f\n", sum);
  return 0;
}
