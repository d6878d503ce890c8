"""Differences that are known: the fuzzer counts them and goes on."""
from __future__ import annotations

import re

# A pattern for Difference.kind, and why it differs.
KNOWN: dict[str, str] = {}


def reason(kind: str) -> str | None:
    """Why a kind of difference is known, or None for a new one."""
    return next((why for pattern, why in KNOWN.items() if re.search(pattern, kind)), None)
