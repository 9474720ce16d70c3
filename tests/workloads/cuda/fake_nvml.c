/* SPDX-License-Identifier: Apache-2.0
 * A libnvidia-ml.so.1 with two GPUs that say odd, known things, for tests. */
#include <stdint.h>

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* to) { return *to = 2, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned n, void** to) {
  return *to = (void*)(uintptr_t)(n + 1), 0;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned to[2]) {
  return to[0] = 37 + (unsigned)(uintptr_t)device, to[1] = 11, 0;
}
int nvmlDeviceGetMemoryInfo(void* device, uint64_t to[3]) {
  return (void)device, to[0] = 1000003, to[1] = 3, to[2] = 1000000, 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* to) { return (void)device, *to = 123457, 0; }
int nvmlDeviceGetTemperature(void* device, unsigned kind, unsigned* to) {
  return (void)device, *to = 41, kind == 0 ? 0 : 2;
}
int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* to) {
  return (void)device, *to = 1980 + kind, 0;
}
int nvmlDeviceGetPcieThroughput(void* device, unsigned kind, unsigned* to) {
  return (void)device, *to = 7 + kind, 0;
}
struct Info {
  unsigned pid;
  uint64_t used;
  unsigned instance, compute;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct Info* to) {
  *count = (uintptr_t)device == 1 ? 1 : 0;
  if (*count == 1) to[0] = (struct Info){4242, 777, 0, 0};
  return 0;
}
/* Only the first has links. Each time it is asked, a second has passed by its clock. */
struct Field {
  unsigned field, scope;
  int64_t time_us, latency_us;
  unsigned type;
  int failed;
  uint64_t value;
};
int nvmlDeviceGetFieldValues(void* device, int count, struct Field* fields) {
  static uint64_t asked;
  if ((uintptr_t)device == 1) ++asked;
  for (int i = 0; i < count; ++i) {
    fields[i].failed = (uintptr_t)device != 1 || fields[i].scope != UINT32_MAX ? 3 : 0;
    fields[i].time_us = (int64_t)(asked * 1000000);
    fields[i].type = 3;
    fields[i].value = 5000 + asked * (fields[i].field == 138 ? 7 : 9);
  }
  return 0;
}
