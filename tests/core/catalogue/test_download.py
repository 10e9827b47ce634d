"""Downloads against a real server on this machine, good and bad: resuming, breaking off, lying, redirecting."""

import asyncio
import hashlib
import json
import random

import pytest

from core.catalogue.addresses import follow
from core.catalogue.download import Download, Patience, discard
from core.catalogue.models import ModelEntry
from core.errors import DownloadError
from core.model_files import DownloadStep
from tests.core.catalogue import file_server as behave
from tests.core.catalogue.file_server import FileServer

DATA = random.Random(1).randbytes(3_000_000)
QUICK = Patience(connect_s=5, stall_s=0.3, tries=3, first_wait_s=0.01)


@pytest.fixture
def server():
    server = FileServer(DATA)
    yield server
    server.close()


def entry(server, data=DATA, **changes):
    values = {
        "id": "tiny",
        "name": "Tiny",
        "role": "chat",
        "source": server.url,
        "file": "tiny.gguf",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "context_tokens": 2048,
        "licence": "MIT",
        "least_ram_bytes": 1000,
    }
    return ModelEntry(**{**values, **changes})


@pytest.fixture
def fetch(server, tmp_path):
    """Download into a folder; the steps reported are kept in `fetch.steps`."""

    def run(stop_at=None, **changes):
        options = {key: changes.pop(key) for key in ("free_bytes", "proxy", "patience") if key in changes}

        async def main():
            def hear(progress):
                run.steps.append(progress)
                if stop_at is not None and progress.done_bytes >= stop_at:
                    task.cancel()

            download = Download(
                entry(server, **changes), tmp_path / "models", on_progress=hear, **{"patience": QUICK} | options
            )
            task = asyncio.ensure_future(download.run())
            return await asyncio.wait_for(task, 20)

        return asyncio.run(main())

    run.steps = []
    return run


def part(tmp_path):
    return tmp_path / "models" / "tiny.gguf.part"


def keep_part(tmp_path, server, count, validator=None, data=DATA):
    part(tmp_path).parent.mkdir(exist_ok=True)
    part(tmp_path).write_bytes(data[:count])
    notes = {"sha256": hashlib.sha256(DATA).hexdigest(), "validator": validator or server.plan.etag}
    part(tmp_path).with_name("tiny.gguf.part.json").write_text(json.dumps(notes))


def test_a_whole_file_arrives_and_leaves_nothing_beside_it(fetch, tmp_path):
    path = fetch()
    assert path.read_bytes() == DATA
    assert [each.name for each in path.parent.iterdir()] == ["tiny.gguf"]
    assert fetch.steps[-1].step is DownloadStep.DONE
    assert fetch.steps[-1].done_bytes == fetch.steps[-1].total_bytes == len(DATA)


def test_a_part_is_gone_on_with(fetch, server, tmp_path):
    keep_part(tmp_path, server, 1_000_000)
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges == ["bytes=1000000-"]


def test_a_whole_part_is_only_checked(fetch, server, tmp_path):
    keep_part(tmp_path, server, len(DATA))
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges == []


def test_a_part_of_another_version_is_begun_anew(fetch, server, tmp_path):
    keep_part(tmp_path, server, 1_000_000, validator='"older"', data=bytes(len(DATA)))
    assert fetch().read_bytes() == DATA
    assert any("begins anew" in each.sentence for each in fetch.steps)


def test_a_part_of_another_model_is_thrown_away(fetch, server, tmp_path):
    keep_part(tmp_path, server, 1000)
    (part(tmp_path).with_name("tiny.gguf.part.json")).write_text('{"sha256": "other"}')
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges == [None]


def test_a_server_without_ranges_sends_all_again(fetch, server, tmp_path):
    keep_part(tmp_path, server, 1_000_000)
    server.plan.behaviours = [behave.ignore_ranges]
    assert fetch().read_bytes() == DATA


def test_a_broken_connection_is_taken_up_where_it_broke(fetch, server):
    server.plan.behaviours = [behave.break_after(1_000_000), behave.break_after(500_000)]
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges == [None, "bytes=1000000-", "bytes=1500000-"]
    waits = [each for each in fetch.steps if each.step is DownloadStep.WAITING]
    assert len(waits) == 2
    assert "trying again" in waits[0].sentence


def test_a_stalled_server_is_asked_again(fetch, server):
    server.plan.behaviours = [behave.stall_after(700_000)]
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges[1] == "bytes=700000-"


def test_tries_that_bring_nothing_end_and_what_came_is_kept(fetch, server, tmp_path):
    server.plan.behaviours = [behave.break_after(1_000_000), *[behave.break_after(0)] * 3]
    with pytest.raises(DownloadError, match=r"3 times in a row.*977 KB that came are kept"):
        fetch()
    assert part(tmp_path).stat().st_size == 1_000_000
    assert fetch().read_bytes() == DATA


def test_tries_that_bring_something_do_not_count_together(fetch, server):
    server.plan.behaviours = [behave.break_after(300_000)] * 9
    assert fetch().read_bytes() == DATA


def test_stopping_keeps_what_came_and_going_on_asks_for_the_rest(fetch, server, tmp_path):
    server.plan.behaviours = [behave.drip(100_000, 0.05)]
    with pytest.raises(asyncio.CancelledError):
        fetch(stop_at=300_000)
    kept = part(tmp_path).stat().st_size
    assert 300_000 <= kept < len(DATA)
    assert fetch().read_bytes() == DATA
    assert server.plan.ranges[-1] == f"bytes={kept}-"


def test_wrong_bytes_never_become_a_model(fetch, server, tmp_path):
    server.plan.data = bytes(len(DATA))
    with pytest.raises(DownloadError, match="not the file that the list describes"):
        fetch()
    assert list((tmp_path / "models").iterdir()) == []


def test_another_length_is_refused_before_anything_is_written(fetch, server, tmp_path):
    server.plan.behaviours = [behave.announce(len(DATA) + 5)]
    with pytest.raises(DownloadError, match=r"offers a file of 3,000,005 bytes where the list says 3,000,000"):
        fetch()
    assert not part(tmp_path).exists()


def test_a_page_to_log_in_is_called_one(fetch, server):
    server.plan.behaviours = [behave.answer(200, b"<html>log in</html>", Content_Type="text/html; charset=utf-8")]
    with pytest.raises(DownloadError, match="web page"):
        fetch()


def test_more_bytes_than_announced_anywhere_end_it(fetch, server, tmp_path):
    server.plan.behaviours = [behave.send_without_length(DATA + b"x")]
    with pytest.raises(DownloadError, match="sent more than"):
        fetch()
    assert not part(tmp_path).exists()


def test_a_lie_about_where_a_part_begins_costs_the_part_not_the_file(fetch, server, tmp_path):
    keep_part(tmp_path, server, 1_000_000)
    size = len(DATA)
    server.plan.behaviours = [behave.answer(206, DATA[2_000_000:], Content_Range=f"bytes 2000000-{size - 1}/{size}")]
    assert fetch().read_bytes() == DATA


def test_a_shorter_file_on_the_server_is_noticed(fetch, server, tmp_path):
    keep_part(tmp_path, server, 2_000_000)
    server.plan.data = DATA[:1000]
    with pytest.raises(DownloadError, match="1,000 bytes"):
        fetch()


@pytest.mark.parametrize(
    ("status", "said"), [(401, "log in"), (403, "does not allow"), (404, "no longer has"), (418, "status 418")]
)
def test_a_refusal_is_said_and_not_tried_again(fetch, server, status, said):
    server.plan.behaviours = [behave.answer(status)]
    with pytest.raises(DownloadError, match=said):
        fetch()
    assert len(server.plan.ranges) == 1


def test_a_busy_server_is_given_the_time_it_asks_for(fetch, server):
    server.plan.behaviours = [behave.answer(503, Retry_After="0"), behave.answer(429, Retry_After="0")]
    assert fetch(patience=Patience(first_wait_s=100)).read_bytes() == DATA
    assert len(server.plan.ranges) == 3


def test_a_redirect_on_this_machine_is_followed(fetch, server):
    server.plan.behaviours = [behave.redirect("/elsewhere")]
    assert fetch().read_bytes() == DATA
    assert server.plan.paths == ["/model.gguf", "/elsewhere"]


def test_a_redirect_to_a_host_that_is_not_named_is_refused_and_named(fetch, server):
    server.plan.behaviours = [behave.redirect(f"http://localhost:{server.port}/model.gguf")]
    with pytest.raises(DownloadError, match=r"localhost, which the list of models does not name"):
        fetch()
    assert len(server.plan.paths) == 1


def test_a_redirect_to_a_host_that_is_named_is_followed(fetch, server):
    server.plan.behaviours = [behave.redirect(f"http://localhost:{server.port}/model.gguf")]
    assert fetch(redirects=("localhost",)).read_bytes() == DATA


def test_redirects_without_end_end(fetch, server):
    server.plan.behaviours = [behave.redirect("/again")] * 9
    with pytest.raises(DownloadError, match="without end"):
        fetch()
    assert len(server.plan.paths) == 5


def test_encryption_is_never_given_up(server):
    safe = entry(server, source="https://models.example/a", redirects=("*.cdn.example",))
    assert follow(safe.source, "/b", safe) == "https://models.example/b"
    assert follow(safe.source, "https://eu.cdn.example/b", safe) == "https://eu.cdn.example/b"
    for location in ("http://models.example/b", "http://eu.cdn.example/b", "file:///etc/passwd", "http://127.0.0.1/b"):
        with pytest.raises(DownloadError, match=r"without encryption|cannot be read"):
            follow(safe.source, location, safe)
    for location in ("https://cdn.example/b", "https://evilcdn.example/b", "https://.cdn.example/", ""):
        with pytest.raises(DownloadError):
            follow(safe.source, location, safe)


def test_a_disk_without_room_is_said_with_both_numbers_before_anything_is_asked(fetch, server):
    with pytest.raises(DownloadError, match=r"67 MB more are needed.*5 MB are free"):
        fetch(free_bytes=lambda _: 5 << 20)
    assert server.plan.ranges == []


def test_a_disk_that_fills_up_meanwhile_ends_it_and_keeps_the_part(fetch, server, tmp_path, monkeypatch):
    monkeypatch.setattr("core.catalogue.download.SPACE_EVERY_BYTES", 1_000_000)
    room = iter([1 << 30, 5 << 20])
    with pytest.raises(DownloadError, match="that came are kept"):
        fetch(free_bytes=lambda _: next(room))
    assert part(tmp_path).stat().st_size >= 1_000_000


def test_the_proxy_is_asked_instead_of_the_host(fetch, server):
    proxy = FileServer(DATA)
    try:
        fetch(proxy=f"http://127.0.0.1:{proxy.port}")
        assert proxy.plan.paths == [server.url]
        assert server.plan.paths == []
    finally:
        proxy.close()


def test_a_proxy_that_cannot_be_used_is_named(fetch):
    with pytest.raises(DownloadError, match="gopher"):
        fetch(proxy="gopher://127.0.0.1:1")


def test_a_server_that_is_not_there_is_named_and_nothing_changed(fetch, server):
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1 cannot be reached.*Nothing was changed"):
        fetch(source="http://127.0.0.1:9/model.gguf")


def test_discarding_leaves_nothing(server, tmp_path):
    keep_part(tmp_path, server, 10)
    discard(tmp_path / "models" / "tiny.gguf")
    assert list((tmp_path / "models").iterdir()) == []
