"""Rounds: train, gate, promote, score the pool, open the next generation. `gateway` is the door to prm."""
