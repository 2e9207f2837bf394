"""Records of operator calls, grad mode and the backward walk."""

from onemodel.autograd.grad_mode import is_grad_enabled
from onemodel.tensors.tensor import connect_grad_mode

connect_grad_mode(is_grad_enabled)
