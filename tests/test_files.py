from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from p0trans import files
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.files import read_source, write_all_atomically, write_atomically
from p0trans.source import Source


def trouble(path: Path) -> Diagnostic:
    result = read_source(path)
    assert isinstance(result, Diagnostic)
    assert result.severity is Severity.ERROR
    assert result.family == "file"
    assert result.primary.place.source.name == str(path)
    return result


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_text_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.p0"
    path.write_bytes("let é\r\nx\n".encode())
    source = read_source(path)
    assert isinstance(source, Source)
    assert (source.name, source.path) == (str(path), path)
    assert (source.text, source.bom) == ("let é\r\nx\n", False)


def test_a_byte_order_mark_is_taken_off_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / "a.p0"
    path.write_bytes(b"\xef\xbb\xbflet\r\n")
    source = read_source(path)
    assert isinstance(source, Source)
    assert (source.text, source.bom) == ("let\r\n", True)


def test_an_empty_file_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "a.p0"
    path.touch()
    source = read_source(path)
    assert isinstance(source, Source)
    assert source.text == ""


def test_missing_file(tmp_path: Path) -> None:
    assert trouble(tmp_path / "a.p0").code == "P1201"


def test_folder(tmp_path: Path) -> None:
    assert trouble(tmp_path).code == "P1202"


@pytest.mark.parametrize(
    ("data", "byte", "offset", "line"),
    [
        (b"ab\ncd\xff", "ff", 5, 2),
        (b"\xef\xbb\xbfab\xc3", "c3", 5, 1),
        (b"\xff\xfel\0e\0t\0", "ff", 0, 1),
        (b"\n\n\0", "00", 2, 3),
    ],
)
def test_not_text(tmp_path: Path, data: bytes, byte: str, offset: int, line: int) -> None:
    path = tmp_path / "a.p0"
    path.write_bytes(data)
    found = trouble(path)
    assert found.code == "P1203"
    assert found.message.endswith(f"byte 0x{byte} at offset {offset}, in line {line}")


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = trouble(tmp_path / "file" / "a.p0")
    assert found.code == "P1204"
    assert found.message.endswith("not a directory")


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    assert trouble(tmp_path / "a\0b.p0").code == "P1204"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "a.p0"
    path.touch(mode=0)
    assert trouble(path).code == "P1204"


def test_a_file_without_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "LARGEST_SOURCE", 10)
    path = tmp_path / "a.p0"
    path.write_text("x" * 10)
    assert isinstance(read_source(path), Source)
    path.write_text("x" * 11)
    assert trouble(path).code == "P1204"


def test_writing_makes_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deeper" / "a.py"
    assert write_atomically(path, "é = 1\n") is None
    assert path.read_bytes() == "é = 1\n".encode()
    assert listing(tmp_path) == ["new", "new/deeper", "new/deeper/a.py"]


def test_a_new_file_has_the_mode_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    assert write_atomically(tmp_path / "a.py", "") is None
    assert (tmp_path / "a.py").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(0o750)
    assert write_atomically(path, "new") is None
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o750


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "real" / "a.py"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "a.py"
    link.symlink_to(target)
    assert write_atomically(link, "new") is None
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_symbolic_link_to_itself_is_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "a.py"
    link.symlink_to(link)
    found = write_atomically(link, "x")
    assert found is not None
    assert found.code == "P1205"
    assert link.is_symlink()
    assert listing(tmp_path) == ["a.py"]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    found = write_atomically(tmp_path, "x")
    assert found is not None
    assert found.code == "P1205"
    assert found.message.endswith("it is a folder")


def test_a_source_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("source")
    link = tmp_path / "link.py"
    link.symlink_to(path)
    source = read_source(path)
    assert isinstance(source, Source)
    for target in (path, link):
        found = write_atomically(target, "x", [source])
        assert found is not None
        assert found.code == "P1205"
    assert path.read_text() == "source"


def test_several_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    old = tmp_path / "a.py"
    old.write_text("old")
    (tmp_path / "folder").mkdir()
    texts = {old: "new", tmp_path / "sub" / "b.py": "b", tmp_path / "folder": "c"}
    found = write_all_atomically(texts)
    assert found is not None
    assert str(tmp_path / "folder") in found.message
    assert old.read_text() == "old"
    assert listing(tmp_path) == ["a.py", "folder"]
    del texts[tmp_path / "folder"]
    assert write_all_atomically(texts) is None
    assert old.read_text() == "new"
    assert (tmp_path / "sub" / "b.py").read_text() == "b"


def test_a_parent_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = write_atomically(tmp_path / "file" / "deeper" / "a.py", "x")
    assert found is not None
    assert found.message.endswith("not a directory")


def test_a_failing_disk_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    old = tmp_path / "a.py"
    old.write_text("old")
    monkeypatch.setattr(os, "fsync", fsync)
    found = write_all_atomically({old: "new", tmp_path / "sub" / "b.py": "b"})
    assert found is not None
    assert found.message.endswith("no space left on device")
    assert old.read_text() == "old"
    assert listing(tmp_path) == ["a.py"]


def test_an_interruption_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "sub" / "a.py", "x")
    assert listing(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits")
def test_a_file_that_may_not_grow_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from p0trans.files import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "print(write_atomically(Path(sys.argv[1]), 'x' * 5000).message)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "file too large" in run.stdout
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.py"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_devices_are_written_to_and_not_replaced() -> None:
    full = Path("/dev/full")
    found = write_atomically(full, "x")
    assert found is not None
    assert found.message.endswith("no space left on device")
    assert full.is_char_device()
    assert write_atomically(Path("/dev/null"), "x") is None
    assert Path("/dev/null").is_char_device()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes all")
def test_read_only_targets(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    path.chmod(0o444)
    assert write_atomically(path, "new") is not None
    assert path.read_text() == "old"
    tmp_path.chmod(0o555)
    assert write_atomically(tmp_path / "b.py", "new") is not None
    tmp_path.chmod(0o755)
