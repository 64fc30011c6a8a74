"""The words of everything that the checker finds in a file that parses."""

from __future__ import annotations

from p0trans.diagnostics.codes import Code
from p0trans.diagnostics.model import Severity


def _error(code: str, family: str, title: str, message: str, *notes: str) -> Code:
    return Code(code, family, Severity.ERROR, title, message, notes)


_NAMES = (
    _error(
        "P0101", "names", "unknown name", "there is no value or definition called `{name}`{near}"
    ),
    _error(
        "P0102",
        "names",
        "definition used before it stands",
        "`{name}` is defined further down; a definition may use only those above it",
        "move `{name}` above `{user}`: there is no recursion in Phase 0",
    ),
    _error("P0103", "names", "name declared twice", "{what} `{name}` is declared twice"),
    _error(
        "P0104",
        "names",
        "unknown shape variable",
        "`{name}` is not a shape parameter of `{definition}`{near}",
    ),
    _error(
        "P0105",
        "names",
        "unknown dtype",
        "there is no dtype `{name}`{near}",
        "the dtypes are {known}",
    ),
    _error(
        "P0106",
        "names",
        "function used as a value",
        "`{name}` is {what} and not a value: it needs its arguments",
        "its form is `{form}`",
    ),
    _error(
        "P0107",
        "names",
        "value used as a function",
        "`{name}` is a value and takes no arguments",
    ),
    _error(
        "P0108",
        "names",
        "unknown attribute word",
        "`{name}` is not one of the choices for `{attribute}` of `{operation}`{near}",
        "the choices are {known}",
    ),
    _error(
        "P0109",
        "names",
        "recursion",
        "`{name}` uses itself; there is no recursion in Phase 0",
    ),
)

_ARITY = (
    _error(
        "P0201",
        "arity",
        "wrong number of arguments",
        "`{name}` takes {wanted} and got {found}",
    ),
    _error(
        "P0202",
        "arity",
        "shape arguments missing",
        "`{name}` needs its shape arguments written out: `{name}[{parameters}]`{inferred}",
    ),
    _error(
        "P0203",
        "arity",
        "wrong number of shape arguments",
        "`{name}` has {wanted} ({parameters}) and got {found}",
    ),
    _error(
        "P0204",
        "arity",
        "target shape missing",
        "`{name}` needs a target shape at its end: `{form}`",
    ),
    _error(
        "P0205",
        "arity",
        "unknown attribute",
        "`{operation}` has no attribute `{name}`{near}",
        "its form is `{form}`",
    ),
    _error(
        "P0206",
        "arity",
        "attribute missing",
        "`{operation}` needs its attribute `{name}`",
        "its form is `{form}`",
    ),
    _error(
        "P0207",
        "arity",
        "attribute given twice",
        "attribute `{name}` of `{operation}` is given twice",
    ),
    _error(
        "P0208",
        "arity",
        "shape where a value is needed",
        "`{name}` takes no shape, and a bracket among its arguments is one",
    ),
    _error(
        "P0209",
        "arity",
        "tuple taken apart wrongly",
        "{wanted} cannot take {found} apart",
    ),
    _error(
        "P0210",
        "arity",
        "attribute of the wrong kind",
        "attribute `{name}` of `{operation}` must be {wanted}",
        "its form is `{form}`",
    ),
    _error(
        "P0211",
        "arity",
        "tuple where a tensor is needed",
        "an operand of `{operation}` must be a tensor, and this is a tuple",
        "a tuple is taken apart first: `let (a, b) = … in`",
    ),
    _error(
        "P0212", "arity", "tuples nested too deep", "tuples are nested more than {deepest} deep"
    ),
)

_DTYPE = (
    _error(
        "P0301",
        "dtype",
        "dtypes differ",
        "{subject} is {found} where {expected} is needed: nothing is cast for you",
    ),
    _error(
        "P0302",
        "dtype",
        "dtype not taken",
        "`{operation}` takes {wanted}, and {subject} is {found}",
    ),
    _error(
        "P0303",
        "dtype",
        "division of integers",
        "`/` divides floats only, and {subject} is {found}: write `floordiv a b` "
        "(and `mod a b`) for integers",
    ),
    _error(
        "P0304",
        "dtype",
        "literal does not fit its dtype",
        "the literal {literal} is not a value of {dtype}{why}",
    ),
)

_ORDER = (
    _error(
        "P0401",
        "order",
        "dims in another order",
        "{subject} is {found} where {expected} is needed: the same dims in another order, "
        "which takes a `transpose`",
    ),
    _error(
        "P0402",
        "order",
        "same elements, another shape",
        "{subject} is {found} where {expected} is needed: as many elements in "
        "another shape, which takes a `reshape`",
    ),
    _error(
        "P0403",
        "order",
        "inner dims of a matmul differ",
        "`matmul` contracts {inner_left} of {left} with {inner_right} of "
        "{right}, and they are not equal{transposed}",
    ),
    _error(
        "P0404",
        "order",
        "ranks of a matmul do not fit",
        "`matmul` takes [M, K] [K, N], or [N, M, K] [N, K, P] with one batch "
        "dim, and got {left} and {right}",
    ),
    _error(
        "P0405",
        "order",
        "batch dims of a matmul differ",
        "the batch dims of `matmul` differ: {batch_left} of {left} and {batch_right} of {right}",
        "`matmul` does not broadcast its batch dim, not even from 1",
    ),
    _error(
        "P0406",
        "order",
        "not a permutation",
        "perm={perm} is not a permutation: {subject} has rank {rank}, so {axes}",
        "the permutation names each axis once: axis i of the result is axis perm[i] of the operand",
    ),
    _error(
        "P0407",
        "order",
        "another dim differs",
        "{subject} is {found} beside {expected}: only axis {along} may differ, "
        "and axis {axis} does",
    ),
    _error(
        "P0408", "order", "wrong rank", "{subject} must have rank {wanted}{why}, and is {found}"
    ),
    _error(
        "P0409", "order", "shapes differ", "{subject} is {found} where {expected} is needed{where}"
    ),
    _error(
        "P0410",
        "order",
        "rank too high",
        "{subject} has {rank} axes, and a tensor has at most {highest}: no engine takes more",
    ),
)

_BROADCAST = (
    _error(
        "P0501",
        "broadcast",
        "dim cannot be broadcast",
        "{subject} cannot be broadcast to {target}: its dim {source_dim} stands against "
        "{target_dim}, and only the literal 1 stretches",
        "shapes are aligned at the right; new dims appear only in front",
    ),
    _error(
        "P0502",
        "broadcast",
        "broadcast to a lower rank",
        "{subject} has rank {rank} and cannot be broadcast to {target}, which "
        "has rank {target_rank}",
        "a `broadcast` adds axes in front; a `reduce` or a `slice` and `reshape` takes one away",
    ),
    _error(
        "P0503",
        "broadcast",
        "implicit broadcast",
        "{subject} is {found} where {expected} is needed: nothing is broadcast for you",
    ),
    _error(
        "P0504",
        "broadcast",
        "reduced axis is gone",
        "{subject} is {found}: `reduce` dropped axis {axis}; keep it as 1 with "
        "`reduce_keep` to line up with {target}",
    ),
)

_AXIS = (
    _error(
        "P0601",
        "axis",
        "axis is not a literal",
        "`{name}` must be a literal integer, and `{text}` is {what}",
    ),
    _error(
        "P0602",
        "axis",
        "axis is negative",
        "`{name}={value}` counts from the end; axes are counted from 0",
    ),
    _error(
        "P0603",
        "axis",
        "axis out of range",
        "axis {value} does not exist: {subject} has rank {rank}, so {axes}",
    ),
)

_PRESBURGER = (
    _error(
        "P0701",
        "presburger",
        "product of shape variables",
        "`{text}` is a product of shape variables, which no {where} may have: {advice}",
        "sums and integer multiples of shape variables can be proved; products cannot, so `assume` "
        "states them and the emitted code checks them when it runs",
    ),
    _error(
        "P0702",
        "presburger",
        "number of elements not proved",
        "cannot prove that {subject} has as many elements as {target}{numbers}",
    ),
    _error(
        "P0703",
        "presburger",
        "number of elements differs",
        "{subject} has {elements} elements and {target} has {target_elements}",
    ),
    _error(
        "P0704",
        "presburger",
        "division by a shape variable",
        "`{text}` divides by a shape variable, which no dim may do: name the quotient and state "
        "it as a product, `assume {equation}`",
        "a division can be proved only when its divisor is a positive integer literal",
    ),
    _error(
        "P0705",
        "presburger",
        "divisor that is not positive",
        "`{text}` divides by {divisor}: the divisor of `/` and `%` is a positive integer literal",
    ),
    _error(
        "P0706",
        "presburger",
        "dim too large",
        "this dim {what}",
    ),
)

_CONSTRAINT = (
    _error(
        "P0801",
        "constraint",
        "precondition not proved",
        "`{name}` needs {written}{here}, which is {truth}{numbers}",
    ),
    _error(
        "P0802",
        "constraint",
        "bound not proved",
        "`{attribute}` of `{operation}` needs {constraint}, which is {truth}{numbers}",
    ),
    _error(
        "P0803",
        "constraint",
        "dim may be less than 1",
        "the dim {dim} {trouble}",
        "every dim of every value is at least 1",
    ),
    _error(
        "P0804",
        "constraint",
        "facts contradict each other",
        "no sizes satisfy {facts}: `{name}` could never be called",
    ),
    _error(
        "P0805",
        "constraint",
        "assumption is false",
        "`{name}` assumes {written}{here}, which is false",
    ),
)

_MODULE = (
    _error(
        "P0901",
        "module",
        "unknown definition of a module",
        "module `{name}` is made of `{definition}`, which is not a definition above it{near}",
    ),
    _error(
        "P0902",
        "module",
        "not a parameter",
        "`{definition}` has no parameter `{name}`{near}",
        "its parameters are {known}",
    ),
    _error(
        "P0903",
        "module",
        "cannot be a parameter",
        "`{name}` is {found}, and a `{kind}` must be {wanted}",
    ),
    _error(
        "P0904",
        "module",
        "literal of another kind",
        "the default `{literal}` of `const {name}` is not a value of {found}{why}",
    ),
    _error(
        "P0905",
        "module",
        "unknown initializer",
        "there is no initializer `{name}`{near}",
        "the initializers are {known}",
    ),
    _error("P0906", "module", "initializer does not fit", "`{initializer}` {wanted}"),
    _error("P0907", "module", "declared twice in a module", "`{name}` is already {what}"),
    _error("P0908", "module", "unknown module", "there is no module `{name}` above{near}"),
    _error(
        "P0909",
        "module",
        "not state of the child",
        "`{name}` is no param, buffer or const of module `{module}`{near}",
        "its state is {known}",
    ),
    _error(
        "P0910",
        "module",
        "state of the child not bound",
        "`{name}` of module `{module}` is not bound: write `{name} = …`",
    ),
    _error(
        "P0911",
        "module",
        "child matches no call",
        "no call of `{definition}` in `{user}` has {arguments}: `{name}` would never be used",
    ),
    _error(
        "P0912",
        "module",
        "child called with different sizes",
        "`{name}` would need two sizes for `{variable}`: {first} and {second}",
        "a child is built once, with one number for each size: its calls have to agree in them",
    ),
    _error(
        "P0913",
        "module",
        "command-line state fits nothing",
        "no module of {files} has a parameter `{name}`{near}",
    ),
)

_IMPORT = (
    _error(
        "P1001",
        "import",
        "imported file not found",
        "`{module}` is not found: there is no {path}{near}",
    ),
    _error(
        "P1002",
        "import",
        "name not found in a file",
        "`{module}` has no definition or module `{name}`{near}",
    ),
    _error(
        "P1003",
        "import",
        "imports go round in a circle",
        "`{module}` imports itself: {chain}",
        "what both files need can be declared in a third one that both import",
    ),
    _error(
        "P1004",
        "import",
        "import from a text without a place",
        "`{module}` is looked for beside the importing file, and this text is not a file",
        "only the standard library can be imported here: `from std.norm import rmsnorm`",
    ),
)

SEMANTIC_CODES = (
    *_NAMES,
    *_ARITY,
    *_DTYPE,
    *_ORDER,
    *_BROADCAST,
    *_AXIS,
    *_PRESBURGER,
    *_CONSTRAINT,
    *_MODULE,
    *_IMPORT,
)
