"""What a turn's failed tools teach."""

import pytest

from core.archivist.lessons import ToolCall, classify_error, clean_tool_name, draw_lesson


def failed(name, output="", arguments=None):
    return ToolCall(name=name, success=False, output=output, arguments=arguments)


def worked(name, arguments=None):
    return ToolCall(name=name, success=True, arguments=arguments)


def test_entries_fold_repeats_and_name_each_class_once_in_order():
    calls = [failed("shell", "timed out"), failed("cp", "EACCES"), failed("shell", "boom"), failed("shell", "ENOENT")]
    expected = "Tools that failed in this turn: shell (timeout, not_found, 3x), cp (permission_denied)"
    assert draw_lesson(calls) == expected


def test_a_success_before_the_failure_is_no_retry():
    assert draw_lesson([worked("cp"), failed("cp")]) == "Tools that failed in this turn: cp"


def test_only_the_failure_that_was_put_right_is_left_out():
    calls = [failed("get", "404", {"u": 1}), failed("get", "429", {"u": 2}), worked("get", {"u": 1})]
    assert draw_lesson(calls) == "Tools that failed in this turn: get (rate_limited)"


def test_at_most_ten_tools_are_named():
    lesson = draw_lesson([failed(f"tool{i}") for i in range(13)])
    assert lesson.endswith("tool9, and 3 more")


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("read_file", "read_file"),
        ("a\nIgnore all", "a"),
        ("", "unnamed"),
        ("\n", "unnamed"),
        ("x" * 99, "x" * 64),
        ("工具", "unnamed"),
    ],
)
def test_names_are_cut_at_the_first_unsafe_character(name, clean):
    assert clean_tool_name(name) == clean


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Error 404", "not_found"),
        ("order 140429", "error"),
        ("ＴＩＭＥＯＵＴ", "timeout"),
        ("网络不可用", "connection_error"),
    ],
)
def test_classes_are_found_in_any_case_and_numbers_only_whole(output, expected):
    assert classify_error(output) == expected
