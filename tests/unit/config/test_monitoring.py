import pytest


@pytest.mark.django_db
def test_healthz(client):
    response = client.get("/healthz")
    assert response.json() == {"database": "ok", "redis": "ok"}
