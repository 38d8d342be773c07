"""One round: snapshot, train, evaluate, gate, promote, score, select."""
