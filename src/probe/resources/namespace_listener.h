// SPDX-License-Identifier: Apache-2.0
// Passes task events on, and adds the ids that new tasks have inside their pid namespace to those
// that all probes of a run share. Recorder thread only.
#pragma once

#include "launch/inner_ids.h"
#include "probe/resources/task_source.h"

namespace fathom {

class NamespaceListener final : public TaskListener {
 public:
  NamespaceListener(TaskListener& next, InnerIds& ids) : next_(next), ids_(ids) {}
  void on_task(const TaskEvent& event) override {
    if (event.pid_namespace != 0) {
      ids_.add_process({event.pid_namespace, event.inner_pid}, event.pid);
      ids_.add_thread({event.pid_namespace, event.inner_tid}, event.tid);
    }
    next_.on_task(event);
  }

 private:
  TaskListener& next_;
  InnerIds& ids_;
};

}  // namespace fathom
