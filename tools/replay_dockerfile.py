"""Lint the Dockerfile, and replay its steps without a container engine.

The stages that a target needs are run in order. Each stage that starts from an image gets an empty
folder as its file system and a fresh virtual environment as its Python; COPY takes from the
repository what ``.dockerignore`` lets through; ENV, WORKDIR, VOLUME and bind mounts are honoured;
the Python commands of RUN are executed with the image's absolute paths moved into the folder. What
belongs to the system (packages, users, owners) is printed and skipped. At the end the entry point
must answer ``--version``, the package must import from the environment, and with ``--run-command``
the image's own command runs.

Usage: ``python tools/replay_dockerfile.py [cpu|cuda] [--run-command] [--lint-only]``
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PYTHON_COMMANDS = ("python", "python3", "pip", "gpubcast")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a Dockerfile: its line, its keyword in capitals, and the rest."""

    line: int
    keyword: str
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its name, the image or stage that it starts from, and its instructions."""

    name: str
    base: str
    instructions: tuple[Instruction, ...]


def parse(text: str) -> tuple[Stage, ...]:
    """The stages of a Dockerfile.

    Raises:
        ValueError: an instruction before the first FROM, or a here-document.
    """
    stages: list[tuple[str, str, list[Instruction]]] = []
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not (pending or line.strip()):
            continue
        start = start if pending else number
        pending += line.strip()
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        keyword, _, rest = pending.partition(" ")
        keyword, rest, pending = keyword.upper(), rest.strip(), ""
        if "<<" in rest:
            raise ValueError(f"line {start}: here-documents are not supported")
        if keyword == "FROM":
            words = rest.split()
            name = words[2] if len(words) == 3 else str(len(stages))
            stages.append((name, words[0], []))
        elif not stages:
            raise ValueError(f"line {start}: {keyword} before FROM")
        else:
            stages[-1][2].append(Instruction(start, keyword, rest))
    return tuple(Stage(name, base, tuple(steps)) for name, base, steps in stages)


def lint(stages: tuple[Stage, ...], targets: tuple[str, ...]) -> tuple[str, ...]:
    """What is wrong with a Dockerfile, one sentence each.

    The rules: images have a version tag that is not ``latest``; pip keeps no cache and apt no
    lists; each target ends as a user other than root and has an exec-form ENTRYPOINT or CMD.
    """
    names = {stage.name for stage in stages}
    found = [
        f"{stage.name}: {stage.base} has no version tag"
        for stage in stages
        if stage.base not in names and not re.search(r":(?!latest)[\w.-]*\d|@sha256:", stage.base)
    ]
    for stage in stages:
        for step in stage.instructions:
            if step.keyword != "RUN":
                continue
            if re.search(r"\bpip3? (install|wheel)\b(?!.*--no-cache-dir)", step.text):
                found.append(f"line {step.line}: pip without --no-cache-dir")
            if "apt-get install" in step.text and "/var/lib/apt/lists" not in step.text:
                found.append(f"line {step.line}: the apt lists stay in the image")
    for target in targets:
        if target not in names:
            found.append(f"there is no target {target}")
            continue
        steps = [step for stage in _chain(stages, target) for step in stage.instructions]
        users = [step.text.split(":")[0] for step in steps if step.keyword == "USER"]
        if not users or users[-1] in ("root", "0"):
            found.append(f"{target} runs as root")
        starts = [step.text for step in steps if step.keyword in ("ENTRYPOINT", "CMD")]
        if not starts or not all(text.startswith("[") for text in starts):
            found.append(f"{target} has no exec-form ENTRYPOINT or CMD")
    return tuple(found)


def _chain(stages: tuple[Stage, ...], target: str) -> tuple[Stage, ...]:
    """The stages a target is built on, the lowest first, the target last."""
    by_name = {stage.name: stage for stage in stages}
    chain: list[Stage] = []
    while target in by_name:
        chain.insert(0, by_name[target])
        target = by_name[target].base
    return tuple(chain)


def ignored(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether ``.dockerignore`` patterns keep a path (relative, with ``/``) out of the build."""
    out = False
    parts = path.split("/")
    prefixes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    for pattern in patterns:
        regex = _pattern_regex(pattern.removeprefix("!").strip("/"))
        if any(re.fullmatch(regex, prefix) for prefix in prefixes):
            out = not pattern.startswith("!")
    return out


def _pattern_regex(pattern: str) -> str:
    """``*`` stops at a slash; ``**/`` is any number of folders, none included."""
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    return "".join(
        wild.get(piece, piece if piece.startswith("[") else re.escape(piece)) for piece in pieces
    )


@dataclass(slots=True)
class _Machine:
    """The file system and the environment that the stages of one chain share."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()

    def path(self, inside: str) -> Path:
        """Where a path of the image is on this machine."""
        return self.root / (Path(self.directory) / inside).relative_to("/")

    def moved(self, text: str) -> str:
        """A command with the image's absolute paths moved into the folder."""
        return re.sub(r"(?<![\w.$}/:*-])/(?=\w)", f"{self.root}/", text)

    def run(self, command: str) -> None:
        """Run a shell command as the image would; its output is shown.

        Raises:
            subprocess.CalledProcessError: the command failed.
        """
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "PYTHONHOME") and not name.startswith("GPUBCAST_")
        }
        environment |= {name: self.moved(value) for name, value in self.environment.items()}
        environment["PATH"] = f"{self.root}/venv/bin{os.pathsep}{os.environ['PATH']}"
        began = time.monotonic()
        print(f"  $ {command}", flush=True)
        where = self.path(".")
        subprocess.run(["/bin/sh", "-ec", command], cwd=where, env=environment, check=True)
        print(f"    {time.monotonic() - began:.1f} s", flush=True)


def replay(stages: tuple[Stage, ...], target: str, work: Path, *, run_command: bool) -> None:
    """Build a target in a folder and check what it runs.

    Args:
        stages: the stages of the Dockerfile.
        target: the stage to build.
        work: an empty folder.
        run_command: whether to run the image's command too.

    Raises:
        subprocess.CalledProcessError: a step failed.
        FileNotFoundError: COPY names what is not in the build context.
    """
    built: dict[str, _Machine] = {}
    machine = _build(stages, target, work, built)
    entry = shlex.join(machine.entrypoint)
    machine.run(f"{entry} --version")
    machine.run(
        "python -I -c 'import sys, gpubcast; assert gpubcast.__file__.startswith(sys.prefix)'"
    )
    if run_command:
        machine.run(shlex.join(machine.entrypoint + machine.command))


def _build(
    stages: tuple[Stage, ...], target: str, work: Path, built: dict[str, _Machine]
) -> _Machine:
    chain = _chain(stages, target)
    machine = _Machine(work / target)
    machine.root.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(machine.root / "venv")], check=True)
    for stage in chain:
        for step in stage.instructions:
            for name in re.findall(r"(?:--|\b)from=([\w.-]+)", step.text):
                if name not in built:
                    built[name] = _build(stages, name, work, built)
            print(f"[{target}] line {step.line}: {step.keyword}", flush=True)
            _step(machine, step, built)
    return machine


def _step(machine: _Machine, step: Instruction, built: dict[str, _Machine]) -> None:
    match step.keyword:
        case "RUN":
            _run(machine, step.text, built)
        case "COPY":
            _copy(machine, step.text, built)
        case "WORKDIR":
            machine.directory = str(Path(machine.directory) / step.text)
            machine.path(".").mkdir(parents=True, exist_ok=True)
        case "ENV":
            pairs = (word.partition("=") for word in shlex.split(step.text))
            machine.environment |= {name: value for name, _, value in pairs}
        case "VOLUME":
            for folder in json.loads(step.text):
                machine.path(folder).mkdir(parents=True, exist_ok=True)
        case "ENTRYPOINT":
            machine.entrypoint, machine.command = tuple(json.loads(step.text)), ()
        case "CMD":
            machine.command = tuple(json.loads(step.text))
        case "USER":
            print(f"  skipped: USER {step.text}")
        case _:
            raise ValueError(f"line {step.line}: {step.keyword} is not supported")


def _run(machine: _Machine, text: str, built: dict[str, _Machine]) -> None:
    while text.startswith("--"):
        option, _, text = text.partition(" ")
        text = text.strip()
        mount = dict(pair.split("=", 1) for pair in option.split("=", 1)[1].split(","))
        if mount.get("type") == "bind":
            target = machine.path(mount["target"])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(built[mount["from"]].path(mount["source"]))
    for command in re.split(r"\s*&&\s*", text):
        if shlex.split(command)[0] in PYTHON_COMMANDS:
            machine.run(machine.moved(command))
        else:
            print(f"  skipped: {command}")


def _copy(machine: _Machine, text: str, built: dict[str, _Machine]) -> None:
    words = shlex.split(text)
    options = [word for word in words if word.startswith("--")]
    *sources, target = (word for word in words if not word.startswith("--"))
    origin = next((option[7:] for option in options if option.startswith("--from=")), None)
    patterns = tuple(
        line.strip()
        for line in (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    )
    folder = machine.path(target)
    for source in sources:
        start = built[origin].path(source) if origin else REPOSITORY / source
        if not start.exists() or (origin is None and ignored(source, patterns)):
            raise FileNotFoundError(f"COPY {source}: not in the build context")
        into = folder / start.name if start.is_file() and target.endswith("/") else folder
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            context = path.relative_to(REPOSITORY).as_posix() if origin is None else ""
            if path.is_file() and not (context and ignored(context, patterns)):
                copy = into / path.relative_to(start) if path != start else into
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)


def main(arguments: list[str] | None = None) -> int:
    """Lint, then replay one target; 1 if the lint or a step failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", nargs="?", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--run-command", action="store_true", help="run the image's command too")
    parser.add_argument("--lint-only", action="store_true", help="do not run anything")
    options = parser.parse_args(arguments)
    file = REPOSITORY / "Dockerfile"
    stages = parse(file.read_text(encoding="utf-8"))
    problems = lint(stages, ("cpu", "cuda"))
    print(*problems, sep="\n") if problems else print("Dockerfile: our rules hold")
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}/usr/bin")
    if hadolint is None:
        print("hadolint is not installed: its rules were not checked")
    elif subprocess.run([hadolint, str(file)], check=False).returncode:
        problems = (*problems, "hadolint")
    if problems or options.lint_only:
        return 1 if problems else 0
    with tempfile.TemporaryDirectory(prefix="gpubcast-image-") as work:
        try:
            replay(stages, options.target, Path(work), run_command=options.run_command)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            print(f"{options.target}: {error}", file=sys.stderr)
            return 1
    print(f"{options.target}: every step replayed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
