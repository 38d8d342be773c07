"""Locks of a database session, also where a pooler gives it to several clients."""

import pytest
from django.db import connection, transaction

from annotation.core.locks import advisory_lock


@pytest.mark.django_db(transaction=True)
def test_behind_a_pooler_a_lock_is_refused_outside_a_transaction(monkeypatch):
    monkeypatch.setitem(connection.settings_dict, "TRANSACTION_POOLING", True)
    with pytest.raises(RuntimeError, match="a session of its own"), advisory_lock("job", 7):
        pass
    with transaction.atomic(), advisory_lock("job", 7) as held:
        assert held
