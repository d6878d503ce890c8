"""``python -m tests.fuzz --programs N --seconds S --seed K``: hunt, and print shrunk programs that differ."""
from __future__ import annotations

import argparse
import re
import sys
import time

from . import corpus
from .child import Batches
from .hunt import Found


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
    parser.add_argument("--keep", action="store_true", help="put the shrunk programs into the corpus, with PyTorch's record")
    parser.add_argument("--record", action="store_true", help="only record anew what PyTorch says to the corpus")
    args = parser.parse_args()
    if args.record:
        for path in corpus.programs():
            corpus.record(path)
        return 0
    hunt, start = Batches(), time.perf_counter()
    hunt.run(args.seed, args.programs, args.kinds, args.seconds)
    seconds = time.perf_counter() - start
    for kind, found in sorted(hunt.found.items(), key=lambda item: -hunt.kinds[item[0]]):
        found = hunt.shrunk(found)
        print(report(found, hunt.kinds[kind]), flush=True)
        if args.keep:
            name = re.sub(r"\W+", "_", kind).strip("_")[:60]
            corpus.record(corpus.keep(name, found.lines))
    for lines, alone in hunt.crashes:
        print("--- PyTorch ended the process " + ("and does so alone" if alone else "but does not alone"), *lines, "", sep="\n")
    n = hunt.counts
    print(f"{n['programs']} programs, {n['lines']} lines ({n['raised']} raised) in {seconds:.0f} s: "
          f"{n['programs'] / seconds:.0f} programs per second; {sum(hunt.kinds.values())} differ in {len(hunt.found)} kinds; "
          f"{sum(hunt.known.values())} known differences; {len(hunt.crashes)} crashes of PyTorch")
    for why, times in hunt.known.most_common():
        print(f"{times:6} {why}")
    return 1 if hunt.found else 0


if __name__ == "__main__":
    sys.exit(main())
