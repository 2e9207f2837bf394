"""Interactive views of OneModel graphs, traces and refusals for notebooks."""
