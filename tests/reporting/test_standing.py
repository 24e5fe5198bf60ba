"""Plans and standings as people read them."""

from judgerel_ray.reporting.standing import plan_text, status_text

JUDGE = {
    "judge": "j",
    "requests": 66165,
    "prompt": 1000000,
    "shared": 2000,
    "generated_at_most": 3000,
    "tokens_are": "counted",
    "gpu_hours": 1.236,
}
STATUS = {
    "run": "runs/x",
    "sweep": "s",
    "session": 2,
    "state": "running",
    "live": "host:1",
    "asked": 5000,
    "landed": 1234,
    "owed": 3766,
    "failed": 7,
    "outcomes": {"scored": 1230, "unparsed": 4},
    "tokens": {"prompt": 1000, "cached": 600, "computed": 400, "generated": 2000},
    "broken_commits": ["s0001-l000003.json"],
}


def judge(**keys):
    rates = {"requests_per_s": 2.0, "tokens_per_s": 34.5}
    whole = {**STATUS, **rates, "judge": "j", "seconds_left": 61.7, "error": None}
    return {**whole, **keys}


def test_a_plan_says_counts_tokens_hours_disk_and_notes():
    plan = {
        "sweep": "s",
        "requests": 66165,
        "stages": [
            {
                "ask": 0,
                "stage": "judge",
                "judge": "j",
                "items": 55,
                "conditions": 275,
                "requests": 22055,
            }
        ],
        "judges": [JUDGE, {**JUDGE, "judge": "k", "gpu_hours": None}],
        "disk_bytes": 3 * 1024**3,
        "notes": ["mind this"],
    }
    lines = plan_text(plan, {}).splitlines()
    assert lines == [
        "sweep s: 66,165 requests",
        "  ask[0] judge   j: 55 items, 275 conditions, 22,055 requests",
        "j: 66,165 requests, prompts 1,000,000 tokens (counted; 2,000 where repeated prompts are "
        "cached), replies at most 3,000, about 1.24 GPU-hours expected",
        "k: 66,165 requests, prompts 1,000,000 tokens (counted; 2,000 where repeated prompts are "
        "cached), replies at most 3,000",
        "disk: about 3.0 GiB expected",
        "note: mind this",
        "",
        "resolved sweep:",
    ]


def test_values_are_written_as_a_sweep_file_would():
    sweep = {
        "name": 'a "b"\nc',
        "flag": True,
        "none": None,
        "list": [1.0, "x"],
        "empty": [],
        "table": {"a": 1, "deep": {"b": False}},
        "rows": [{"x": 1}, {"x": 2}],
    }
    empty = {"sweep": "s", "requests": 0, "stages": [], "judges": [], "disk_bytes": 0, "notes": []}
    lines = plan_text(empty, sweep).split("resolved sweep:\n")[1].splitlines()
    assert lines == [
        '  name = "a \\"b\\"\\nc"',
        "  flag = true",
        "  none = (not set)",
        '  list = [1.0, "x"]',
        "  empty = []",
        "  [table]",
        "    a = 1",
        "    [deep]",
        "      b = false",
        "  [[rows]]",
        "    x = 1",
        "  [[rows]]",
        "    x = 2",
    ]


def test_a_standing_says_what_landed_what_is_pending_and_what_is_wrong():
    lines = status_text({**STATUS, "judges": [judge(state="running")]}).splitlines()
    details = [
        "  outcomes: scored 1,230, unparsed 4",
        "  tokens: prompt 1,000 (600 cached, 400 computed), generated 2,000",
        "  pending: 3,766",
        "  failed and recorded in errors/: 7",
    ]
    assert lines == [
        "s: running, landed 1,234 of 5,000 (session 2, runs/x)",
        *details,
        "  written by host:1",
        "j: running, landed 1,234 of 5,000",
        *details,
        "  rate: 2 requests/s, 34.5 new tokens/s",
        "  about 62 s left",
        "broken commit record: s0001-l000003.json (its rows are pending again)",
    ]


def test_a_high_rate_is_in_whole_numbers():
    quick = judge(state="running", requests_per_s=11_900.4, tokens_per_s=54_990.2)
    text = status_text({**STATUS, "judges": [quick]})
    assert "  rate: 11,900 requests/s, 54,990 new tokens/s" in text
    nearly = judge(state="running", requests_per_s=999.7, tokens_per_s=9_999.7)
    text = status_text({**STATUS, "judges": [nearly]})
    assert "  rate: 1,000 requests/s, 10,000 new tokens/s" in text


def test_a_judge_that_was_given_up_says_why():
    failed = judge(state="failed", error="no engine came up", seconds_left=None, outcomes={})
    text = status_text({**STATUS, "judges": [failed]})
    assert "j: failed, landed" in text
    assert "  no engine came up" in text
    assert "s left" not in text


def test_nothing_is_left_of_a_run_that_is_done():
    done = {"owed": 0, "failed": 0, "live": None, "broken_commits": [], "state": "done"}
    text = status_text({**STATUS, **done, "judges": [judge(**done)]})
    assert "pending" not in text
    assert "left" not in text
    assert "  rate: 2 requests/s, 34.5 new tokens/s on average" in text
    assert "errors/" not in text


def test_a_moment_left_is_not_nothing_and_nothing_is_left_of_what_ended():
    running = status_text({**STATUS, "judges": [judge(seconds_left=0.2)]})
    assert "about 1 s left" in running
    ended = status_text({**STATUS, "judges": [judge(state="incomplete", seconds_left=0.2)]})
    assert "left" not in ended
