"""The workflow of `examples/own-python`, command by command."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OWN = ROOT / "examples/own-python"
WORKFLOW = OWN / ".github/workflows/verdict.yml"
MARGIN = " " * 10


def setting(name):
    (line,) = (line for line in WORKFLOW.read_text().splitlines() if f" {name}: " in line)
    return line.split(": ", 1)[1].strip('"')


@pytest.mark.skipif(shutil.which("git") is None, reason="it compares with a branch")
def test_the_workflow_runs(tmp_path):
    _, script = WORKFLOW.read_text().split("- run: |\n")
    lines = script.splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith(MARGIN))
    script = "\n".join(line.removeprefix(MARGIN) for line in lines[:end])
    repository = tmp_path / "repository"
    shutil.copytree(OWN, repository)

    def git(*arguments):
        who = ["-c", "user.name=Accord", "-c", "user.email=accord@localhost"]
        subprocess.run(["git", *who, *arguments], cwd=repository, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "A controller")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    # One case in place of the packs.
    program = Path(sys.executable).parent / "accord"
    (tmp_path / "bin").mkdir()
    quick = tmp_path / "bin/accord"
    quick.write_text(f'#!/bin/sh\nexec {program} "$@" --case shallow-one --reps 2\n')
    quick.chmod(0o755)
    settings = {name: setting(name) for name in ("SUBJECT", "RIVALS")}
    env = os.environ | settings | {"PACKS": "buffers", "GITHUB_BASE_REF": "main"}
    env["PATH"] = f"{quick.parent}:{env['PATH']}"
    # As GitHub starts it.
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(bash, cwd=repository, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "keeper against cubic" in done.stdout
    assert "0 worse" in done.stdout
    for file in ["verdict/index.html", "verdict.xml"]:
        assert (repository / file).is_file()


def test_the_packs_and_the_class_are_there():
    known = subprocess.run(
        [Path(sys.executable).parent / "accord", "list", "packs"], capture_output=True, text=True
    ).stdout
    assert all(pack in known for pack in setting("PACKS").split(","))
    file, name = setting("SUBJECT").split(":")
    assert f"class {name}(" in (OWN / file).read_text()
