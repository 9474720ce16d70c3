// SPDX-License-Identifier: Apache-2.0
// A real store, of which a test replaces some calls. Owns it. As thread-safe as that.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace fathom {

class WrappedStore : public Store {
 public:
  explicit WrappedStore(std::unique_ptr<Store> real) : real_(std::move(real)) {}

  Result<Job> create_job(int64_t id, const std::string& text, const std::string& labels) override {
    return real_->create_job(id, text, labels);
  }
  Status remove_job(int64_t id) override { return real_->remove_job(id); }
  Result<std::vector<Job>> jobs() override { return real_->jobs(); }
  Result<Job> job(int64_t id) override { return real_->job(id); }
  Result<std::vector<Applied>> apply(std::span<const Change> changes) override {
    return real_->apply(changes);
  }
  Result<uint64_t> last_sequence(int64_t job, const std::string& run) override {
    return real_->last_sequence(job, run);
  }
  Result<std::vector<RunState>> runs(int64_t job) override { return real_->runs(job); }
  Result<SumPage> sums(int64_t job, const std::string& from) override {
    return real_->sums(job, from);
  }
  Result<std::vector<std::string>> rows(int64_t job, int64_t from, int64_t most) override {
    return real_->rows(job, from, most);
  }
  Status clear_rows(int64_t job) override { return real_->clear_rows(job); }
  Result<std::vector<GaugeValue>> gauges(int64_t job) override { return real_->gauges(job); }
  Result<std::vector<MarkText>> marks(int64_t job) override { return real_->marks(job); }
  void listen(Listener listener, Notice notice) override {
    real_->listen(std::move(listener), std::move(notice));
  }
  Status ready() override { return real_->ready(); }
  [[nodiscard]] int64_t sums_written() const override { return real_->sums_written(); }

 protected:
  Store& real() { return *real_; }

 private:
  std::unique_ptr<Store> real_;
};

}  // namespace fathom
