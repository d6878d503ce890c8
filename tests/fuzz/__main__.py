"""``python -m tests.fuzz --programs N --seconds S --seed K``: hunt, and print shrunk programs that differ."""
from __future__ import annotations

import argparse
import sys
import time

import torch

import minigrad

from .hunt import Found, Hunt


def report(found: Found, times: int) -> str:
    """A failing program as text, with what each library has."""
    d = found.difference
    return "\n".join([f"--- {d.kind}  ({times} programs)", *found.lines, f"# {d.path}", f"#   torch    {d.torch!r}",
                      f"#   minigrad {d.ours!r}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Random programs in PyTorch and in minigrad.")
    parser.add_argument("--programs", type=int, default=10 ** 9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", type=int, default=10 ** 9, help="stop after so many kinds of difference")
    args = parser.parse_args()
    torch.set_num_threads(1)
    hunt, start = Hunt(torch, minigrad), time.perf_counter()
    hunt.run(args.seed, args.programs, args.seconds, args.kinds)
    seconds = time.perf_counter() - start
    for kind, found in sorted(hunt.found.items(), key=lambda item: -hunt.kinds[item[0]]):
        print(report(hunt.shrunk(found), hunt.kinds[kind]), flush=True)
    print(f"{hunt.programs} programs, {hunt.lines} lines ({hunt.raised} raised) in {seconds:.0f} s: "
          f"{hunt.programs / seconds:.0f} programs per second; {sum(hunt.kinds.values())} differ in {len(hunt.found)} kinds; "
          f"{sum(hunt.known.values())} known differences {dict(hunt.known)}")
    return 1 if hunt.found else 0


if __name__ == "__main__":
    sys.exit(main())
