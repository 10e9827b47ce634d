"""Paths and addresses: what is one, where it ends, and what names it again."""

import time

import pytest

from core.text.paths import covers, find_missing, find_paths

CASES = {
    "glued to Chinese": ("修改了src/pay/retry.py已改，见conf/retry.toml", ["src/pay/retry.py", "conf/retry.toml"]),
    "Chinese inside": ("notes/会议/纪要.md 和 报表.xlsx", ["notes/会议/纪要.md", "报表.xlsx"]),
    "before and after": ("在/etc/hosts中，运行./run.sh，查看.env文件", ["/etc/hosts", "./run.sh", ".env"]),
    "addresses": ("(https://a.b/c_(d)). https://x.cn看看", ["https://a.b/c_(d)", "https://x.cn"]),
    "line numbers and stops": ("main.py:12:5: broke util.go. Then", ["main.py", "util.go"]),
    "marks and links": ("**src/a.py** `b.py` [x](d/e.md#top)", ["src/a.py", "b.py", "d/e.md"]),
    "Windows": (r"C:\a\b.txt and D:\资料\报告 最终\a.docx", [r"C:\a\b.txt", r"D:\资料\报告 最终\a.docx"]),
    "share": (r"to \\nas01\team\backup.zip today", [r"\\nas01\team\backup.zip"]),
    "folders": (
        "docs/ src/utils core/x lib/a_b ~/notes /etc /help",
        ["docs/", "src/utils", "core/x", "lib/a_b", "~/notes", "/etc"],
    ),
    "known names": ("Dockerfile, .env.production; LICENSE", ["Dockerfile", ".env.production", "LICENSE"]),
    "double extensions": ("v2.tar.gz libfoo.so.1", ["v2.tar.gz", "libfoo.so.1"]),
    "no paths": (
        "and/or CI/CD 24/7 2026/07/04 km/h w/ Ann 3.14 v1.2.3 Next.js a.b@c.py a.m. Ph.D. .NET 苹果/香蕉/橘子",
        [],
    ),
    "each once": ("a.py a.py", ["a.py"]),
}


@pytest.mark.parametrize(("text", "paths"), CASES.values(), ids=CASES)
def test_finding(text, paths):
    assert list(find_paths(text)) == paths


@pytest.mark.parametrize(
    ("old", "text", "named"),
    [
        ("rows.py", "core/store/rows.py is new", True),
        ("core/store/rows.py", "rows.py is new", False),
        ("./a/b.py", r"see a\b.py", True),
        ("ws.py", "rows.py", False),
        ("a.js", "a.json", False),
        ("README.md", "readme.md", False),
    ],
)
def test_what_names_a_reference_again(old, text, named):
    assert covers(old, text) is named


def test_three_files_of_a_folder_fold_into_the_folder():
    old = [f"https://cdn.io/shots/{n}.png" for n in range(3)]
    assert find_missing(old, "https://cdn.io/shots/ (3 pictures)") == ()
    assert find_missing(old[:2], "https://cdn.io/shots/ (2 pictures)") == tuple(old[:2])
    assert find_missing(["core/store/a.py", "core/store/b.py", "core/store/c.py"], "all of core/store") == ()
    assert len(find_missing(["core/store/a.py", "core/store/b.py", "core/store/c.py"], "core/storey")) == 3


@pytest.mark.parametrize("piece", ["a/", "x@", "中.", "http://", "a.b", "A", r"C:\a b ", "http://))))"])
def test_a_hostile_text_is_searched_in_a_moment(piece):
    start = time.perf_counter()
    find_paths(piece * (200_000 // len(piece)))
    find_paths("http://" + piece * (200_000 // len(piece)))
    assert time.perf_counter() - start < 5
