"""The use of labels: agreement, consensus, analysis of annotators, review, snapshots and exports."""
