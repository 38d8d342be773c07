"""What annotators hand in: drafts, submissions and disputes."""
