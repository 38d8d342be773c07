"""Better answers from a policy and a verifier: best-of-N, beam search over steps, verify-and-revise. No torch."""

from prm.search.beam import beam_search
from prm.search.best_of_n import best_of_n
from prm.search.choosing import Found
from prm.search.endpoint import Cost, Endpoint, Prefix, Sampling
from prm.search.revise import revise
from prm.search.service import ServiceVerifier
from prm.search.verifiers import LocalVerifier, Verifier

__all__ = [
    "Cost",
    "Endpoint",
    "Found",
    "LocalVerifier",
    "Prefix",
    "Sampling",
    "ServiceVerifier",
    "Verifier",
    "beam_search",
    "best_of_n",
    "revise",
]
