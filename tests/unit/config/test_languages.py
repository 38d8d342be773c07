"""The language of an answer: the account's, else the browser's; the API's is the request's own."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return User.objects.create_user("mara")


@pytest.fixture
def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def language_of(client: Client, address: str, browser: str) -> str:
    return client.get(address, headers={"Accept-Language": browser}).headers["Content-Language"]


def test_a_page_speaks_the_language_of_the_browser_where_it_knows_it() -> None:
    for browser, spoken in [("de-AT,de;q=0.9,en;q=0.5", "de"), ("en-GB", "en"), ("xx,de;q=0.1", "de"), ("xx", "en")]:
        assert language_of(Client(), "/accounts/login/", browser) == spoken


def test_what_the_account_chose_goes_before_the_browser_until_it_is_left_to_it(person: User, signed_in: Client) -> None:
    assert language_of(signed_in, "/tokens/", "en") == "en"
    assert signed_in.post("/language/", {"language": "de", "next": "/tokens/"}).headers["Location"] == "/tokens/"
    page = signed_in.get("/tokens/", headers={"Accept-Language": "en"})
    assert '<html lang="de">' in page.content.decode()
    signed_in.post("/language/", {"language": ""})
    assert language_of(signed_in, "/tokens/", "en") == "en"
    changes = AuditEntry.objects.filter(by=person, action="account.language").order_by("pk")
    assert [entry.after for entry in changes] == [{"language": "de"}, {"language": ""}]


def test_no_other_site_is_gone_to_and_no_unknown_language_is_kept(signed_in: Client) -> None:
    answer = signed_in.post("/language/", {"language": "tlh", "next": "https://elsewhere.example/"})
    assert answer.headers["Location"] == "/"
    assert signed_in.post("/language/", {"language": "", "next": "nowhere"}).status_code == 302
    assert language_of(signed_in, "/tokens/", "en") == "en"


def test_the_api_answers_as_the_request_asks_at_no_cost(signed_in: Client) -> None:
    signed_in.post("/language/", {"language": "de"})
    assert language_of(signed_in, "/api/v1/projects/", "en") == "en"
    with CaptureQueriesContext(connection) as statements:
        assert language_of(signed_in, "/api/v1/projects/none/", "de") == "de"
    assert not [one for one in statements if 'FROM "annotation_preference"' in one["sql"]]
