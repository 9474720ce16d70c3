/* SPDX-License-Identifier: Apache-2.0
 * A libcupti.so.13 for tests: when it is flushed, it tells of kernels, copies and a set of known
 * lengths, in records laid out as the real one's. What a call of cuda_known asked for begins a
 * known time after the last such call, which the fake driver remembers. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef void Wanted(uint8_t** buffer, size_t* bytes, size_t* most);
typedef void Filled(void* context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t valid);
static Wanted* wanted;
static Filled* filled;
static uint32_t kinds;
struct Asked {
  uint64_t wanted, kernel_ns, graph_ns, copy_ns, set_ns;
};
static struct Asked* asked;
static uint64_t enabled_ns;
enum { kRecord = 256, kRecords = 9 };

int cuptiActivityRegisterCallbacks(Wanted* first, Filled* second) {
  return wanted = first, filled = second, 0;
}
int cuptiGetTimestamp(uint64_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return *to = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, 0;
}
int cuptiActivityEnable(uint32_t kind) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  asked = driver != NULL ? (struct Asked*)dlsym(driver, "fake_asked") : NULL;
  if (asked == NULL) return 2;
  asked->wanted = 1;
  cuptiGetTimestamp(&enabled_ns);
  return kinds |= 1u << kind, 0;
}
int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  uint8_t* next = *record == NULL ? buffer : (uint8_t*)*record + kRecord;
  if (next + kRecord > buffer + valid) return 12;
  return *record = next, 0;
}

static void put(uint8_t* record, uint32_t at, uint64_t value, uint32_t bytes) {
  memcpy(record + at, &value, bytes);
}
static void kernel(uint8_t* record, uint64_t start, uint64_t length) {
  static const char kName[] = "on_the_device";
  put(record, 0, 10, 4);
  put(record, 6, 24, 2);
  put(record, 16, start, 8);
  put(record, 24, start + length, 8);
  put(record, 40, 1, 4);
  put(record, 48, 7, 4);
  for (uint32_t i = 0; i < 6; ++i) put(record, 52 + 4 * i, i + 1, 4);
  put(record, 104, (uint64_t)(uintptr_t)kName, 8);
}
/* As a launch of cuda_known has it, or the graph that it captured. */
static void known(uint8_t* record, uint64_t start, uint32_t correlation, int in_graph) {
  static const char kName[] = "fathom_add";
  static const uint32_t kShapes[2][6] = {{3, 2, 1, 32, 4, 1}, {1, 1, 1, 32, 1, 1}};
  kernel(record, start, 100);
  for (uint32_t i = 0; i < 6; ++i) put(record, 52 + 4 * i, kShapes[in_graph][i], 4);
  put(record, 92, correlation, 4);
  put(record, 104, (uint64_t)(uintptr_t)kName, 8);
  put(record, 144, in_graph ? 9 : 0, 8);
}
static void move(uint8_t* record, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t length) {
  put(record, 0, kind, 4);
  put(record, 4, 1, 1);
  put(record, 8, bytes, 8);
  put(record, 16, start, 8);
  put(record, 24, start + length, 8);
}

int cuptiActivityFlushAll(uint32_t flags) {
  uint8_t* buffer = NULL;
  size_t bytes = 0, most = 0;
  if (flags == 0) return 0; /* nothing is done yet */
  if (flags != 1 || kinds != (1u << 10 | 1u << 1 | 1u << 2)) return 1;
  wanted(&buffer, &bytes, &most);
  if (buffer == NULL || bytes < kRecords * kRecord) return 2;
  memset(buffer, 0, kRecords * kRecord);
  const uint64_t queued_ns =
      asked->graph_ns > asked->kernel_ns ? asked->graph_ns : asked->kernel_ns;
  kernel(buffer, enabled_ns - 9000000, 1234567);
  kernel(buffer + kRecord, enabled_ns - 5000000, 65433);
  move(buffer + 2 * kRecord, 1, 40960, enabled_ns - 4000000, 4096);
  move(buffer + 3 * kRecord, 2, 99, asked->set_ns + 700, 11);
  known(buffer + 4 * kRecord, queued_ns + 2000, 6, 0); /* what runs overtakes */
  known(buffer + 5 * kRecord, queued_ns + 1000, 5, 0);
  known(buffer + 6 * kRecord, queued_ns + 3000, 7, 1);
  known(buffer + 7 * kRecord, queued_ns + 3200, 7, 1);
  move(buffer + 8 * kRecord, 1, 257, asked->copy_ns + 1000, 50);
  filled(NULL, 0, buffer, bytes, kRecords * kRecord);
  return 0;
}
