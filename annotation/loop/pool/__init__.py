"""Scores of the whole pool: cut into shards, scored by any number of workers, written by COPY, dropped whole."""
