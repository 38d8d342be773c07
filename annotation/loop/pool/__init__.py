"""Scores of the whole pool: any number of workers score shards of it and write the scores by COPY."""
