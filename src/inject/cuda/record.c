/* SPDX-License-Identifier: Apache-2.0
 * A call that has ended, on its way into the spool. What is known of it beyond time and bytes is
 * one text, kept as the names of files are: the kernel or direction, then key=value, with tabs
 * between. The same call in a loop has the same text, which is found by a hash of its parts. */
#include <string.h>

#include "inject/core/files.h"
#include "inject/core/text.h"
#include "inject/cuda/alone.h"
#include "inject/cuda/context.h"
#include "inject/cuda/driver.h"

enum { kSlots = 16384, kFileBits = 24 };
static uint64_t texts[kSlots]; /* upper bits of the hash, then the number of the text */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

static void put_hex(struct Text* text, uint64_t number) {
  char digits[16];
  char* first = digits + sizeof digits;
  do {
    *--first = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  put(text, "0x");
  put_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

static void put_shape(struct Text* text, const char* key, const uint32_t* of) {
  put(text, key);
  for (int i = 0; i < 3; ++i) {
    if (i > 0) put(text, "x");
    put_number(text, of[i]);
  }
}

static uint32_t new_text(const struct About* about, struct Current current) {
  char buffer[2400];
  struct Text text = text_in(buffer, sizeof buffer);
  for (uint32_t i = 0; i < about->name_length; ++i)
    put_bytes(&text, about->name[i] == '\t' ? " " : &about->name[i], 1);
  if (about->has_context && current.context != 0) {
    put(&text, "\tdevice=");
    put_number(&text, (uint64_t)(current.device < 0 ? 0 : current.device));
    put(&text, "\tcontext=");
    put_hex(&text, current.context);
  }
  if (about->has_stream) {
    put(&text, "\tstream=");
    put_hex(&text, about->stream);
  }
  if (about->has_shape) {
    put_shape(&text, "\tgrid=", about->shape);
    put_shape(&text, "\tblock=", about->shape + 3);
    put(&text, "\tshared=");
    put_number(&text, about->shape[6]);
  }
  return file_named(buffer, (size_t)(text.at - buffer));
}

static uint32_t text_of(const struct About* about) {
  struct Current current = {0, -1};
  if (about->name_length == 0 && !about->has_context) return 0;
  if (about->has_context) current = current_context();
  uint64_t hash = mix((uint64_t)(uintptr_t)about->name, about->name_length);
  hash = mix(hash, current.context);
  hash = mix(hash,
             (uint64_t)(uint32_t)current.device << 32 | about->has_stream << 1 | about->has_shape);
  hash = mix(hash, about->stream);
  if (about->has_shape) {
    uint64_t words[3];
    memcpy(words, about->shape, sizeof words);
    hash = mix(mix(mix(hash, words[0]), words[1]), words[2]);
    hash = mix(hash, about->shape[6]);
  }
  uint64_t* slot = &texts[hash % kSlots];
  const uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (likely(known != 0 && known >> kFileBits == hash >> kFileBits))
    return (uint32_t)(known & ((1u << kFileBits) - 1));
  const uint32_t text = new_text(about, current);
  if (text != 0) __atomic_store_n(slot, hash >> kFileBits << kFileBits | text, __ATOMIC_RELAXED);
  return text;
}

void driver_end(const struct DriverCall* call, struct Driver* driver, int result,
                const struct About* about) {
  if (unlikely(!call->recorded)) {
    alone_end(driver, call->call.start_ticks, call->call.end_ticks, result, about);
    return;
  }
  const uint32_t flags = (about->has_bytes ? (uint32_t)kCallHasBytes : 0u) |
                         (result != 0 ? (uint32_t)kCallFailed : 0u);
  int64_t value = about->has_bytes && result == 0 ? (int64_t)about->bytes : 0;
  if (unlikely(fathom_sample_launches > 1) && driver->kind == kLaunchCall)
    value = (int64_t)launch_weight();
  call_end(&call->call, driver->site, text_of(about), value, flags, result);
}

void driver_note(struct CallSite* site, uint64_t start_ticks, const char* name, uint64_t value) {
  struct Call call;
  if (!call_begin(&call, site)) return;
  if (start_ticks != 0) call.start_ticks = start_ticks;
  call.end_ticks = call.start_ticks;
  call_end(&call, site, file_named(name, strlen(name)), (int64_t)value, kCallHasBytes, 0);
}
