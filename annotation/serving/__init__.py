"""Scores over HTTP: a line of questions in Redis, and workers of the `score` queue that answer them in batches.

The web process checks, counts and puts a question on the line (`asking`), and waits for its answer. A thread of each
`score` worker (`worker`) takes whatever waits, reads it in one packed pass, answers, and writes the log.
"""
