"""Search for good mechanisms: objectives, halving, sweeps, evolution, look-ahead, distillation."""
