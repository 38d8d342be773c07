"""Solutions with a known first error: hidden in the queue, used to screen annotators, shown in practice."""
