// SPDX-License-Identifier: Apache-2.0
// stacks_deep ROUNDS [DEEPEST]: an interpreter of random expressions, as deep C++ programs are:
// virtual calls, std::function, sorting with a callback, frames of some hundred bytes, 20 to 300
// calls deep, or half of DEEPEST to all of it. What it does depends on these two only. Built
// without frame pointers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using Variables = std::map<std::string, double>;

struct Node {
  virtual ~Node() = default;
  virtual double value(const Variables& variables) const = 0;
};
using NodePtr = std::unique_ptr<Node>;

struct Variable final : Node {
  explicit Variable(std::string name) : name(std::move(name)) {}
  double value(const Variables& variables) const override { return variables.at(name); }
  std::string name;
};

struct Sum final : Node {
  explicit Sum(std::vector<NodePtr> parts) : parts(std::move(parts)) {}
  double value(const Variables& variables) const override {
    double sum = 0;
    for (const NodePtr& part : parts) sum += part->value(variables);
    return sum;
  }
  std::vector<NodePtr> parts;
};

// The middle of what its parts say about the same variables in another order.
struct Median final : Node {
  explicit Median(std::vector<NodePtr> parts) : parts(std::move(parts)) {}
  double value(const Variables& variables) const override {
    std::vector<double> values;
    for (const NodePtr& part : parts) values.push_back(part->value(variables));
    const std::function<bool(double, double)> less = [](double a, double b) { return a < b; };
    std::sort(values.begin(), values.end(), less);
    char text[96];
    snprintf(text, sizeof text, "%.6g", values[values.size() / 2]);
    return strtod(text, nullptr);
  }
  std::vector<NodePtr> parts;
};

// A chain makes it deep.
struct Scaled final : Node {
  Scaled(NodePtr inner, double by) : inner(std::move(inner)), by(by) {}
  double value(const Variables& variables) const override {
    const std::function<double(double)> scale = [this](double x) { return x * by + 1; };
    double noise[24] = {by};
    noise[23] = inner->value(variables);
    return scale(noise[23]) - noise[1];
  }
  NodePtr inner;
  double by;
};

NodePtr make(std::mt19937& random, int depth) {
  if (depth == 0) return std::make_unique<Variable>("variable_" + std::to_string(random() % 40));
  if (random() % 10 < 8) return std::make_unique<Scaled>(make(random, depth - 1), 0.5);
  std::vector<NodePtr> parts;
  parts.reserve(3);
  for (int i = 0; i < 3; ++i) parts.push_back(make(random, depth - depth / 3 - 1));
  if (random() % 2 == 0) return std::make_unique<Sum>(std::move(parts));
  return std::make_unique<Median>(std::move(parts));
}

}  // namespace

int main(int count, char** args) {
  const long rounds = count > 1 ? atol(args[1]) : 1000;
  std::mt19937 random(7);
  Variables variables;
  for (int i = 0; i < 40; ++i) variables["variable_" + std::to_string(i)] = i;
  std::vector<NodePtr> trees;
  trees.reserve(64);
  const int deepest = count > 2 ? atoi(args[2]) : 0;
  for (int i = 0; i < 64; ++i) {
    const int depth = deepest > 0 ? deepest / 2 + i * (deepest - deepest / 2) / 64 : 20 + i * 4;
    trees.push_back(make(random, depth));
  }
  double sum = 0;
  for (long i = 0; i < rounds; ++i) sum += trees[static_cast<size_t>(i) % 64]->value(variables);
  printf("%g\n", sum);
  return 0;
}
