"""``torch.optim`` for minigrad: SGD, Adam and AdamW, and schedules of their learning rates."""
from . import lr_scheduler
from .optimizer import SGD, Adam, AdamW, Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
