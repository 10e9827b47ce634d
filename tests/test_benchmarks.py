"""Benchmarks where what they measure with is not there: a message, and still one line of JSON at the end."""

import importlib
import json
import sys

import pytest

from benchmarks import retrieval
from tests.core.test_recall_service import ScriptedEmbedder


def run(name, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    return importlib.import_module(f"benchmarks.{name}").main()


@pytest.mark.parametrize("name", ["retrieval", "saliency", "scale", "segmentation"])
def test_an_empty_folder_of_data_is_skipped_with_a_message(name, tmp_path, monkeypatch, capsys):
    assert run(name, monkeypatch, "--data", tmp_path) == 0
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1]) == {}
    assert "Skipped: " in told.err


@pytest.mark.parametrize("name", ["prefix", "throughput"])
def test_a_model_that_is_not_there_is_skipped_with_a_message(name, tmp_path, monkeypatch, capsys):
    assert not run(name, monkeypatch, "--model", tmp_path / "none.gguf")
    told = capsys.readouterr()
    assert json.loads(told.out.splitlines()[-1]) == {}
    assert "Skipped: " in told.err


def test_search_is_timed_with_as_many_questions_as_a_set_has(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieval, "SPEED_TURNS", 20)
    found = retrieval.measure_speed(["The boat sails.", "Bread rises."], ["Which boat?"], ScriptedEmbedder(), tmp_path)
    assert all(measure.ours is not None for measure in found.values())
