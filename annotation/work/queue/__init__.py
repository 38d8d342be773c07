"""The queue: items, claims and leases.

Locks are taken in one order everywhere, so that nothing deadlocks: the annotator's membership, then queue items by id,
then leases. The lock of the membership makes the tabs and retries of one person run one after the other.
"""
