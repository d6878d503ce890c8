"""``python -m tests.peers [FOLDER...]``: each folder holds a peer's source; the word ``opinfo`` is PyTorch's own samples."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import autograd, micrograd, opinfo, tinygrad

SUITES = (micrograd, tinygrad, autograd)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description="Other projects' tests on minigrad.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="checkouts of micrograd, tinygrad, HIPS/autograd; or: opinfo")
    parser.add_argument("--only", default="", metavar="TEXT", help="operations of opinfo whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="say each failure as it happens")
    options = parser.parse_args()
    failed = 0
    for folder in options.folders:
        if folder == "opinfo":
            reports = opinfo.run(options.only, options.verbose)
        else:
            path = Path(folder).resolve()
            suite = next((suite for suite in SUITES if (path / suite.MARK).exists()), None)
            if suite is None:
                parser.error(f"{folder} holds none of " + ", ".join(suite.MARK for suite in SUITES))
            reports = suite.run(path, options.verbose)
        for report in reports:
            print(report, "\n", flush=True)
            failed += len(report.failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
