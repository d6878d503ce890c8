"""The cases, by theme."""
