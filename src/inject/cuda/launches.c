/* SPDX-License-Identifier: Apache-2.0
 * Launches of kernels, host functions and graphs. */
#include <string.h>

#include "inject/cuda/driver.h"
#include "inject/cuda/graphs.h"
#include "inject/cuda/names.h"

/* Numbers that were written one by one and are read two at a time would hold the processor up. */
#define TWO(low, high) ((uint64_t)(uint32_t)(low) | (uint64_t)(uint32_t)(high) << 32)

#define KERNEL(the_kernel, the_stream, x, y, z, block_x, block_y, block_z, bytes) \
  launch.kernel = (the_kernel);                                                   \
  launch.stream = (the_stream);                                                   \
  launch.shape[0] = TWO(x, y);                                                    \
  launch.shape[1] = TWO(z, block_x);                                              \
  launch.shape[2] = TWO(block_y, block_z);                                        \
  launch.shape[3] = TWO(bytes, 0)

/* CUlaunchConfig: grid, block and shared bytes, then the stream. */
struct LaunchConfig {
  uint32_t shape[7];
  Word stream;
};
static const struct LaunchConfig kNoConfig;
#define KERNEL_EX(config, kernel)                                        \
  const struct LaunchConfig* with =                                      \
      (config) != 0 ? (const struct LaunchConfig*)(config) : &kNoConfig; \
  const uint32_t* n = with->shape;                                       \
  KERNEL(kernel, with->stream, n[0], n[1], n[2], n[3], n[4], n[5], n[6])

static void about_kernel(struct About* about, Word kernel, Word stream) {
  const struct KernelName* name = name_of_kernel(kernel);
  about->name = name->text;
  about->name_length = name->length;
  about->has_context = about->has_stream = true;
  about->stream = stream;
}

#define KERNELS(function, since, count, ...)     \
  CU_KERNEL(function, since, count, __VA_ARGS__) \
  CU_KERNEL(function##_ptsz, since, count, __VA_ARGS__)
#define LAUNCH(function, since, count, ...)                          \
  CU_FULL(function, since, kLaunchCall, count, NOTHING, __VA_ARGS__) \
  CU_FULL(function##_ptsz, since, kLaunchCall, count, NOTHING, __VA_ARGS__)

/* clang-format off: a line each */
KERNELS(cuLaunchKernel, 4000, 11, KERNEL(a, i, b, c, d, e, f, g, h))
KERNELS(cuLaunchKernelEx, 11060, 4, KERNEL_EX(a, b))
KERNELS(cuLaunchCooperativeKernel, 9000, 11, KERNEL(a, i, b, c, d, e, f, g, h))
CU_FULL(cuLaunchCooperativeKernelMultiDevice, 9000, kLaunchCall, 3, NOTHING, CONTEXT)
CU_FULL(cuLaunch, 2000, kLaunchCall, 1, NOTHING, if (call.recorded) about_kernel(&about, a, 0))
CU_FULL(cuLaunchGrid, 2000, kLaunchCall, 3, NOTHING, if (call.recorded) about_kernel(&about, a, 0))
CU_FULL(cuLaunchGridAsync, 2000, kLaunchCall, 4, NOTHING,
        if (call.recorded) about_kernel(&about, a, d))
LAUNCH(cuLaunchHostFunc, 10000, 3, STREAM(a))
LAUNCH(cuGraphLaunch, 10000, 2, if (call.recorded) about_graph(&about, a); STREAM(b))
/* clang-format on */
