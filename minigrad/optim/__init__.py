"""``torch.optim`` for minigrad: SGD, RMSprop, Adam and AdamW, and schedules of their learning rates."""
from . import lr_scheduler
from .optimizer import SGD, Adam, AdamW, Optimizer, RMSprop

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
