"""The only door to `prm`: records become traces, scores become rows, the library's errors become ours.

The web application imports these modules, and must not import torch: what needs it is imported inside the functions.
"""
