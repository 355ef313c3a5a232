"""What confinement costs, beside bare bubblewrap in the same run: `python benchmarks/sandbox.py [ROUNDS]`.

resident   a confined `true` from a process that has everything loaded, beside `bwrap` with the same namespaces
cold       `stockade sandbox --yes --quiet -- true`, beside a bare start of the same Python
covers     1,000 and 10,000 hidden files
workspace  300,000 files: the look before and after a command, beside a plain walk of them
imports    a Python that imports fifty modules, inside and outside
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from stockade.confine.ability import probe  # noqa: E402
from stockade.confine.facts import gather, look_again  # noqa: E402
from stockade.confine.index import look  # noqa: E402
from stockade.confine.plan import Request, plan  # noqa: E402
from stockade.confine.run import run  # noqa: E402
from stockade.confine.sweep import git_state, sweep  # noqa: E402

BARE = ["bwrap", "--unshare-user", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc",
        "--dev", "/dev", "--tmpfs", "/tmp", "--", "true"]  # fmt: skip
MODULES = ("asyncio argparse ast base64 bisect bz2 calendar cmath codecs collections colorsys configparser contextlib copy csv "
           "ctypes dataclasses datetime decimal difflib dis email enum fileinput fnmatch fractions functools getopt glob gzip "
           "hashlib heapq hmac html http inspect io ipaddress itertools json keyword linecache locale logging lzma mimetypes "
           "multiprocessing numbers operator optparse pathlib pickle").split()  # fmt: skip


def best(action: Callable[[], object], rounds: int) -> float:
    """The median of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


class Confiner:
    """A resident process: confines commands in one workspace, with the looks before and after."""

    def __init__(self, workspace: Path, state: Path) -> None:
        self.able = probe()
        self.state = str(state)
        home = str(state / "home")
        self.request = Request(
            "workspace", "off", str(workspace), str(workspace), home, {"PATH": os.environ["PATH"], "HOME": home}
        )

    def __call__(self, *command: str) -> None:
        looked = gather(self.request, self.state)
        state = git_state(looked.facts.finds)
        ended = run(plan(self.request, looked.facts), command, self.able, self.state)
        assert ended.code == 0, ended
        for before, after in zip(looked.indexes, look_again(looked.indexes, self.state), strict=True):
            sweep(before, after, state, f"{self.state}/quarantine")


def plain(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def walk(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


def files(folder: Path, count: int, name: str, each: int = 100) -> None:
    for at in range(count):
        if at % each == 0:
            inner = folder / f"{at // each // 50}" / f"{at // each}"
            inner.mkdir(parents=True, exist_ok=True)
        (inner / name.format(at)).touch()


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="stockade-bench-") as name:
        base = Path(name)
        small, state = base / "small", base / "state"
        (small / ".git" / "hooks").mkdir(parents=True)
        state.mkdir()
        confine = Confiner(small, state)
        confine("true")
        bare = best(lambda: plain(*BARE), rounds)
        show("resident `true`", best(lambda: confine("true"), rounds), "bare bubblewrap", bare)
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "STOCKADE_STATE_DIR": str(state)}
        cold = [sys.executable, "-m", "stockade", "sandbox", "--yes", "--quiet", "--cwd", str(small), "--", "true"]
        start = best(lambda: plain(sys.executable, "-c", "pass"), rounds)
        show("cold command line", best(lambda: subprocess.run(cold, check=True, env=env), rounds), "bare Python", start)
        code = "import " + ", ".join(MODULES)
        outside = best(lambda: plain("/usr/bin/python3", "-c", code), rounds)
        inside = best(lambda: confine("/usr/bin/python3", "-c", code), rounds) - best(lambda: confine("true"), rounds)
        show("50 imports inside", inside, "outside", outside)
        for count in (1000, 10_000):
            many = base / f"masks-{count}"
            files(many, count, "{}.env")
            hiding = Confiner(many, state)
            hiding("true")
            print(f"{count} hidden files: {best(lambda hiding=hiding: hiding('true'), 3):.0f} ms")
        large = base / "large"
        files(large, 300_000, "{}.txt")
        looking = Confiner(large, state)
        time.sleep(0.1)
        looking("true")
        walked = best(lambda: walk(large), 3)
        known = look(str(large)).known
        looks = 2 * best(lambda: look(str(large), known), 3)
        show("300,000 files, two looks", looks, "one walk", walked)
        show("300,000 files, a whole command", best(lambda: looking("true"), 3), "one walk", walked)


def show(what: str, ours: float, peer: str, theirs: float) -> None:
    print(f"{what}: {ours:.1f} ms, {peer}: {theirs:.1f} ms, ratio {ours / theirs:.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
