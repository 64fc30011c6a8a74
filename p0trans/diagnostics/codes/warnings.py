"""The words of warnings: programs that are well typed and still wrong, and what is left over."""

from __future__ import annotations

from p0trans.diagnostics.codes import Code
from p0trans.diagnostics.model import Severity


def _warning(code: str, title: str, message: str, *notes: str) -> Code:
    family = "meaning" if code < "P1110" else "lint"
    return Code(code, family, Severity.WARNING, title, message, notes)


def _note(code: str, title: str, message: str, *notes: str) -> Code:
    return Code(code, "meaning", Severity.NOTE, title, message, notes)


_MEANING = (
    _warning(
        "P1101",
        "reshape mixes axes",
        "this `reshape` mixes different axes: {found} read in the order of memory is not {target}",
        "`reshape` moves no element: it may merge neighbouring axes or split one, and what is not "
        "a neighbour has to be brought there by `transpose` first",
    ),
    _warning(
        "P1102",
        "ambiguous alignment",
        "`broadcast` aligns to the right, so that {dim} of {found} becomes axis {bound} of {target}"
        ", and axis {other} is {dim} as well{verdict}",
        "a literal 1 pins the place: write the shape in full with `reshape` before the `broadcast`",
    ),
    _warning(
        "P1103",
        "softmax over another axis than `matmul` contracts",
        "this `matmul` sums over axis {contracted} of {what}, and the softmax makes axis "
        "{normalized} sum to 1",
        "weights that are to average the rows of the other operand sum to 1 over the axis that "
        "`matmul` contracts",
    ),
    _warning(
        "P1104",
        "softmax or mean over a single element",
        "{what} over axis {axis} of {type}, which is the literal 1, {effect}",
    ),
    _note(
        "P1105",
        "a row can be masked out whole",
        "a row of this softmax can be masked out whole, and is then NaN: {reason}",
        "the maximum of such a row is -inf, and -inf - -inf is NaN; where rows like that occur, "
        "subtract 0 and divide by 1 in them",
    ),
    _note(
        "P1106",
        "order of weight and cast",
        "the weight is multiplied {order} the cast back to {narrow}",
        "both orders are in use and round differently: compare with the model whose weights you "
        "load",
    ),
    _warning(
        "P1107",
        "axes merged in different orders",
        "{first} and {second} have the same size and are different axes: {situation}",
        "merging is ordered: index g * KV + kv of [G, KV] is another element than kv * G + g of "
        "[KV, G]",
    ),
    _warning(
        "P1108",
        "repeated axis tiled in front",
        "this `matmul` pairs {single} with {merged}, in which {repeated} is the repetition and "
        "runs slower than {real}: the {real} slices are tiled, not each repeated {repeated} times "
        "in a row",
        "grouped heads share their keys with neighbouring query heads: broadcast to "
        "[…, {real}, {repeated}, …] before merging, so that the repetition runs fastest",
    ),
)

_LEFT_OVER = (
    _warning("P1111", "unused binding", "`{name}` is bound and never used"),
    _warning(
        "P1112",
        "unused parameter",
        "`{definition}` never uses its parameter `{name}`",
        "a name that begins with `_` may stay unused",
    ),
    _warning(
        "P1113",
        "unused shape parameter",
        "nothing in `{definition}` mentions its shape parameter `{name}`",
    ),
    _warning("P1114", "unused import", "`{name}` is imported and never used"),
    _warning(
        "P1115",
        "definition shadowed",
        "{what} `{name}` hides {hidden} of the same name",
    ),
    _warning("P1116", "step without effect", "this `{operation}` does nothing: {reason}"),
    _warning("P1120", "allow without effect", "this `allow` {what}"),
)

WARNING_CODES = (*_MEANING, *_LEFT_OVER)
