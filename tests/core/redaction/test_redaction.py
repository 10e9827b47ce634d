"""Redaction: what is masked, what is left alone, and that doing it twice changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.redaction import get_rules_version, hide_contacts, redact, redact_json, redact_with_kinds

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
# whole texts without a trace of the value
SECRETS = {
    "camel case": 'dbPassword: "plum-demo-9"',
    "escaped json": r'{"body": "{\"password\": \"plum-demo-9\"}"}',
    "xml": "<db:password>plum-demo-9</db:password>",
    "xml attribute": '<add key="Smtp.Password" value="plum-demo-9"/>',
    "cookie": "Cookie: theme=dark; connect.sid=plum-demo-9",
    "curl": "curl -u admin:plum-demo-9 https://example.org/",
    "netrc": "machine example.org login ada password plum-demo-9",
    "pgpass": "db.example.org:5432:shop:app:plum-demo-9",
    "spanish": "la contraseña es plum-demo-9",
    "korean": "비밀번호는 plum-demo-9 입니다",
    "russian": "пароль: plum-demo-9",
    "after chinese": "我的密码是plum-demo-9，别说",
    "near a cue": "the API key for staging is 9fK2mQ8xLp4Tz7Wb1RnV",
    "behind it": "use 9fK2mQ8xLp4Tz7Wb1RnV as the access token",
    "hash that is named": "auth token of the sensor: 5f4dcc3b5aa765d61d8327deb882cf99",
    "over a line": "ghp_9fK2mQ8xLp4Tz7Wb1RnV\\\nc3Yd5Hg6Jk0sAq2E",
    "in two strings": '"ghp_9fK2mQ8xLp4Tz7"\n    "Wb1RnVc3Yd5Hg6Jk0sAq2E"',
    "zero width": "pass\u200bword: plum\u2060-demo-9",
}
KEPT = (
    "if password == expected_password:",
    "pageToken: abc1, nextToken = x2",
    "pass: the salt, please; he scored with a pass: 3 goals",
    "the primary key is order_id, the sort key created_at",
    "The token of commit 9fceb02d0ae598e95dc970b74767f19372d61af8 was revoked.",
    "https://example.org/articles/4711/how-to-reset-a-password-12",
    "Cookie: chocolate chip",
    "la clave: 3 huevos",
    "Bearer of good news",
    "a list of 12 items\nthen 3x more of them",
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


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_nothing_of_a_secret_is_left(text):
    masked = redact(text)
    assert "[REDACTED:" in masked
    for piece in ("plum", "demo-9", "9fK2", "Wb1R", "c3Yd", "0sAq", "5f4d", "cf99"):
        assert piece not in masked
    assert redact(masked) == masked


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


def test_contacts_are_masked_only_on_demand():
    text = "Write to noor@example.org or call +47 400 00 000, in China 138 0013 8000."
    before = get_rules_version()
    assert redact(text) == text
    hide_contacts(True)
    try:
        assert redact(text) == "Write to [REDACTED:contact] or call [REDACTED:contact], in China [REDACTED:contact]."
        assert get_rules_version() != before
    finally:
        hide_contacts(False)
    assert redact(text) == text
