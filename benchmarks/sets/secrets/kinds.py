"""Kinds of secrets: how a value of each is made up, and the words or frame it comes with.

A kind whose form gives it away needs no frame; others are secrets only by what stands before them.
"""

import base64
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
Make = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Kind:
    """`make` returns a value; `frames` hold `{}` where it stands. No frame: the form alone gives it away."""

    name: str
    make: Make
    frames: tuple[str, ...] = ()


def draw(r: random.Random, letters: str, count: int) -> str:
    """Draw letters; at least one is a digit where digits are among them."""
    text = [r.choice(letters) for _ in range(count)]
    if any(c.isdigit() for c in letters):
        text[r.randrange(count // 2)] = r.choice([c for c in letters if c.isdigit()])
    return "".join(text)


def form(prefix: str, letters: str, count: int, suffix: str = "") -> Make:
    """A fixed prefix and letters."""
    return lambda r: f"{prefix}{draw(r, letters, count)}{suffix}"


def words(r: random.Random) -> str:
    """A password as people choose them."""
    word = r.choice(("tulip", "Harbor", "quokka", "Lantern", "maple", "Sonne", "cobalt", "Orchid", "zebra", "granit"))
    return f"{word}{r.choice('!#$%&*-_.+')}{r.randrange(10, 9999)}{r.choice(('', 'x', 'Q', '!'))}"


def b64(r: random.Random, size: int) -> str:
    return base64.b64encode(bytes(r.randrange(256) for _ in range(size))).decode()


def jwt(r: random.Random) -> str:
    return f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI{draw(r, URLSAFE, 30)}.{draw(r, URLSAFE, 43)}"


def pem(kind: str) -> Make:
    def make(r: random.Random) -> str:
        body = "\n".join(b64(r, 48) for _ in range(4))
        return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"

    return make


def card(r: random.Random) -> str:
    digits = r.choice(("4", "51", "34", "6011"))
    length = 15 if digits == "34" else 16
    digits += "".join(str(r.randrange(10)) for _ in range(length - 1 - len(digits)))
    total = sum(d - 9 if d > 9 else d for d in (int(c) * (2 - i % 2) for i, c in enumerate(reversed(digits))))
    digits += str(-total % 10)
    sep = r.choice(("", " ", "-"))
    return sep.join(digits[i : i + 4] for i in range(0, len(digits), 4))


def iban(r: random.Random) -> str:
    country, length = r.choice((("DE", 18), ("GB", 18), ("FR", 23), ("ES", 20), ("NL", 14)))
    account = "".join(str(r.randrange(10)) for _ in range(length))
    if country in ("GB", "NL"):
        account = "ABNA" + account[4:]
    number = int("".join(str(int(c, 36)) for c in f"{account}{country}00"))
    text = f"{country}{98 - number % 97:02}{account}"
    return " ".join(text[i : i + 4] for i in range(0, len(text), 4)) if r.random() < 0.5 else text


def chinese_id(r: random.Random) -> str:
    head = f"11010519{r.randrange(50, 99)}0{r.randrange(1, 9)}{r.randrange(10, 28)}{r.randrange(100, 999)}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return head + "10X98765432"[sum(int(d) * w for d, w in zip(head, weights, strict=True)) % 11]


KINDS: tuple[Kind, ...] = (
    Kind("openai", form("sk-", ALNUM, 48)),
    Kind("openai project", form("sk-proj-", URLSAFE, 80)),
    Kind("anthropic", form("sk-ant-api03-", URLSAFE, 90, "AA")),
    Kind("github classic", form("ghp_", ALNUM, 36)),
    Kind("github app", form("ghs_", ALNUM, 36)),
    Kind("github fine", form("github_pat_", ALNUM, 82)),
    Kind("gitlab", form("glpat-", URLSAFE, 20)),
    Kind("slack bot", lambda r: f"xoxb-{r.randrange(10**11)}-{r.randrange(10**12)}-{draw(r, ALNUM, 24)}"),
    Kind("slack app", lambda r: f"xapp-1-A{draw(r, ALNUM, 10).upper()}-{r.randrange(10**12)}-{draw(r, HEX, 64)}"),
    Kind("slack webhook", lambda r: draw(r, ALNUM, 24), ("https://hooks.slack.com/services/T01ABCDEF/B02ABCDEF/{}",)),
    Kind(
        "discord webhook", lambda r: draw(r, URLSAFE, 68), ("https://discord.com/api/webhooks/112233445566778899/{}",)
    ),
    Kind("discord bot", lambda r: f"MTA{draw(r, ALNUM, 23)}.{draw(r, ALNUM, 6)}.{draw(r, URLSAFE, 38)}"),
    Kind("telegram bot", lambda r: f"{r.randrange(10**8, 10**10)}:AA{draw(r, URLSAFE, 33)}"),
    Kind("aws id", form("AKIA", string.ascii_uppercase + "234567", 16)),
    Kind(
        "aws secret",
        form("", BASE64, 40),
        ("aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", "SecretAccessKey: {}"),
    ),
    Kind("google api", form("AIza", URLSAFE, 35)),
    Kind("google client", form("GOCSPX-", URLSAFE, 28)),
    Kind("google oauth", form("ya29.", URLSAFE, 100)),
    Kind("stripe live", form("sk_live_", ALNUM, 24)),
    Kind("stripe test", form("sk_test_", ALNUM, 24)),
    Kind("stripe webhook", form("whsec_", ALNUM, 32)),
    Kind("npm", form("npm_", ALNUM, 36)),
    Kind("pypi", form("pypi-AgEIcHlwaS5vcmc", URLSAFE, 120)),
    Kind("hugging face", form("hf_", ALNUM, 34)),
    Kind("sendgrid", lambda r: f"SG.{draw(r, URLSAFE, 22)}.{draw(r, URLSAFE, 43)}"),
    Kind("mailgun", form("key-", HEX, 32)),
    Kind("mailchimp", form("", HEX, 32, "-us12")),
    Kind("twilio", form("SK", HEX, 32)),
    Kind("digitalocean", form("dop_v1_", HEX, 64)),
    Kind("shopify", form("shpat_", HEX, 32)),
    Kind("vault", form("hvs.", URLSAFE, 90)),
    Kind("databricks", form("dapi", HEX, 32)),
    Kind("linear", form("lin_api_", ALNUM, 40)),
    Kind("notion", form("ntn_", ALNUM, 46)),
    Kind("grafana", form("glsa_", ALNUM, 32, "_1a2b3c4d")),
    Kind("new relic", form("NRAK-", string.ascii_uppercase + string.digits, 27)),
    Kind("square", form("sq0atp-", URLSAFE, 22)),
    Kind("atlassian", form("ATATT3xFfGF0", URLSAFE, 100)),
    Kind("postman", lambda r: f"PMAK-{draw(r, HEX, 24)}-{draw(r, HEX, 34)}"),
    Kind("age key", form("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    Kind(
        "azure storage",
        lambda r: b64(r, 64),
        ("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};EndpointSuffix=core.windows.net",),
    ),
    Kind(
        "azure sas",
        lambda r: b64(r, 32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        ("https://acme.blob.core.windows.net/box?sv=2022-11-02&sp=r&sig={}",),
    ),
    Kind("jwt", jwt),
    Kind("bearer", form("", URLSAFE, 40), ("Authorization: Bearer {}", "-H 'Authorization: Bearer {}'", "bearer {}")),
    Kind("basic", lambda r: b64(r, 24), ("Authorization: Basic {}", "authorization: basic {}")),
    Kind("own scheme", form("", HEX, 40), ("X-API-Key: {}", "X-Auth-Token: {}", "PRIVATE-TOKEN: {}", "api-key: {}")),
    Kind(
        "cookie",
        form("", URLSAFE, 32),
        ("Cookie: sessionid={}", "Set-Cookie: session={}; Path=/; HttpOnly", "Cookie: theme=dark; connect.sid={}"),
    ),
    Kind("rsa key", pem("RSA PRIVATE KEY")),
    Kind("openssh key", pem("OPENSSH PRIVATE KEY")),
    Kind("pgp key", pem("PGP PRIVATE KEY BLOCK")),
    Kind("url login", words, ("https://deploy:{}@git.example.org/app.git", "ftp://backup:{}@10.0.0.7/daily")),
    Kind(
        "database url",
        words,
        (
            "postgres://app:{}@db:5432/shop",
            "mongodb+srv://root:{}@cluster0.example.net/x",
            "redis://:{}@cache:6379/0",
            "amqp://guest:{}@mq/",
        ),
    ),
    Kind(
        "connection string",
        words,
        (
            "Server=db1;Database=shop;User Id=sa;Password={};Encrypt=true",
            "host=db1 user=app password={} dbname=shop",
            "Driver=ODBC;UID=sa;PWD={};",
        ),
    ),
    Kind(
        "query parameter",
        form("", ALNUM, 28),
        (
            "https://api.example.org/v1/list?api_key={}&page=2",
            "GET /cb?code=1&access_token={}",
            "https://maps.example.org/?key=1&token={}",
        ),
    ),
    Kind(
        "password en",
        words,
        (
            "password: {}",
            "Password = {}",
            "my password is {}",
            "passwd:{}",
            "pwd={}",
            "the wifi password is {}",
            "login: ada, password: {}",
            "passphrase: {}",
            "pass: {}",
        ),
    ),
    Kind("password de", words, ("Passwort: {}", "das Passwort ist {}", "Kennwort={}", "mein Passwort lautet {}")),
    Kind("password es", words, ("contraseña: {}", "la contraseña es {}", "clave: {}", "mi contraseña es: {}")),
    Kind("password fr", words, ("mot de passe : {}", "le mot de passe est {}", "mdp: {}")),
    Kind("password it", words, ("la password è {}", "parola d'ordine: {}")),
    Kind("password pt", words, ("senha: {}", "a senha é {}", "palavra-passe: {}")),
    Kind("password ru", words, ("пароль: {}", "пароль - {}")),
    Kind("password zh", words, ("密码:{}", "密码：{}", "我的密码是{}", "口令：{}", "密码为 {}", "登录密码: {}")),
    Kind("password ja", words, ("パスワード：{}", "パスワードは{}です")),
    Kind("password ko", words, ("비밀번호: {}", "비밀번호는 {} 입니다")),
    Kind(
        "env",
        words,
        (
            "DB_PASSWORD={}",
            "export MYSQL_PWD='{}'",
            "REDIS_PASS={}",
            'ADMIN_PASSWORD="{}"',
            "SMTP_PASSWD={}",
            "set DJANGO_SECRET_KEY={}",
        ),
    ),
    Kind(
        "env key",
        form("", ALNUM, 32),
        (
            "OPENAI_API_KEY={}",
            "export STRIPE_SECRET={}",
            "JWT_SECRET: {}",
            "ENCRYPTION_KEY={}",
            "CLIENT_SECRET={}",
            "SIGNING_KEY = '{}'",
        ),
    ),
    Kind(
        "option",
        words,
        (
            "mysqldump --user=root --password={} shop",
            "restic --password {} backup",
            "vault login --token {}",
            "tool --api-key={} run",
            "sshpass -p {} ssh root@host",
            "curl -u admin:{} https://example.org/",
        ),
    ),
    Kind("netrc", words, ("machine example.org login ada password {}", "db.example.org:5432:shop:app:{}")),
    Kind(
        "registry auth",
        lambda r: b64(r, 27),
        ('"auths": {{"ghcr.io": {{"auth": "{}"}}}}', "//registry.npmjs.org/:_authToken={}", ":_password={}"),
    ),
    Kind(
        "one-time",
        form("", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
        ("otpauth://totp/Acme:ada?secret={}&issuer=Acme", "TOTP secret: {}"),
    ),
    Kind(
        "token near a cue",
        form("", ALNUM, 32),
        (
            "the API key for staging is {}",
            "here is the token for the bot: {}",
            "my secret key for the wallet: {}",
            "use {} as the access token",
            "新的密钥是 {}",
            "API 密钥（生产环境）：{}",
            "credentials for prod {}",
        ),
    ),
    Kind(
        "hex near a cue",
        form("", HEX, 32),
        ("Datadog API key: {}", "the auth token of the sensor is {}", "api key {}", "secret for the webhook: {}"),
    ),
    Kind(
        "uuid key",
        lambda r: f"{draw(r, HEX, 8)}-{draw(r, HEX, 4)}-4{draw(r, HEX, 3)}-a{draw(r, HEX, 3)}-{draw(r, HEX, 12)}",
        ("HEROKU_API_KEY={}", "api_key: {}", "client_secret={}"),
    ),
    Kind(
        "xml",
        words,
        ("<password>{}</password>", '<add key="Password" value="{}"/>', '<property name="password" value="{}"/>'),
    ),
    Kind("card", card),
    Kind("iban", iban),
    Kind("chinese id", chinese_id),
)
