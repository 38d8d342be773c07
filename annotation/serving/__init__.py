"""Online scoring over HTTP: a queue of questions in Redis, answered in batches by workers of the `score` queue.

The web process checks a question, counts it, enqueues it and waits for the answer (`scoring_requests`). A thread of
each `score` worker (`worker`) reads all waiting questions in one packed pass, answers them and writes the score log.
"""
