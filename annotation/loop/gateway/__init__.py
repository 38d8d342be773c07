"""The only access to code of `prm` that needs torch: converts records to traces, scores to rows, and errors to ours.

The web application imports these modules and must not import torch, so that functions import what needs it.
"""
