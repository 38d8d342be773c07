"""One label of each step from everyone's ratings: fits with annotators' reliability, and decisions of reviewers."""
