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
#include "inject/cuda/mix.h"
#include "inject/cuda/names.h"

uint64_t fathom_texts[kTextSlots];

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

static uint32_t part_of(const uint64_t* shape, int i) {
  return (uint32_t)(shape[i / 2] >> (i % 2 * 32));
}

static void put_shape(struct Text* text, const char* key, const uint64_t* shape, int first) {
  put(text, key);
  for (int i = 0; i < 3; ++i) {
    if (i > 0) put(text, "x");
    put_number(text, part_of(shape, first + i));
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
    put_shape(&text, "\tgrid=", about->shape, 0);
    put_shape(&text, "\tblock=", about->shape, 3);
    put(&text, "\tshared=");
    put_number(&text, part_of(about->shape, 6));
  }
  return file_named(buffer, (size_t)(text.at - buffer));
}

static uint32_t text_of(const struct About* about) {
  struct Current current = {0, -1};
  if (about->name_length == 0 && !about->has_context) return 0;
  if (about->has_context) current = current_context();
  const uint64_t marks = (uint64_t)(uint32_t)current.device << 32 |
                         (uint64_t)about->has_stream << 1 | about->has_shape;
  uint64_t hash = mix((uint64_t)(uintptr_t)about->name + about->name_length, current.context) +
                  mix(about->stream, marks);
  if (about->has_shape)
    hash += mix(about->shape[0], about->shape[1] + 1) + mix(about->shape[2], about->shape[3] + 3);
  hash = mix(hash, hash >> 32);
  uint64_t* slot = &fathom_texts[hash % kTextSlots];
  const uint32_t known = text_in_slot(slot, hash);
  if (likely(known != 0)) return known;
  const uint32_t text = new_text(about, current);
  put_in_slot(slot, hash, text);
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

static __attribute__((noinline)) uint32_t new_launch_text(const struct Launch* launch) {
  const struct KernelName* name = name_of_kernel(launch->kernel);
  struct About about = {.name = name->text,
                        .name_length = name->length,
                        .stream = launch->stream,
                        .has_stream = true,
                        .has_shape = true,
                        .has_context = true};
  memcpy(about.shape, launch->shape, sizeof about.shape);
  return text_of(&about);
}

/* As text_of, with the kernel's handle instead of its name; the names' generation tells whether it
 * is still the same. From then on the thread is quick, for as long as all that holds. */
static uint32_t launch_text(const struct Launch* launch) {
  const uint64_t number = __atomic_load_n(&fathom_core.epoch[1], __ATOMIC_ACQUIRE);
  const uint64_t names = __atomic_load_n(&fathom_names, __ATOMIC_ACQUIRE);
  const struct Current current = current_context();
  const uint64_t mark =
      mix(current.context, (uint64_t)(uint32_t)current.device << 32 | (uint32_t)names << 2 | 1);
  const uint64_t hash = launch_hash(mark, launch);
  uint64_t* slot = &fathom_texts[hash % kTextSlots];
  uint32_t text = text_in_slot(slot, hash);
  if (unlikely(text == 0)) {
    text = new_launch_text(launch);
    put_in_slot(slot, hash, text);
  }
  if (current.context != 0 && fathom_sample_launches <= 1) be_quick(&fathom_thread, number, mark);
  return text;
}

void launch_end_slowly(const struct Call* call, struct Driver* driver, int result, uint32_t text) {
  int64_t value = 0;
  if (unlikely(fathom_sample_launches > 1)) value = (int64_t)launch_weight();
  call_end(call, driver->site, text, value, result != 0 ? (uint32_t)kCallFailed : 0u, result);
}

void launch_end(const struct DriverCall* call, struct Driver* driver, int result,
                const struct Launch* launch) {
  if (unlikely(!call->recorded)) {
    alone_launched(driver, call->call.start_ticks);
    return;
  }
  launch_end_slowly(&call->call, driver, result, launch_text(launch));
}

HOT_DATA uint32_t fathom_time_queries;
HOT_CODE void driver_count(struct Driver* driver, int result) {
  if (unlikely(fathom_alone))
    alone_count(driver);
  else if (unlikely(result != 0) || unlikely(!count_shortly(driver->number)))
    (void)call_count(driver->site, 0, result != 0);
}

void driver_note(struct CallSite* site, uint64_t start_ticks, const char* name, uint64_t value) {
  struct Call call;
  if (!call_begin(&call, site)) return;
  if (start_ticks != 0) call.start_ticks = start_ticks;
  call.end_ticks = call.start_ticks;
  call_end(&call, site, file_named(name, strlen(name)), (int64_t)value, kCallHasBytes, 0);
}
