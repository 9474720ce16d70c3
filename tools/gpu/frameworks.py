# SPDX-License-Identifier: Apache-2.0
"""Some work of a framework, the same every time: prints a sum of what came out, to the last bit.

  python3 tools/gpu/frameworks.py triton|cupy|jax       exit status 5: it is not installed
  python3 -m torch.distributed.run --standalone --nproc-per-node 2 tools/gpu/frameworks.py torch
                                                        a job of two processes with loaders of data; one of them prints
"""
import hashlib
import importlib.util
import sys


def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def with_triton():
    import frameworks_triton
    return digest(frameworks_triton.run())


def with_cupy():
    import cupy
    scale = cupy.RawKernel('extern "C" __global__ void scale(float* at, float by, int n) '
                           "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) at[i] *= by; }", "scale")
    values = cupy.arange(1 << 16, dtype=cupy.float32)
    for _ in range(17):
        scale((256,), (256,), (values, cupy.float32(1.01), 1 << 16))
    matrix = values[: 1 << 14].reshape(128, 128) / 1e5
    with cupy.cuda.Stream():
        other = cupy.fft.fft(values[:4096])
    cupy.cuda.Device().synchronize()
    return digest(cupy.asnumpy(cupy.sort(values) + (matrix @ matrix).sum())) + digest(cupy.asnumpy(other))


def with_jax():
    import jax
    import jax.numpy as numbers

    @jax.jit
    def step(weights, batch):
        def loss(w):
            return numbers.mean(numbers.tanh(batch @ w) ** 2)
        return weights - 0.1 * jax.grad(loss)(weights)

    keys = jax.random.split(jax.random.PRNGKey(3), 2)
    weights, batch = jax.random.normal(keys[0], (256, 64)), jax.random.normal(keys[1], (32, 256))
    if jax.devices()[0].platform != "gpu":
        sys.exit(5)
    for _ in range(23):
        weights = step(weights, batch)
    import numpy
    return digest(numpy.asarray(weights))


def with_torch():
    """Two processes on one GPU, which add up their gradients through the host."""
    import torch
    import torch.distributed as job
    job.init_process_group("gloo")
    torch.manual_seed(7)
    model = torch.nn.Linear(64, 8).cuda()
    rows = torch.arange(40 * 64, dtype=torch.float32).reshape(40, 64) / 1000 + job.get_rank()
    for batch in torch.utils.data.DataLoader(rows, batch_size=8, num_workers=2):
        loss = model(batch.cuda()).pow(2).mean()
        model.zero_grad()
        loss.backward()
        for weights in model.parameters():
            gradient = weights.grad.cpu()
            job.all_reduce(gradient)
            weights.data -= 0.01 * gradient.cuda()
    result = digest(model.weight.detach().cpu().numpy()) if job.get_rank() == 0 else None
    job.destroy_process_group()
    return result


if __name__ == "__main__":
    name = sys.argv[1]
    if importlib.util.find_spec(name) is None:
        sys.exit(5)
    came_out = globals()["with_" + name]()
    if came_out is not None:
        print(name, came_out)
