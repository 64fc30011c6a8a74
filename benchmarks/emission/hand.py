"""What a person would write in PyTorch in place of the programs."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


class Attention(nn.Module):
    """q, k, v and result: [B, H, S, K]."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, scale=self.scale)


class CausalAttention(Attention):
    """q, k, v and result: [B, H, S, K]."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.scale)


class GroupedAttention(Attention):
    """q and result: [B, H, S, K]; k and v: [B, G, S, K]."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(
            q, k, v, is_causal=True, scale=self.scale, enable_gqa=True
        )


class SwiGLU(nn.Module):
    """x and result: [B, S, D]."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x: [B, H, S, 2 * K] in halves; cos and sin: [S, K]."""
    low, high = x.chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)


class SelfAttention(nn.Module):
    """x and result: [B, S, D]; cos and sin: [S, K] for heads of 2 * K."""

    def __init__(self, dim: int, kv_dim: int, head_dim: int) -> None:
        super().__init__()
        self.head_dim = head_dim
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_dim, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        # [B, S, H * head_dim] to [B, H, S, head_dim]
        split = (-1, self.head_dim)
        q = self.q_proj(x).unflatten(-1, split).transpose(1, 2)
        k = self.k_proj(x).unflatten(-1, split).transpose(1, 2)
        v = self.v_proj(x).unflatten(-1, split).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(
            apply_rotary(q, cos, sin),
            apply_rotary(k, cos, sin),
            v,
            is_causal=True,
            enable_gqa=True,
        )
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(-2))
        return out


class LlamaBlock(nn.Module):
    """x and result: [B, S, D]; cos and sin: [S, K] for heads of 2 * K."""

    def __init__(self, dim: int, kv_dim: int, hidden: int, head_dim: int) -> None:
        super().__init__()
        self.self_attn = SelfAttention(dim, kv_dim, head_dim)
        self.mlp = SwiGLU(dim, hidden)
        self.input_layernorm = nn.RMSNorm(dim, eps=1e-6)
        self.post_attention_layernorm = nn.RMSNorm(dim, eps=1e-6)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        h = x + self.self_attn(self.input_layernorm(x), cos, sin)
        out: Tensor = h + self.mlp(self.post_attention_layernorm(h))
        return out
