"""The only door to `prm`: records become traces, scores become rows, the library's errors become ours.

Everything of the library is imported inside the functions: the web application imports these modules, and
must not import torch.
"""
