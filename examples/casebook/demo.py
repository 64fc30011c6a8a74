"""Translate the casebook's Case A, show the module, run it and compare it with torch's own."""

from __future__ import annotations

from pathlib import Path

import torch

import p0trans


def main() -> None:
    source = Path(__file__).parent / "rmsnorm.p0"
    print(p0trans.translate(source))

    norm = p0trans.load(source).Rmsnorm()
    torch.manual_seed(0)
    x = torch.randn(4, 16, 64)
    weight = torch.randn(64)
    eps = torch.tensor(1e-6)
    ours = norm(x, weight, eps)
    theirs = torch.nn.functional.rms_norm(x, (64,), weight, 1e-6)
    difference = (ours - theirs).abs().max().item()
    print(
        f"# x [4, 16, 64]: largest difference from torch.nn.functional.rms_norm: {difference:.1e}"
    )
    tolerance = 1e-5
    if difference > tolerance:
        raise SystemExit(f"that is more than {tolerance}")


if __name__ == "__main__":
    main()
