# SPDX-License-Identifier: Apache-2.0
"""A convolution layer's picture in PyTorch: tensors in, tensors out, on the tensors' own device and stream."""

import numpy as np
import tunesmith
from compare import on_gpu

try:
    import torch
except ImportError:
    raise SystemExit("This example needs PyTorch: pip install torch.") from None

device = "cuda" if on_gpu and torch.cuda.is_available() else "cpu"
image = torch.rand(1000, 2000, device=device) if device == "cuda" else torch.rand(100, 200)
layer = torch.nn.Conv2d(1, 1, 3, bias=False, padding=1).to(device)
weights = layer.weight[0, 0].detach().contiguous()

with torch.no_grad():
    expected = layer(image[None, None])[0, 0]
found = tunesmith.ndimage.correlate(image, weights, mode="constant")
off = float((found - expected).abs().max())
assert off < 1e-5, off
print(f"correlate {tuple(image.shape)} on {device}: agrees with torch.nn.Conv2d within {off:.1e}")

# The plain way: one plan, launched again and again with a result that is there already.
plan = tunesmith.dispatcher(device if device == "cuda" else "host").plan(
    "conv2d", height=image.shape[0], width=image.shape[1], mask_height=3, mask_width=3
)
out = torch.empty_like(image)
plan.launch(image, weights, out)
assert np.allclose(out.cpu(), expected.cpu(), atol=1e-5)
print(plan.explain())
