"""The lines of the benchmark as data: a program of `programs/`, its sizes, inputs and peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from torch import nn

from benchmarks.emission import hand, llama

PROGRAMS = Path(__file__).parent / "programs"

Sizes = Mapping[str, int]


class Kind(Enum):
    """What an input is: only an activation has a gradient; an index is less than the last size."""

    ACTIVATION = "activation"
    TABLE = "table"
    INDEX = "index"


class Input(NamedTuple):
    """The dims of an input of every module of a line, by the names of the program."""

    dims: tuple[str, ...]
    kind: Kind = Kind.ACTIVATION
    below: str = ""


class Line(NamedTuple):
    """What is measured: `program` emits `module`, whose constructor takes the sizes `arguments`.

    At the sizes `small` a call takes as long as it takes to get to the kernels.

    `on_xla` is the most time that it may take there, forward and forward+backward, as a share of
    the hand-written one's, where that is not the limit of the run.
    `hand`, `llama` and `eager_llama` make the peers of a set of sizes: what a person would write in
    PyTorch, what transformers has, and what it has with attention step by step. Their parameters
    are those of the emitted module, in its order.
    """

    title: str
    program: str
    module: str
    sizes: Sizes
    small: Sizes
    inputs: tuple[Input, ...]
    hand: Callable[[Sizes], nn.Module]
    llama: Callable[[Sizes], llama.Peer]
    arguments: tuple[str, ...] = ()
    on_xla: tuple[float, float] | None = None
    eager_llama: Callable[[Sizes], llama.Peer] | None = None


_HEADS = Input(("B", "H", "S", "K"))
_GROUPS = Input(("B", "G", "S", "K"))
_TOKENS = Input(("B", "S", "D"))
_TABLE = Input(("S", "K"), Kind.TABLE)
# XLA has no kernel for scaled_dot_product_attention: written out, its steps are to be faster.
_SDPA_ON_XLA = (0.95, 0.92)
_SCALE = 0.125  # the `const` of the programs
_ATTENTION = {"B": 2, "H": 16, "S": 512, "K": 64}
_SMALL_ATTENTION = {"B": 1, "H": 4, "S": 4, "K": 8}

LINES: Mapping[str, Line] = MappingProxyType(
    {
        line.program: line
        for line in (
            Line(
                "RMSNorm",
                "rmsnorm",
                "RMSNorm",
                {"B": 8, "S": 256, "D": 1024},
                {"B": 1, "S": 4, "D": 32},
                (_TOKENS,),
                lambda sizes: nn.RMSNorm(sizes["D"], eps=1e-6),
                llama.rmsnorm,
                ("D",),
            ),
            Line(
                "attention",
                "attention",
                "Attention",
                _ATTENTION,
                _SMALL_ATTENTION,
                (_HEADS, _HEADS, _HEADS),
                lambda _: hand.Attention(_SCALE),
                lambda sizes: llama.attention(sizes, _SCALE, causal=False),
                on_xla=_SDPA_ON_XLA,
                eager_llama=lambda sizes: llama.eager_attention(sizes, _SCALE, causal=False),
            ),
            Line(
                "causal attention",
                "causal_attention",
                "CausalAttention",
                _ATTENTION,
                _SMALL_ATTENTION,
                (_HEADS, _HEADS, _HEADS),
                lambda _: hand.CausalAttention(_SCALE),
                lambda sizes: llama.attention(sizes, _SCALE, causal=True),
                on_xla=_SDPA_ON_XLA,
                eager_llama=lambda sizes: llama.eager_attention(sizes, _SCALE, causal=True),
            ),
            Line(
                "grouped causal attention",
                "grouped_attention",
                "GroupedAttention",
                {**_ATTENTION, "G": 4},
                {**_SMALL_ATTENTION, "G": 2},
                (_HEADS, _GROUPS, _GROUPS),
                lambda _: hand.GroupedAttention(_SCALE),
                lambda sizes: llama.attention(sizes, _SCALE, causal=True),
                on_xla=_SDPA_ON_XLA,
                eager_llama=lambda sizes: llama.eager_attention(sizes, _SCALE, causal=True),
            ),
            Line(
                "SwiGLU",
                "swiglu",
                "SwiGLU",
                {"B": 2, "S": 128, "D": 512, "D_ff": 1376},
                {"B": 1, "S": 4, "D": 32, "D_ff": 48},
                (_TOKENS,),
                lambda sizes: hand.SwiGLU(sizes["D"], sizes["D_ff"]),
                llama.swiglu,
                ("D", "D_ff"),
            ),
            Line(
                "Llama block",
                "llama_block",
                "LlamaBlock",
                {"B": 1, "S": 1024, "D": 512, "H": 8, "D_kv": 128, "D_ff": 1376, "K": 32},
                {"B": 1, "S": 4, "D": 32, "H": 4, "D_kv": 16, "D_ff": 48, "K": 4},
                (_TOKENS, _TABLE, _TABLE),
                lambda sizes: hand.LlamaBlock(
                    sizes["D"], sizes["D_kv"], sizes["D_ff"], 2 * sizes["K"]
                ),
                llama.block,
                ("D", "D_kv", "D_ff"),
                eager_llama=llama.eager_block,
            ),
            Line(
                "cross-entropy",
                "cross_entropy",
                "CrossEntropy",
                {"N": 512, "V": 8192},
                {"N": 4, "V": 16},
                (Input(("N", "V")), Input(("N",), Kind.INDEX, "V")),
                lambda _: nn.CrossEntropyLoss(),
                llama.cross_entropy,
            ),
        )
    }
)
"""The lines by the name of their program, in the order in which they are reported."""
