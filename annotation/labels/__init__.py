"""What is made of labels: agreement, consensus, annotator analysis, snapshots and exports."""
