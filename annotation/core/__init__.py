"""The basis of every room: errors, the audit log, jobs, locks, members, translation."""
