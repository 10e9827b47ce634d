"""The seven sections without a model: what a turn adds, changes and leaves alone."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Section, TurnId
from core.paths import find_resources
from core.working_memory.heuristics import Known, Proposal, TurnText, propose, to_operations

NOON = 1_777_291_200.0  # 2026-04-27 12:00 UTC, a Monday


class Memory:
    """Keeps proposals as the live window does, so that tests can hold a conversation."""

    def __init__(self, language: str = "en") -> None:
        self.items: dict[Section, list[str]] = {section: [] for section in Section}
        self.said: list[str] = []
        self.language = language
        self.proposals: list[Proposal] = []

    @property
    def known(self) -> Known:
        items = {section: tuple(lines) for section, lines in self.items.items()}
        return Known(items=items, recent=tuple(self.said[-6:]), language=self.language)

    def hear(self, user: str, reply: str = "All right.") -> list[Proposal]:
        turn = TurnText(turn=TurnId(len(self.said)), at=NOON, user=user, reply=reply)
        found = propose(turn, self.known)
        for proposal in found:
            lines = self.items[proposal.section]
            if proposal.section in (Section.TITLE, Section.STATE):
                lines[:] = [proposal.text]
            elif proposal.replaces is not None:
                lines[lines.index(proposal.replaces)] = proposal.text
            else:
                lines.append(proposal.text)
        self.said.append(user)
        self.proposals += found
        return list(found)

    def of(self, section: Section) -> list[str]:
        return self.items[section]


def lines(found: Sequence[Proposal], section: Section) -> list[str]:
    return [proposal.text for proposal in found if proposal.section is section]


COURTESY = [
    "Hello!",
    "Good morning, how are you?",
    "Thanks a lot, see you tomorrow!",
    "Okay, I'll try that.",
    "That sounds great!",
    "I like your suggestion.",
    "你好！",
    "谢谢你的建议，我会试试的。",
    "好的，明天见！",
    "",
    "   \n\t",
    "🙂",
]


@pytest.mark.parametrize("text", COURTESY)
def test_courtesy_leaves_no_line(text: str) -> None:
    found = Memory("zh" if any("\u4e00" <= c <= "\u9fff" for c in text) else "en").hear(text)
    assert [p for p in found if p.section is not Section.STATE] == []


def test_the_reply_says_nothing_about_the_user() -> None:
    found = Memory().hear(
        "Which tea keeps me awake?", "I live in Oslo and I prefer oolong. We decided to use /srv/tea.db."
    )
    assert lines(found, Section.FACTS) == []
    assert lines(found, Section.FILES) == []


def test_questions_are_no_facts() -> None:
    assert lines(Memory().hear("Do I prefer oolong? Should we use two kettles?"), Section.FACTS) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I'm allergic to hazelnuts, what can I bake?", "I'm allergic to hazelnuts"),
        ("We decided to rent the barn for 1,200 euros.", "We decided to rent the barn for 1,200 euros"),
        ("My sister Ana lives in Lisbon.", "My sister Ana lives in Lisbon"),
        ("Our flight leaves at 07:40 from gate B12.", "Our flight leaves at 07:40 from gate B12"),
        ("I also enjoy woodcarving and archery.", "I enjoy woodcarving and archery"),
        ("Please remember that the boiler code is on the door.", "The boiler code is on the door"),
        ("我妈妈膝盖不好，不能爬山。", "我妈妈膝盖不好，不能爬山"),
        ("我最近在学编织，已经织了两条围巾。", "我最近在学编织"),
    ],
)
def test_facts_are_kept_in_clear_lines(text: str, fact: str) -> None:
    assert lines(Memory().hear(text), Section.FACTS) == [fact]


def test_a_day_that_will_not_mean_anything_later_gets_its_date() -> None:
    assert lines(Memory().hear("Yesterday I adopted a greyhound called Pip."), Section.FACTS) == [
        "Yesterday I adopted a greyhound called Pip (2026-04-26)"
    ]
    assert lines(Memory("zh").hear("昨天我领养了一只叫豆豆的猫。"), Section.FACTS) == [
        "昨天我领养了一只叫豆豆的猫（2026-04-26）"
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("We agreed that Nora takes the night shift.", "We agreed that Nora takes the night shift"),
        ("I decided to keep logs a week and then drop them.", "I decided to keep logs a week and then drop them"),
        ("For the small hall we chose oak and brass.", "For the small hall we chose oak and brass"),
        ("Our insurance rises to 210 euros from March.", "Our insurance rises to 210 euros from March"),
        ("My nephew gets migraines from neon light.", "My nephew gets migraines from neon light"),
        ("Our lawyer Ms Varga promised the papers.", "Our lawyer Ms Varga promised the papers"),
        ("每周二下午合唱排练。", "每周二下午合唱排练"),
        ("保险是每年五月交。", "保险是每年五月交"),
        ("方教授要求摘要不超过三百字。", "方教授要求摘要不超过三百字"),
        ("同事小陈负责会场布置。", "同事小陈负责会场布置"),
    ],
)  # fmt: skip
def test_agreements_other_people_and_what_recurs_are_facts(text: str, fact: str) -> None:
    assert lines(Memory("zh" if text[0] > "一" else "en").hear(text), Section.FACTS) == [fact]


@pytest.mark.parametrize(
    "text", ["I decided that.", "老师要求很严格。", "He told me that.", "每周都很忙。", "My son gets excited."]
)
def test_what_says_too_little_is_no_fact(text: str) -> None:
    assert not lines(Memory("zh" if text[0] > "一" else "en").hear(text), Section.FACTS)


@pytest.mark.parametrize("text", ["I like it.", "I bought them yesterday.", "They live there.", "我很喜欢这个。"])
def test_a_line_that_needs_its_surroundings_is_not_kept(text: str) -> None:
    assert lines(Memory().hear(text), Section.FACTS) == []


def test_saying_it_again_adds_nothing() -> None:
    memory = Memory()
    memory.hear("I love hiking and rock climbing.")
    memory.hear("As I said, I really love rock climbing and hiking.")
    assert len(memory.of(Section.FACTS)) == 1


def test_the_opposite_is_no_repeat() -> None:
    memory = Memory()
    memory.hear("I like spicy food.")
    memory.hear("I don't like spicy food.")
    assert len(memory.of(Section.FACTS)) == 2


def test_a_goal_is_marked_when_it_is_done() -> None:
    memory = Memory()
    memory.hear("I want to submit the grant report for the museum.")
    memory.hear("I submitted the grant report for the museum this morning!")
    assert memory.of(Section.GOALS) == ["[done] I want to submit the grant report for the museum"]


def test_a_promise_with_a_weekday_gets_its_date() -> None:
    assert lines(Memory().hear("I'll send Jonas the lease by Friday."), Section.GOALS) == [
        "I'll send Jonas the lease by Friday (due 2026-05-01)"
    ]


def test_an_open_question_is_tracked_and_resolved_in_place() -> None:
    memory = Memory()
    memory.hear("Who signs off the budget for the exhibition?")
    assert memory.of(Section.ISSUES) == ["Who signs off the budget for the exhibition?"]
    memory.hear("We agreed: Priya signs off the budget for the exhibition.")
    assert memory.of(Section.ISSUES) == ["[resolved] Who signs off the budget for the exhibition?"]


def test_undecided_things_stay_open_in_chinese() -> None:
    memory = Memory("zh")
    memory.hear("我们还没决定坐高铁还是包车去丽江。")
    assert memory.of(Section.ISSUES) == ["我们还没决定坐高铁还是包车去丽江"]
    memory.hear("坐高铁还是包车去丽江的事，我们决定了，坐高铁。")
    assert memory.of(Section.ISSUES) == ["[resolved] 我们还没决定坐高铁还是包车去丽江"]


def test_a_correction_changes_the_line_and_is_on_record() -> None:
    memory = Memory()
    memory.hear("The rehearsal is scheduled for 12 March at 06:00.")
    memory.hear("Sorry, it's 05:30, not 06:00.")
    assert memory.of(Section.FACTS) == ["The rehearsal is scheduled for 12 March at 05:30"]
    assert memory.of(Section.ERRORS) == ["It's 05:30, not 06:00 (The rehearsal is scheduled for 12 March at 05:30)"]


def test_ways_of_speaking_are_no_corrections() -> None:
    assert lines(Memory().hear("It was not only cold but also wet."), Section.ERRORS) == []
    assert lines(Memory("zh").hear("这不仅仅是礼物，更是美好的回忆。"), Section.ERRORS) == []


@pytest.mark.parametrize(
    "said",
    [
        "I moved from Rome to Turin last year.",
        "My sister moved from Oslo to Bergen.",
        "Anna moved from Paris to Nice in May.",
        "Just moved from Rome to Turin.",
        "It's not a bug, it's a feature.",
        "我去年从罗马搬到都灵。",
        "我从阿里换到了腾讯。",
    ],
)
def test_who_moves_house_or_job_corrects_nothing(said: str) -> None:
    assert lines(Memory("zh" if "我" in said else "en").hear(said), Section.ERRORS) == []


@pytest.mark.parametrize(
    "said",
    [
        "We moved the launch from Monday to Tuesday",
        "We've moved the team meeting from Friday to Thursday",
        "The meeting moved from 3pm to 5pm",
        "Launch moved from Monday to Tuesday",
        "We changed the demo from monday to tuesday",
        "The deadline was moved from March 3 to March 9",
        "The meeting is at 4 not 3",
        "My name's not Tom, it's Tim",
        "会议从周一改到周二",
        "把会议从周三改到周四了，别记错",
        "我们把数据库从MySQL换成Postgres",
    ],
)
def test_a_thing_that_is_moved_or_denied_for_another_is_corrected(said: str) -> None:
    assert lines(Memory("zh" if not said.isascii() else "en").hear(f"{said}."), Section.ERRORS) == [said]


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Hi! My name is Bo. Remember that I'm allergic to latex.", ["I'm allergic to latex", "My name is Bo"]),
        ("Remember: my flight is on March 20.", ["My flight is on March 20"]),
        ("im allergic to cats remember this!!", ["Im allergic to cats"]),
        ("Remember that I moved to Oslo last week.", ["I moved to Oslo last week (week of 2026-04-20)"]),
        ("我叫阿伟。记住我对芒果过敏。", ["我对芒果过敏", "我叫阿伟"]),
        ("记住：我的航班是3月20日。", ["我的航班是3月20日"]),
        ("以后别叫我小王了，叫我老王", ["以后别叫我小王了，叫我老王"]),
    ],
)
def test_what_is_to_be_remembered_is_one_line_without_the_order(said: str, facts: list[str]) -> None:
    assert lines(Memory("zh" if not said.isascii() else "en").hear(said), Section.FACTS) == facts


def test_an_order_that_is_a_goal_is_told_as_the_goal_alone() -> None:
    found = Memory().hear("Don't forget: I'm meeting Sarah on Friday at noon.")
    assert lines(found, Section.GOALS) == ["I'm meeting Sarah on Friday at noon (2026-05-01)"]
    assert lines(found, Section.FACTS) == []


def test_the_title_does_not_name_the_order_to_remember() -> None:
    assert lines(Memory().hear("Remember: my flight is on March 20."), Section.TITLE) == ["March 20"]
    assert lines(Memory().hear("I told you about the flight. Remember?"), Section.TITLE) == []


@pytest.mark.parametrize(
    "said", ["My password is [REDACTED:password], remember that.", "记住我的密码是[REDACTED:password]"]
)
def test_a_secret_that_is_not_kept_leaves_no_line_and_no_title_of_its_mark(said: str) -> None:
    found = Memory("zh" if not said.isascii() else "en").hear(said)
    assert lines(found, Section.FACTS) == []
    assert not any("REDACTED" in title for title in lines(found, Section.TITLE))


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("My son Leo has his exam on May 12.", ["My son Leo has his exam on May 12"]),
        ("hey, call me Max pls", ["Call me Max"]),
        ("叫我阿强就行", ["叫我阿强"]),
        ("我住北京朝阳区，在一家律所上班", ["我住北京朝阳区", "我在一家律所上班"]),
        ("我女朋友下周过生日，送什么好", ["我女朋友下周过生日（2026-05-04 那一周）"]),
        ("我住院了", []),
    ],
)
def test_careless_openings_are_read_without_what_is_no_part_of_the_fact(said: str, facts: list[str]) -> None:
    assert lines(Memory("zh" if not said.isascii() else "en").hear(said), Section.FACTS) == facts


def test_an_order_to_remember_takes_back_what_held() -> None:
    memory = Memory()
    memory.hear("I live in Rome.")
    memory.hear("Remember that I no longer live in Rome.")
    assert memory.of(Section.FACTS) == ["I no longer live in Rome"]


def test_an_error_is_kept_as_it_was_pasted() -> None:
    trace = "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'rate'"
    assert lines(Memory().hear(f"I ran the import and got\n```\n{trace}\n```"), Section.ERRORS) == ["KeyError: 'rate'"]
    assert lines(Memory().hear("The scanner keeps crashing on page 4."), Section.ERRORS) == [
        "The scanner keeps crashing on page 4"
    ]


def test_files_come_with_the_words_that_say_what_they_are() -> None:
    memory = Memory()
    memory.hear("The floor plan is in plans/barn/floor.pdf. We use PostgreSQL 16 on db1.internal.")
    assert "The floor plan is in plans/barn/floor.pdf" in memory.of(Section.FILES)
    assert "We use PostgreSQL 16 on db1.internal" in memory.of(Section.FILES)
    before = len(memory.of(Section.FILES))
    memory.hear("Open plans/barn/floor.pdf again.")
    assert len(memory.of(Section.FILES)) == before


@pytest.mark.parametrize("said", ["Our choir is on Voice 17 tonight.", "We met in Hall 4.", "I read Canto 33 again."])
def test_a_number_behind_a_word_is_no_version(said: str) -> None:
    assert lines(Memory().hear(said), Section.FILES) == []


@pytest.mark.parametrize("version", ["Debian 12", "MariaDB 11", "Inkscape 1.3", "iPhone 15"])
def test_a_products_number_is_a_version(version: str) -> None:
    assert version in " ".join(lines(Memory().hear(f"It happens on {version} as well."), Section.FILES))


def test_what_the_user_leaves_open_is_told_as_open() -> None:
    memory = Memory()
    memory.hear("Who approves the stage plan? We still haven't decided.", "Perhaps the fire marshal, whom you know.")
    assert memory.of(Section.STATE) == ["Asked: Who approves the stage plan?; still open."]


def test_an_issue_is_not_told_as_a_fact_too() -> None:
    memory = Memory()
    memory.hear("I've been learning to weld lately, but I don't know how to weld thin sheets.")
    assert memory.of(Section.ISSUES)
    assert memory.of(Section.FACTS) == []


@pytest.mark.parametrize(
    "said", ["I want to find some fun activities.", "我想找一些有趣的活动。", "晚上我想喝点热汤。"]
)
def test_a_wish_of_the_moment_is_no_goal(said: str) -> None:
    assert lines(Memory("zh" if said > "z" else "en").hear(said), Section.GOALS) == []


def test_a_title_has_two_parts_at_most() -> None:
    memory = Memory()
    memory.hear("I love pottery, archery, chess problems and brass music.")
    assert len(memory.of(Section.TITLE)[0].replace(" and ", ",").split(",")) <= 2


def test_the_title_names_the_topic_not_the_greeting() -> None:
    memory = Memory()
    memory.hear("Hello, my name is Emil. Nice to meet you.")
    assert memory.of(Section.TITLE) == []
    memory.hear("I need help with the heating in our greenhouse. Can you recommend frost sensors?")
    title = memory.of(Section.TITLE)[0]
    assert "greenhouse" in title.lower() or "frost sensors" in title.lower()
    assert len(title.split()) <= 8
    memory.hear("Thanks! My cat is asleep.")
    assert memory.of(Section.TITLE) == [title]


def test_a_title_that_changes_keeps_a_word_of_the_old_one() -> None:
    memory = Memory()
    memory.hear("Can you recommend frost sensors for our greenhouse?")
    first = memory.of(Section.TITLE)[0]
    for text in (
        "Another topic: sourdough bread.",
        "My sourdough bread is flat.",
        "How long does sourdough bread rise?",
        "I love sourdough bread.",
        "Sourdough bread needs steam?",
    ):
        memory.hear(text)
    last = memory.of(Section.TITLE)[0]
    assert "sourdough" in last.lower()
    assert set(first.lower().split()) & set(last.lower().split())


def test_titles_and_state_are_in_the_users_language() -> None:
    memory = Memory("zh")
    memory.hear("我打算去云南大理旅行，你能推荐一些当地的小吃吗？", "可以试试乳扇和饵丝。")
    assert any("\u4e00" <= c <= "\u9fff" for c in memory.of(Section.TITLE)[0])
    assert "小吃" in memory.of(Section.STATE)[0]
    assert "Asked" not in memory.of(Section.STATE)[0]


def test_the_state_says_what_was_asked_and_what_the_reply_did() -> None:
    memory = Memory()
    memory.hear("I really enjoy painting. Do you have any good book recommendations?", "Try The Little Prince.")
    state = memory.of(Section.STATE)[0]
    assert state.startswith("Asked for book recommendations")
    assert "painting" in state
    assert state.endswith("suggestions given.")
    memory.hear("Thanks, I'll take a look.", "You're welcome!")
    assert memory.of(Section.STATE) == [state]
    memory.hear("How do I clean oil brushes?", "")
    assert "no answer yet" in memory.of(Section.STATE)[0]


def test_every_proposal_names_its_turn() -> None:
    memory = Memory()
    memory.hear("I live in Turku.")
    found = memory.hear("I want to visit the maritime museum with Ana in June.")
    assert found
    assert all(proposal.turns == (TurnId(1),) for proposal in found)


def test_what_was_heard_becomes_the_seven_operations() -> None:
    memory = Memory()
    memory.hear("I live in Turku. Who signs off the harbour permit?")
    operations = to_operations(memory.proposals, Known())
    assert list(operations) == [section.value for section in Section]
    assert operations[Section.FACTS.value] == {"op": "APPEND", "items": ["I live in Turku"]}
    assert operations[Section.ERRORS.value] == {"op": "KEEP"}


def test_a_pending_line_corrected_before_the_commit_is_committed_once() -> None:
    memory = Memory()
    memory.hear("The rehearsal is scheduled for 12 March at 06:00.")
    memory.hear("Sorry, it's 05:30, not 06:00.")
    assert to_operations(memory.proposals, Known())[Section.FACTS.value] == {
        "op": "APPEND",
        "items": ["The rehearsal is scheduled for 12 March at 05:30"],
    }


def test_a_committed_line_that_changes_is_an_update_of_the_whole_list() -> None:
    known = Known(items={Section.GOALS: ("Plan the fair", "I want to submit the grant report")})
    proposals = propose(TurnText(turn=TurnId(9), at=NOON, user="I submitted the grant report."), known)
    assert to_operations(proposals, known)[Section.GOALS.value] == {
        "op": "UPDATE",
        "content": "- Plan the fair\n- [done] I want to submit the grant report",
    }


def test_a_resolved_issue_is_appended_with_its_mark() -> None:
    known = Known(items={Section.ISSUES: ("Who signs off the harbour permit?", "We need to decide on the mooring fee")})
    proposals = propose(
        TurnText(turn=TurnId(9), at=NOON, user="We agreed that Kim signs off the harbour permit."), known
    )
    assert to_operations(proposals, known)[Section.ISSUES.value] == {
        "op": "APPEND",
        "items": ["[resolved] Who signs off the harbour permit?"],
    }


@given(st.text(max_size=400), st.text(max_size=200), st.lists(st.text(max_size=60), max_size=4))
def test_any_turn_can_be_read(user: str, reply: str, held: list[str]) -> None:
    known = Known(items={section: tuple(held) for section in Section}, recent=tuple(held))
    found = propose(TurnText(turn=TurnId(1), at=NOON, user=user, reply=reply), known)
    assert all(proposal.text.strip() and "\n" not in proposal.text for proposal in found)
    assert set(to_operations(found, known)) == {section.value for section in Section}


def test_a_megabyte_is_read_in_bounded_time() -> None:
    assert len(Memory().hear("I bought a lathe from Bo. " * 40_000)) <= 10


def test_the_demo_conversation_fills_every_section() -> None:
    memory = Memory()
    text = (find_resources() / "demo" / "conversation.jsonl").read_text(encoding="utf-8")
    messages = [json.loads(line) for line in text.splitlines()]
    for user, reply in zip(messages[::2], messages[1::2], strict=True):
        assert (user["role"], reply["role"]) == ("user", "assistant")
        memory.hear(user["content"], reply["content"])
    assert all(memory.of(section) for section in Section)
    assert any(line.startswith("[resolved]") for line in memory.of(Section.ISSUES))
    assert any(line.startswith("[done]") for line in memory.of(Section.GOALS))
