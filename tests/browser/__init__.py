"""The lessons in a real JupyterLab, driven in a real browser."""
