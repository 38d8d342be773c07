"""Practice on gold solutions: each answer is explained at once, and none is an annotation."""
