"""Practice on solutions whose first error is known: each answer is explained at once, and none is an annotation."""
