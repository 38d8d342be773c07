"""What every room needs: errors, the audit log, jobs, members, words for the reader."""
