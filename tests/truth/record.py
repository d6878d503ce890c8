"""Write down what PyTorch does: ``python tests/truth/record.py [theme ...]``."""
from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).parents[1]))
from truth.harness import RECORDS, THEMES, TORCH, cases_of, run


def record(theme: str) -> None:
    """Run the cases of a theme on PyTorch, and write their lines."""
    lines = {name: run(case, torch) for name, case in cases_of(theme).items()}
    data = json.dumps({"torch": TORCH, "cases": lines}, ensure_ascii=False, indent=1)
    (RECORDS / f"{theme}.json").write_text(data + "\n", encoding="utf-8", newline="\n")
    print(f"{theme}: {len(lines)} cases, {sum(map(len, lines.values()))} lines")


if __name__ == "__main__":
    if torch.__version__.split("+")[0] != TORCH:
        sys.exit(f"the records are PyTorch {TORCH}'s; this is {torch.__version__}")
    for theme in sys.argv[1:] or THEMES:
        record(theme)
