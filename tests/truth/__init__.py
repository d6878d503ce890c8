"""What PyTorch 2.13.0 does, recorded: one case is one function that both libraries run.

``cases/*.py`` hold the cases, ``records/*.json`` what PyTorch printed, ``differences.py`` where
minigrad differs on purpose.
``python -m pytest tests/truth`` compares minigrad with the records, and the records with PyTorch where it is installed;
``python tests/truth/record.py [theme ...]`` writes the records anew.
"""
