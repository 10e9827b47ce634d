"""Lines that look like secrets and are none: they must stay whole."""

import random
import uuid

from benchmarks.sets.secrets.kinds import HEX

LOOK_ALIKES: tuple[str, ...] = (
    "The password reset page is broken again.",
    "I forgot my password, is there a way to reset it?",
    "Your password must be at least 8 characters long.",
    "password: required",
    "password is wrong",
    "The token budget is 4096 and we use 1200 tokens.",
    "max_tokens=4096 and page_token=abc are settings.",
    "The secret of a good sauce is time: two hours at least.",
    "Secret: I never liked her cooking.",
    "The key is to start early.",
    "The key is under the mat, third stone from the left.",
    "Passwords and tokens belong into a vault.",
    "How do I store an API key safely?",
    "Use os.environ['API_KEY'] and never a literal.",
    "api_key = os.getenv('API_KEY')",
    "export API_KEY=$OPENAI_API_KEY",
    "API_KEY=your_key_here",
    "password=${DB_PASSWORD}",
    "token: <your token>",
    "Bearer of good news, she arrived at noon.",
    "Bearer tokens expire after an hour.",
    "The cookie recipe: 200 g of flour, 100 g of sugar.",
    "Cookie: chocolate chip, baked on 2024-05-03",
    "Die Parole lautet: durchhalten!",
    "Das Passwort ist falsch.",
    "La clave es la paciencia.",
    "La clave: 3 huevos por persona.",
    "Le mot de passe est expiré.",
    "密码错误，请重试。",
    "密码是什么？",
    "我忘记了密码，怎么办？",
    "幸福的密码：每天笑三次。",
    "パスワードは必須です。",
    "git checkout 3f2a9c1d4e5b6a7f8091a2b3c4d5e6f708192a3b",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "The cache key is user:4711:profile.",
    "The primary key is order_id.",
    "Press any key: F5 reloads.",
    "Order number 4012888888881882 was shipped.",
    "Tracking: 1Z999AA10123456784",
    "ISBN 978-3-16-148410-0",
    "Call me at +49 151 23456789.",
    "Write to ada.lovelace@example.org.",
    "Version 2024.11.30-rc1+build.7 is out.",
    "https://example.org/path/to/page?id=42&sort=asc",
    "https://youtu.be/dQw4w9WgXcQ?t=43",
    "pass: the salt, please",
    "He scored with a pass: 3 goals in 10 minutes.",
    "I passed the exam: 97 points!",
    "My pin is a silver rose from 1920.",
    "The token ring network was popular in 1990.",
    "auth: how does it work in FastAPI?",
    "Login: click the button on the right.",
    "The function returns token.type and token.value.",
    "for token in tokens: print(token)",
    "if password == expected_password:",
    "def check(password: str, token: str | None = None) -> bool:",
    "secret_santa: Tom draws Ada, Ada draws Tom.",
    'class="btn btn-primary" id="login-token-field"',
    "keyboard shortcut: Ctrl+Shift+P",
    "monkey: banana2",
)


def make_look_alikes(r: random.Random, count: int) -> list[str]:
    """Make lines with ids, hashes and numbers that are no secrets."""
    frames = (
        lambda: f"fixed in commit {_hex(r, 40)}",
        lambda: f"see {_hex(r, 7)} and {_hex(r, 12)}",
        lambda: f"request id {uuid.UUID(int=r.getrandbits(128))}",
        lambda: f"session {uuid.UUID(int=r.getrandbits(128))} was opened",
        lambda: f"md5 {_hex(r, 32)}",
        lambda: f"docker pull app@sha256:{_hex(r, 64)}",
        lambda: f"invoice 2024-{r.randrange(10**6):06}, order {r.randrange(10**9, 10**10)}",
        lambda: f"the build {r.randrange(10**5)} took {r.randrange(60)} s",
        lambda: f"/home/ada/projects/site{r.randrange(99)}/token_store/keys.py:{r.randrange(400)}",
        lambda: f"https://example.org/articles/{r.randrange(10**6)}/how-to-reset-a-password-{r.randrange(99)}",
        lambda: f"tree {_hex(r, 40)}\nparent {_hex(r, 40)}",
        lambda: f'etag: "{_hex(r, 32)}"',
    )
    return [r.choice(frames)() for _ in range(count)]


def _hex(r: random.Random, count: int) -> str:
    return "".join(r.choice(HEX) for _ in range(count))
