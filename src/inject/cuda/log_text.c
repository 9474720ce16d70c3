/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/log_text.h"

static const char* const kFirst[] = {"cuInit",          "cuMemAlloc",  "cuMemFree",
                                     "cuLaunchKernel",  "cuMemcpyH2D", "cuMemcpyD2H",
                                     "cuGetProcAddress"};
enum { kFirstCount = sizeof kFirst / sizeof *kFirst, kNameBytes = 96 };

static bool cut(char* name, struct Text* text, const char* suffix) {
  const size_t length = (size_t)(text->at - name), end = strlen(suffix);
  if (length <= end || memcmp(text->at - end, suffix, end) != 0) return false;
  text->at -= end;
  *text->at = 0;
  return true;
}

static void printed_name(const struct Driver* driver, char* name) {
  struct Text text = text_in(name, kNameBytes);
  put(&text, driver->site->name);
  (void)(cut(name, &text, "_ptsz") || cut(name, &text, "_ptds"));
  (void)(cut(name, &text, "_v2") || cut(name, &text, "_v3") || cut(name, &text, "_v4"));
  char* to = strstr(name, "HtoD");
  if (to == NULL) to = strstr(name, "DtoH");
  if (to == NULL) return;
  to[1] = '2';
  memmove(to + 2, to + 3, strlen(to + 3) + 1);
}

static void put_sum(struct Text* text, const char* name, const struct CallSum* sum) {
  put(text, "name:");
  put(text, name);
  put(text, ",count:");
  put_number(text, sum->count);
  put(text, ",burst:");
  put_number(text, sum->ns / 1000);
  put(text, "\n");
}

/* Adds the sums of all functions of this name to `to`, and takes them away. */
static void collect(struct CallSum* sums, uint32_t count, const char* name, struct CallSum* to) {
  for (uint32_t i = 0; i < count; ++i) {
    char other[kNameBytes];
    if (sums[i].count == 0) continue;
    printed_name(&__start_fathom_driver[i], other);
    if (strcmp(other, name) != 0) continue;
    to->count += sums[i].count;
    to->ns += sums[i].ns;
    sums[i].count = 0;
  }
}

void put_metrics(struct Text* text, struct CallSum* sums, uint32_t count,
                 const struct MemoryUse* use) {
  uint64_t in_use = 0, peak = 0;
  for (int i = 0; i < kMostDevices; ++i) {
    in_use += use->in_use[i];
    peak += use->peak[i];
  }
  put(text, "name:mem_used,count:");
  put_number(text, in_use);
  put(text, "\n");
  for (int i = 0; i < kFirstCount; ++i) {
    struct CallSum sum = {0, 0};
    collect(sums, count, kFirst[i], &sum);
    put_sum(text, kFirst[i], &sum);
  }
  for (uint32_t i = 0; i < count; ++i) {
    char name[kNameBytes];
    struct CallSum sum = {0, 0};
    if (sums[i].count == 0) continue;
    printed_name(&__start_fathom_driver[i], name);
    collect(sums, count, name, &sum);
    put_sum(text, name, &sum);
  }
  put(text, "name:mem_peak,count:");
  put_number(text, peak);
  put(text, "\n");
}

void put_line(struct Text* text, const struct Driver* driver, uint64_t start_ns, uint64_t ns,
              const struct About* about) {
  char name[kNameBytes];
  printed_name(driver, name);
  put(text, "name:");
  put(text, name);
  put(text, ", start:");
  put_number(text, start_ns);
  put(text, ", burst:");
  put_number(text, ns / 1000);
  put(text, ", bytes:");
  put_number(text, about->bytes);
  if (driver->kind == kCopyCall && about->copy != kNoCopy) {
    put(text, ", kind:");
    if (about->copy == kUnknownCopy)
      put(text, "-1");
    else
      put_number(text, about->copy - kHostToHost);
  }
  put(text, "\n");
}
