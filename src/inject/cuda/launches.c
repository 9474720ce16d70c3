/* SPDX-License-Identifier: Apache-2.0
 * Launches of kernels, host functions and graphs. */
#include <string.h>

#include "inject/cuda/driver.h"
#include "inject/cuda/graphs.h"
#include "inject/cuda/names.h"

static void about_kernel(struct About* about, Word kernel, Word stream, const uint32_t* shape) {
  const struct KernelName* name = name_of_kernel(kernel);
  about->name = name->text;
  about->name_length = name->length;
  about->has_context = about->has_stream = true;
  about->stream = stream;
  if (shape == NULL) return;
  about->has_shape = true;
  memcpy(about->shape, shape, sizeof about->shape);
}

#define KERNEL(kernel, stream, ...)                                 \
  do {                                                              \
    const uint32_t shape[7] = {__VA_ARGS__};                        \
    if (call.recorded) about_kernel(&about, kernel, stream, shape); \
  } while (0)

/* CUlaunchConfig: grid, block and shared bytes, then the stream. */
struct LaunchConfig {
  uint32_t shape[7];
  Word stream;
};
#define KERNEL_EX(config, kernel)                                                               \
  do {                                                                                          \
    const struct LaunchConfig* with = (const struct LaunchConfig*)(config);                     \
    if (call.recorded && with != NULL) about_kernel(&about, kernel, with->stream, with->shape); \
  } while (0)

#define LAUNCH(function, since, count, ...)                          \
  CU_FULL(function, since, kLaunchCall, count, NOTHING, __VA_ARGS__) \
  CU_FULL(function##_ptsz, since, kLaunchCall, count, NOTHING, __VA_ARGS__)
#define N(word) (uint32_t)(word)

/* clang-format off: a line each */
LAUNCH(cuLaunchKernel, 4000, 11, KERNEL(a, i, N(b), N(c), N(d), N(e), N(f), N(g), N(h)))
LAUNCH(cuLaunchKernelEx, 11060, 4, KERNEL_EX(a, b))
LAUNCH(cuLaunchCooperativeKernel, 9000, 11, KERNEL(a, i, N(b), N(c), N(d), N(e), N(f), N(g), N(h)))
CU_FULL(cuLaunchCooperativeKernelMultiDevice, 9000, kLaunchCall, 3, NOTHING, CONTEXT)
CU_FULL(cuLaunch, 2000, kLaunchCall, 1, NOTHING,
        if (call.recorded) about_kernel(&about, a, 0, NULL))
CU_FULL(cuLaunchGrid, 2000, kLaunchCall, 3, NOTHING,
        if (call.recorded) about_kernel(&about, a, 0, NULL))
CU_FULL(cuLaunchGridAsync, 2000, kLaunchCall, 4, NOTHING,
        if (call.recorded) about_kernel(&about, a, d, NULL))
LAUNCH(cuLaunchHostFunc, 10000, 3, STREAM(a))
LAUNCH(cuGraphLaunch, 10000, 2, if (call.recorded) about_graph(&about, a); STREAM(b))
/* clang-format on */
