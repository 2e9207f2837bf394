"""ONNX Scatter (since 9, 11 deprecated): the first name of ScatterElements."""

from onemodel.kernels.scatter_elements import scatter_elements_11

NODE_TYPE = "Scatter"

fast = scatter_elements_11

VERSIONS = {9: fast}
EXACT = VERSIONS
