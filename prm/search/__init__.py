"""Searches for better answers with a policy and a verifier: best-of-N, beam search, verify-and-revise. No torch."""

from prm.search.beam import beam_search
from prm.search.choosing import SearchResult, best_of_n
from prm.search.endpoint import Cost, Endpoint, Prefix, Sampling
from prm.search.revise import revise
from prm.search.verifiers import LocalVerifier, ServiceVerifier, Verifier

__all__ = [
    "Cost",
    "Endpoint",
    "LocalVerifier",
    "Prefix",
    "Sampling",
    "SearchResult",
    "ServiceVerifier",
    "Verifier",
    "beam_search",
    "best_of_n",
    "revise",
]
