"""One label of each step from everyone's ratings, and how reliable each annotator is."""
