/* SPDX-License-Identifier: Apache-2.0
 * The lines of metrics.log and timeline.log. Names are without ABI versions and per-thread forms,
 * and copies have their direction as seed 002 writes it. */
#pragma once

#include "inject/core/text.h"
#include "inject/cuda/driver.h"
#include "inject/cuda/memory.h"

/* Of the process's one log: for whoever holds its gate. */

struct CallSum {
  uint64_t count, ns;
};
/* `sums` is by place in the list of functions. */
void put_metrics(struct Text* text, struct CallSum* sums, uint32_t count,
                 const struct MemoryUse* use);
void put_line(struct Text* text, const struct Driver* driver, uint64_t start_ns, uint64_t ns,
              uint64_t bytes, uint32_t copy);
