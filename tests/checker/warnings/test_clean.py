"""Programs that are right: none of them may give a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from p0trans.diagnostics.model import Severity
from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.source import Source
from tests.checker.warnings.support import codes

ROOT = Path(__file__).parents[3]
SHIPPED = sorted(
    path
    for folder in (
        "p0trans/std",
        "examples",
        "tests/cases/accept",
        "tests/checker/warnings/programs",
    )
    for path in (ROOT / folder).rglob("*.p0")
)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_warning(path: Path) -> None:
    source = read_source(path)
    assert isinstance(source, Source)
    found = check_sources([source]).diagnostics
    assert [d.message for d in found if d.severity is not Severity.NOTE] == []


def test_the_only_note_on_shipped_programs_is_the_order_of_weight_and_cast() -> None:
    notes = {
        (path.stem, diagnostic.code)
        for path in SHIPPED
        for diagnostic in check_sources([Source(path.name, path.read_text(), path)]).diagnostics
        if "accept" in path.parts or "programs" in path.parts
    }
    assert notes == {("mixed_precision_norm", "P1106")}


def test_a_file_with_an_error_is_not_linted() -> None:
    text = "let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = y"
    found = check_sources([Source("test.p0", text)]).diagnostics
    assert [d.code for d in found] == ["P0101"]


def test_an_imported_file_is_not_linted(tmp_path: Path) -> None:
    library = "let double [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
    (tmp_path / "lib.p0").write_text(library)
    main = tmp_path / "main.p0"
    main.write_text(
        "from lib import double\n"
        "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = double[B, B] x\n"
    )
    source = Source("main.p0", main.read_text(), main)
    assert check_sources([source]).diagnostics == ()
    assert codes(library) == ["P1113"]


def test_findings_are_in_source_order() -> None:
    text = (
        "let f [B, D] (x : Tensor[F32, [B]]) (y : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n"
        "  let a = reshape x [B] in\n"
        "  x\n"
    )
    assert codes(text) == ["P1113", "P1112", "P1111", "P1116"]


def test_a_chain_of_ten_thousand_steps() -> None:
    steps = "".join(
        f"let a{i} = reshape {'x' if i == 0 else f'b{i - 1}'} [BS] in "
        f"let b{i} = reshape (exp a{i}) [B, S] in\n"
        for i in range(5_000)
    )
    text = (
        "let f [B, S, BS] (x : Tensor[F32, [B, S]]) : Tensor[F32, [B, S]] assume BS == B * S =\n"
        f"{steps} b4999"
    )
    assert codes(text) == []


def test_an_expression_ten_thousand_deep() -> None:
    text = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = "
    assert codes(f"{text}{'exp (' * 10_000}x{')' * 10_000}") == []


def test_a_condition_ten_thousand_deep() -> None:
    deep = "not (" * 10_000 + "mask" + ")" * 10_000
    text = (
        "let f [B, S] (x : Tensor[F32, [B, S]]) (mask : Tensor[Bool, [B, S]])"
        " : Tensor[F32, [B, S]] =\n"
        f"  let e = exp (select ({deep}) x (broadcast (-inf) [B, S])) in\n"
        "  e / broadcast (reduce_keep[sum, axis=1] e) [B, S]\n"
    )
    assert codes(text) == ["P1105"]
