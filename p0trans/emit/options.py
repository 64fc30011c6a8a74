"""What the caller chooses about an emitted file, what its header says, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from p0trans.targets import Target

if TYPE_CHECKING:
    from p0trans.emit.view import FileView

Style: TypeAlias = Literal["idiomatic", "explicit"]
Checks: TypeAlias = Literal["full", "none"]
Annotate: TypeAlias = Literal["plain", "jaxtyping"]


class OptionError(ValueError):
    """An option that does not suit the other options or the program."""


@dataclass(frozen=True, slots=True)
class Options:
    """`checks` are those of inputs and shape facts at run time; `annotate` is how tensors are
    annotated: `Tensor`, or with jaxtyping's dtype and dims.

    `dynamic` are shape variables that may change from call to call without a new compilation;
    with `dynamic_shapes` each module says, for torch.export, which axes may vary.
    """

    style: Style = "idiomatic"
    target: Target = "torch"
    checks: Checks = "full"
    annotate: Annotate = "plain"
    dynamic: tuple[str, ...] = ()
    dynamic_shapes: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """What the comment on top of each emitted file says.

    `sources` are relative to the folder that holds them all (`-` is standard input), `digest`
    is the SHA-256 (hex) of the set of sources and `command` the line that emits the file again.
    """

    version: str
    sources: tuple[str, ...]
    digest: str
    command: str


@dataclass(frozen=True, slots=True)
class EmittedFile:
    """One Python file: its path within the output folder, with `/`, its text, and the view that
    this was printed from."""

    path: str
    text: str
    view: FileView | None = field(default=None, compare=False, repr=False)
