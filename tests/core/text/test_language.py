"""The user's language: decided by their own words, whatever they paste."""

import pytest

from core.text.language import detect_language, guess_language

TEXTS = {
    "de": "Kannst du mir bitte die Rechnung noch einmal schicken?",
    "fr": "Je voudrais réserver une table pour demain soir",
    "es": "¿Me puedes decir cómo se llega a la estación?",
    "pt": "Gostaria de saber como posso fazer isso amanhã",
    "it": "Vorrei capire perché non funziona la stampante",
    "en": "Could you tell me how to get to the station?",
    "ru": "Перенеси, пожалуйста, встречу на среду",
    "ar": "كيف يمكنني الوصول إلى المحطة",
    "zh": "帮我用 Python 写一个函数",
    "zh-Hant": "這個問題應該怎麼辦",
    "ja": "明日の会議は何時からですか",
    "ko": "회의 일정을 바꿔 주세요 please",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items(), ids=TEXTS)
def test_each_language_is_known_by_its_words(language, text):
    assert detect_language(text, "xx") == language


@pytest.mark.parametrize(
    "pasted",
    [
        "```python\n# the sum of both of the numbers\n```",
        'Traceback (most recent call last): File "/usr/lib/a.py", line 5, in send raise the error',
        "ERROR: the disk of this machine is full and nothing can be written",
        "    at com.acme.Main(Main.java:5)",
        "2026-05-01 10:00:00 the server was started and is waiting for you",
        "https://example.com/the/path/of/this/document",
        "`the code of this` someone@example.com src/the/path.py camelCase snake_case_name",
    ],
)
def test_what_is_pasted_does_not_count(pasted):
    assert detect_language(f"看下这个\n{pasted}", "xx") == "zh"


@pytest.mark.parametrize("text", ["", "ok", "好", "42", "😀", "https://a.b/c", "Vale"])
def test_too_little_to_tell_gives_the_fallback(text):
    assert detect_language(text, "pt") == "pt"


def test_one_huge_word_is_no_trouble():
    assert guess_language("a" * 300_000) is None
