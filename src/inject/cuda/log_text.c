/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/cuda/log_text.h"

#include "inject/cuda/unknown.h"

static const char* const kFirst[] = {"cuInit",          "cuMemAlloc",  "cuMemFree",
                                     "cuLaunchKernel",  "cuMemcpyH2D", "cuMemcpyD2H",
                                     "cuGetProcAddress"};
enum { kFirstCount = sizeof kFirst / sizeof *kFirst, kNameBytes = 96, kMostNames = 640 };

static bool cut(char* name, struct Text* text, const char* suffix) {
  const size_t length = (size_t)(text->at - name), end = strlen(suffix);
  if (length <= end || memcmp(text->at - end, suffix, end) != 0) return false;
  text->at -= end;
  *text->at = 0;
  return true;
}

static void make_name(const struct Driver* driver, char* name) {
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

static const char* printed_name(const struct Driver* driver) {
  static char names[kMostNames][kNameBytes];
  const uint32_t index = (uint32_t)(driver - __start_fathom_driver);
  char* name = names[index < kMostNames ? index : kMostNames - 1];
  if (unlikely(*name == 0 || index >= kMostNames - 1)) make_name(driver, name);
  return name;
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
    if (sums[i].count == 0 || strcmp(printed_name(&__start_fathom_driver[i]), name) != 0) continue;
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
    struct CallSum sum = {0, 0};
    if (sums[i].count == 0) continue;
    const char* name = printed_name(&__start_fathom_driver[i]);
    collect(sums, count, name, &sum);
    put_sum(text, name, &sum);
  }
  unknown_put_counts(text);
  put(text, "name:mem_peak,count:");
  put_number(text, peak);
  put(text, "\n");
}

/* Writes a number so that it ends before `end`, two digits at a time; where it begins. */
static char* write_number(char* end, uint64_t number) {
  static const char kPairs[] =
      "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
      "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
      "9293949596979899";
  while (number >= 100) {
    end -= 2;
    memcpy(end, &kPairs[number % 100 * 2], 2);
    number /= 100;
  }
  end -= number >= 10 ? 2 : 1;
  if (number >= 10)
    memcpy(end, &kPairs[number * 2], 2);
  else
    *end = (char)('0' + number);
  return end;
}

static char* append(char* at, const char* bytes, size_t count) {
  memcpy(at, bytes, count);
  return at + count;
}
#define APPEND(at, literal) append(at, literal, sizeof literal - 1)

static char* append_number(char* at, uint64_t number) {
  char digits[24];
  const char* first = write_number(digits + sizeof digits, number);
  return append(at, first, (size_t)(digits + sizeof digits - first));
}

/* Many of them are written at once. */
void put_line(struct Text* text, const struct Driver* driver, uint64_t start_ns, uint64_t ns,
              uint64_t bytes, uint32_t copy) {
  const char* name = printed_name(driver);
  char line[kNameBytes + 160];
  char* at = APPEND(line, "name:");
  at = append(at, name, strlen(name));
  at = append_number(APPEND(at, ", start:"), start_ns);
  at = append_number(APPEND(at, ", burst:"), ns / 1000);
  at = append_number(APPEND(at, ", bytes:"), bytes);
  if (driver->kind == kCopyCall && copy != kNoCopy) {
    at = APPEND(at, ", kind:");
    at = copy == kUnknownCopy ? APPEND(at, "-1") : append_number(at, copy - kHostToHost);
  }
  at = APPEND(at, "\n");
  put_bytes(text, line, (size_t)(at - line));
}
