"""Files of a cache that are flipped, cut, exchanged, somebody else's, links, or no files: every
call is right, none waits for ever, and what another user wrote is not run."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gpubcast.backends.cpu.jit import object_cache
from tests.campaigns import calls
from tests.campaigns.log import Log
from tests.campaigns.worlds import visit

WORLDS = 7
_FOREIGN = 65534


def run(log: Log, rng: random.Random) -> None:
    """A cache with every kernel that is called, copied and damaged anew for each world."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["GPUBCAST_CACHE_DIR"] = str(folder / "whole")
        visit(log, lambda: calls.right(log, calls.made()))
        for number in range(WORLDS):
            damaged = folder / "damaged"
            shutil.copytree(folder / "whole", damaged, symlinks=True)
            said = _damage(rng, damaged)
            os.environ["GPUBCAST_CACHE_DIR"] = str(damaged)
            log.at(f"world {number}: {said}")
            seed = rng.getrandbits(32)

            def world(seed: int = seed, refusable: bool = "foreign_folder" in said) -> None:
                some = calls.some(random.Random(seed), 6)
                for _ in calls.check(log, some, refusable=refusable):
                    pass

            visit(log, world)
            # As often again: what was damaged has been replaced, or is left alone.
            visit(log, world)
            for one in damaged.rglob("*"):
                if one.is_dir() and not one.is_symlink():
                    one.chmod(0o700)
            shutil.rmtree(damaged)


def _damage(rng: random.Random, folder: Path) -> str:
    files = sorted(folder.rglob("*.o"))
    chosen = rng.sample(files, rng.choice((1, 2, len(files), len(files))))
    said = []
    for file in chosen:
        if not file.exists() or not file.is_file():
            continue
        how = rng.choice(_DAMAGES)
        how(rng, file, files)
        said.append(how.__name__[1:])
    if rng.random() < 0.2:
        place = rng.choice([path for path in folder.rglob("*") if path.is_dir()] or [folder])
        how = rng.choice((_foreign_folder, _writable, _linked_folder, _file_for_a_folder))
        how(rng, place, files)
        said.append(f"{how.__name__[1:]} {place.relative_to(folder)}")
    return ", ".join(said)


def _renamed(file: Path, key: str, contents: bytes) -> Path:
    """The name that says of contents that they are whole and a key's."""
    return file.with_name(object_cache._STORE._name(key, contents))


def _flipped(rng: random.Random, file: Path, _: list[Path]) -> None:
    contents = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 1, 3, 50))):
        contents[rng.randrange(len(contents))] ^= 1 << rng.randrange(8)
    file.write_bytes(contents)


def _flipped_and_renamed(rng: random.Random, file: Path, _: list[Path]) -> None:
    """The header of the object file alone: code is whoever writes it is trusted with."""
    contents = file.read_bytes()
    begin = contents.index(b"\0") + 1
    header = bytearray(contents[begin : begin + 64])
    header[rng.randrange(64)] ^= 1 << rng.randrange(8)
    changed = contents[:begin] + bytes(header) + contents[begin + 64 :]
    file.unlink()
    _renamed(file, file.name.split(".")[0], changed).write_bytes(changed)


def _cut(rng: random.Random, file: Path, _: list[Path]) -> None:
    os.truncate(file, rng.choice((0, 1, 8, rng.randrange(file.stat().st_size))))


def _longer(rng: random.Random, file: Path, _: list[Path]) -> None:
    with open(file, "ab") as end:
        end.write(rng.randbytes(rng.choice((1, 100, 10**6))))


def _another(rng: random.Random, file: Path, files: list[Path]) -> None:
    """Another kernel under a name that has its own digest."""
    other = rng.choice(files)
    if other.is_file() and other != file:
        digest = other.name.split(".")[1]
        # First the copy: they may be of one name, which is then the other's.
        contents = other.read_bytes()
        file.unlink()
        file.with_name(f"{file.name.split('.')[0]}.{digest}.o").write_bytes(contents)


def _foreign(rng: random.Random, file: Path, files: list[Path]) -> None:
    """Another user's file, whole by its name, with another kernel's function."""
    other = rng.choice(files)
    if not other.is_file():
        return
    contents = other.read_bytes()
    renamed = _renamed(file, file.name.split(".")[0], contents)
    file.unlink()
    renamed.write_bytes(contents)
    if os.geteuid() == 0:
        os.chown(renamed, _FOREIGN, _FOREIGN)
    else:
        renamed.chmod(0o666)


def _link(rng: random.Random, file: Path, files: list[Path]) -> None:
    other = rng.choice((Path("/dev/zero"), Path("/dev/stdin"), Path("/nowhere"), file.parent,
                        file, rng.choice(files)))  # fmt: skip
    file.unlink()
    file.symlink_to(other)


def _fifo(rng: random.Random, file: Path, _: list[Path]) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(rng: random.Random, file: Path, _: list[Path]) -> None:
    file.unlink()
    file.mkdir()


def _mode(rng: random.Random, file: Path, _: list[Path]) -> None:
    file.chmod(rng.choice((0, 0o200, 0o400, 0o622, 0o666, 0o777)))


def _lock_is_no_file(rng: random.Random, file: Path, _: list[Path]) -> None:
    lock = file.with_name(f"{file.name.split('.')[0]}.lock")
    lock.unlink(missing_ok=True)
    rng.choice((os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/full", path)))(lock)
    file.unlink()


_DAMAGES: tuple[Callable[[random.Random, Path, list[Path]], None], ...] = (
    _flipped, _flipped_and_renamed, _cut, _longer, _another, _foreign, _link, _fifo, _folder, _mode,
    _lock_is_no_file,
)  # fmt: skip


# --- folders ------------------------------------------------------------------------------------


def _foreign_folder(rng: random.Random, place: Path, _: list[Path]) -> None:
    if os.geteuid() == 0:
        os.chown(place, _FOREIGN, _FOREIGN)


def _writable(rng: random.Random, place: Path, _: list[Path]) -> None:
    place.chmod(0o777)


def _linked_folder(rng: random.Random, place: Path, _: list[Path]) -> None:
    moved = place.with_name("moved")
    place.rename(moved)
    place.symlink_to(moved)


def _file_for_a_folder(rng: random.Random, place: Path, _: list[Path]) -> None:
    shutil.rmtree(place)
    place.write_bytes(b"")
