"""Redaction: what is masked, what is left alone, and that doing it twice changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.redaction import redact, redact_json, redact_with_kinds

SECRET = "plum-demo-9"

MASKED = {
    "colon": "password: {}",
    "assignment": "DB_PASSWORD={}",
    "arrow": "password => {}",
    "json": '{{"password": "{}"}}',
    "quoted": "passwd = '{}'",
    "is, with a digit": "the password is {}",
    "german": "Das Passwort ist {}",
    "chinese": "密码是{}，别说",
    "full-width": "ｐａｓｓｗｏｒｄ：{}",
    "option": "login --password {} now",
    "option with sign": "login --db-password={} now",
    "url": "postgres://app:{}@db.example/x",
    "query": "https://x.example/a?token={}&page=2",
    "over a line": "password:\n{}",
    "bracketed": "(password: {})",
}
KEPT = (
    "the password reset page",
    "my token budget is 4000",
    "password = os.environ['DB_PASSWORD']",
    "token: ${TOKEN}",
    "password: <your password>",
    "password: required",
    "max_tokens: 256, tokens: 512",
    "3f786850e387550fdab836ed7e6dc881de23001b",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "on 2026-11-30 version 2.31.0",
    "git clone git@example.org:team/app.git",
    "noor@example.org, +47 400 00 000",
    "token = get_token(user)",
)


@pytest.mark.parametrize("form", MASKED.values(), ids=MASKED)
def test_the_value_goes_and_the_words_around_it_stay(form):
    masked = redact(form.format(SECRET))
    assert SECRET not in masked
    assert "[REDACTED:" in masked
    before, after = form.replace("{{", "{").replace("}}", "}").split("{}")
    assert masked.startswith(before)
    assert masked.endswith(after)


@pytest.mark.parametrize("text", KEPT)
def test_ordinary_text_stays_whole(text):
    assert redact(text) == text


def test_kinds_are_counted():
    text, kinds = redact_with_kinds("password: plum-1, card 4111 1111 1111 1111")
    assert kinds == {"password": 1, "card": 1}
    assert text == "password: [REDACTED:password], card [REDACTED:card]"


def test_json_is_masked_by_key_and_by_text():
    value = {"auth": {"clientSecret": "tulip", "n": 3}, "log": ["pwd=tulip-1", None], "next_page_token": "abc"}
    assert redact_json(value) == {
        "auth": {"clientSecret": "[REDACTED:secret]", "n": 3},
        "log": ["pwd=[REDACTED:password]", None],
        "next_page_token": "abc",
    }


pieces = st.sampled_from(
    [*[form.format(SECRET) for form in MASKED.values()], *KEPT, "\n", " ", '"', "Bearer abcdefgh1", "\u200b", "=", ":"]
)


@given(st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=8).map("".join))
def test_twice_is_once(text):
    once = redact(text)
    assert redact(once) == once


@given(st.text(alphabet="abc123-_", min_size=6, max_size=20).filter(lambda t: any(c.isdigit() for c in t)))
def test_no_value_survives_its_keyword(value):
    assert f": {value}" not in redact(f"password: {value}")
