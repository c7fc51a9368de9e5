"""The verdict in words, the order of checks, and what a histogram shows, without a service."""

from typing import Any

import pytest

from api.web.check_view import view
from api.web.histograms import HEIGHT, MAX_BARS, WIDTH, lay_out, share_in_words
from api.web.templating import visible
from api.web.verdicts import CheckRun, summary_sentence
from api.web.words import bytes_in_words
from tests.support.bodies import Body
from tests.web.scenes import make_checks, with_trouble, worst_of


def make_run(checks: list[Body] | None = None, **changes: Any) -> CheckRun:
    result: Body | None = None
    if checks is not None:
        counts = {
            outcome: sum(check["outcome"] == outcome for check in checks)
            for outcome in ("passed", "failed", "error", "not_evaluated")
        }
        result = {
            "contract": {"name": "taxi", "version": 3, "digest": "sha256:a", "suite_digest": "sha256:b"},
            "baseline": "sha256:c",
            "object": "",
            "as_of": "2026-05-01T12:00:00Z",
            "data": {"manifest": "sha256:d", "rows": 10, "files": 1, "bytes": 2048},
            "engine": {"name": "duckdb", "versions": {}},
            "started_at": "2026-05-01T12:00:00Z",
            "completed_at": "2026-05-01T12:00:01Z",
            "outcome": worst_of(checks),
            "counts": counts,
            "checks": checks,
        }
    fields: dict[str, Any] = {
        "id": "1",
        "state": "done",
        "contract": "taxi",
        "version": 3,
        "root": "lake",
        "path": "a b.parquet",
    }
    return CheckRun(**(fields | {"result": result} | changes))


def changed(outcome: str, *, blocking: bool = True, place: int = 0) -> list[Body]:
    checks = make_checks()
    checks[place] = checks[place] | {"outcome": outcome, "blocking": blocking, "reason": "because"}
    return checks


@pytest.mark.parametrize(
    ("checks", "word", "sentence"),
    [
        (make_checks(), "passed", "This data keeps its contract: 18 of 18 passed."),
        (
            changed("failed", blocking=False),
            "passed",
            "This data keeps its contract: every blocking check passed; 1 failed of 18.",
        ),
        (changed("failed"), "failed", "This data does not keep its contract: 1 failed of 18."),
        (changed("error"), "error", "Whether this data keeps its contract is not known: 1 error of 18."),
        (
            changed("not_evaluated"),
            "not_evaluated",
            "Whether this data keeps its contract is not known: 1 not evaluated of 18.",
        ),
        (
            with_trouble(make_checks()),
            "failed",
            "This data does not keep its contract: 3 failed, 1 error, 1 not evaluated of 18.",
        ),
    ],
)
def test_verdict_says_what_is_known(checks: list[Body], word: str, sentence: str) -> None:
    verdict = view(make_run(checks)).verdict
    assert (verdict.word.code, verdict.sentence) == (word, sentence)


def test_error_of_the_whole_names_its_reason() -> None:
    run = make_run([])
    assert run.result is not None
    result = dict(run.result) | {"outcome": "error", "reason": "the file changed while it was read"}
    verdict = view(make_run([], result=result)).verdict
    assert verdict.next_action == "The file changed while it was read. Mend that, then check again."


def test_command_to_check_again_quotes_what_a_shell_would_split() -> None:
    run = make_run(changed("failed"), table="trips", parameters={"day": "1 May"})
    assert view(run).verdict.command == (
        "shipworthy contract check taxi --root lake --path 'a b.parquet' --table trips --parameter 'day=1 May' --wait"
    )


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("queued", "waits for a worker"),
        ("running", "is running"),
        ("failed", "nothing is known of the data"),
        ("dead", "nothing is known of the data"),
        ("cancelled", "nothing is known of the data"),
    ],
)
def test_without_a_result_nothing_is_claimed(state: str, words: str) -> None:
    shown = view(make_run(state=state, reason="the worker was killed"))
    assert words in shown.verdict.sentence
    assert shown.counts == ()
    assert shown.verdict.word.tone != "good"


def test_worst_checks_come_first_and_blocking_ones_before_others() -> None:
    shown = view(make_run(with_trouble(make_checks())))
    assert [word.code for word, _ in shown.groups] == ["failed", "error", "not_evaluated", "passed"]
    failed = shown.groups[0][1]
    assert [line.blocking for line in failed] == [True, True, False]


def test_checks_that_only_the_blob_holds_are_counted() -> None:
    run = make_run(make_checks())
    assert run.result is not None
    counts = {"passed": 500, "failed": 0, "error": 0, "not_evaluated": 0}
    result = dict(run.result) | {"counts": counts, "checks_blob": "sha256:e"}
    shown = view(make_run([], result=result))
    assert (shown.total, shown.not_listed) == (500, 482)
    assert ("All checks", "sha256:e") in [(each.label, each.value) for each in shown.evidence]


def test_summary_names_the_worst_first() -> None:
    counts = {"passed": 1200, "failed": 2, "error": 0, "not_evaluated": 1}
    assert summary_sentence(counts) == "2 failed, 1 not evaluated of 1,203"


def test_both_histograms_share_bins_and_scale() -> None:
    pictures = lay_out({"edges": [0, 1, 2], "baseline": [1, 3], "observed": [8, 0]})
    assert pictures is not None
    assert [bar.label for bar in pictures.bars] == ["0 to 1", "1 to 2"]
    assert [bar.baseline_height for bar in pictures.bars] == [HEIGHT / 4, HEIGHT * 3 / 4]
    assert [bar.observed_height for bar in pictures.bars] == [HEIGHT, 0]
    assert pictures.bars[-1].x + pictures.bars[-1].width <= WIDTH
    assert pictures.summary == "0 to 1: 25.0\u00a0% in the baseline, 100.0\u00a0% observed"


def test_open_bins_are_named_and_missing_counts_draw_nothing() -> None:
    pictures = lay_out({"edges": [0.5, 1.5], "baseline": [0, 4, None], "observed": [1, 3, 0]})
    assert pictures is not None
    assert [bar.label for bar in pictures.bars] == ["below 0.5", "0.5 to 1.5", "above 1.5"]
    assert pictures.bars[2].baseline_height == 0


def test_of_many_labels_the_largest_are_drawn_and_all_are_listed() -> None:
    labels = [f"label {number}" for number in range(100)]
    pictures = lay_out({"labels": labels, "baseline": list(range(100)), "observed": list(range(100))})
    assert pictures is not None
    assert (len(pictures.bars), len(pictures.drawn), pictures.left_out) == (100, MAX_BARS, 60)
    assert pictures.drawn[-1].label == "label 99"
    assert {bar.label for bar in pictures.drawn} == set(labels[60:])


@pytest.mark.parametrize(
    "histogram",
    [
        None,
        {"edges": [], "baseline": [], "observed": []},
        {"labels": ["a"], "baseline": [1], "observed": []},
        {"edges": [0, 1], "baseline": [1, 2], "observed": [1, 2]},
    ],
)
def test_histogram_that_does_not_fit_is_not_drawn(histogram: Body | None) -> None:
    assert lay_out(histogram) is None


def test_no_rows_are_drawn_flat() -> None:
    pictures = lay_out({"labels": ["a"], "baseline": [0], "observed": [0]})
    assert pictures is not None
    assert pictures.bars[0].observed_height == 0


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0.0 %"), (0.0004, "< 0.1 %"), (0.1234, "12.3 %"), (1.0, "100.0 %")]
)
def test_share_that_is_there_is_never_zero(share: float, words: str) -> None:
    assert share_in_words(share).replace("\u00a0", " ") == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – ünïcode 数", "plain – ünïcode 数"),
        ("safe\u202egpj.exe", "safe⟨U+202E⟩gpj.exe"),
        ("a\u200bb\x00c", "a⟨U+200B⟩b⟨U+0000⟩c"),
    ],
)
def test_characters_that_hide_are_spelt_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (314_159_265, "300 MiB")]
)
def test_sizes_are_in_words(size: int, words: str) -> None:
    assert bytes_in_words(size) == words
