"""What a line says to try works when it is tried."""

import json

import polars as pl
import pytest

from judgerel_ray.cli import main


@pytest.fixture
def write(tmp_path):
    def one(name, columns):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(columns).write_csv(path)
        return str(path)

    return one


def refused(capsys, *arguments):
    assert main([*arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def asked(n_items=12, n_replications=2, **columns):
    cells = [(i, n) for i in range(n_items) for n in range(n_replications)]
    rows = {"item_id": [f"q{i}" for i, _ in cells], "replication": [n for _, n in cells]}
    return {**rows, **{name: [of(i, n) for i, n in cells] for name, of in columns.items()}}


def placed(tie):
    orders = {"option_order": lambda _, n: n % 2}
    verdict = {"verdict": lambda i, n: ("A", "B", tie)[(i + n * (i // 3)) % 3]}
    return asked(n_replications=4, **orders, **verdict)


def test_a_tie_beside_places_is_written_as_one(write, capsys):
    path = write("letters.csv", placed("C"))
    line = refused(capsys, "reduce", path, "--verdict-names", "place")
    assert "got 3 places (A, B, C) in 2 orders" in line
    assert "Try: write tie for the one that is a tie (C?)" in line
    path = write("letters.csv", placed("tie"))
    assert main(["reduce", path, "--verdict-names", "place", "--full"]) == 0
    assert "place consistency" in capsys.readouterr().out


@pytest.mark.slow
def test_two_judges_are_compared_with_one_in_a_folder(write, tmp_path, capsys):
    def judge(name, turn):
        return pl.DataFrame(
            {"judge": name, **asked(verdict=lambda i, n: "AB"[(i + n * (i % turn == 0)) % 2])}
        )

    two = write("all/two.csv", pl.concat([judge("j", 2), judge("k", 3)]).to_dict())
    one = write("all/one.csv", judge("m", 4).to_dict())
    line = refused(capsys, "compare", two, one)
    assert line.endswith("put both files into one folder: judgerel compare FOLDER --by judge")
    assert main(["compare", "--full", str(tmp_path / "all"), "--by", "judge"]) == 0
    assert "a j, b m" in capsys.readouterr().out


@pytest.mark.slow
def test_files_of_one_repeat_each_are_read_from_folders(write, tmp_path, capsys):
    for n in range(3):
        columns = asked(n_replications=1, verdict=lambda i, _, n=n: "AB"[(i * n) % 2])
        del columns["replication"]
        write(f"flat/run_{n}.csv", columns)
        write(f"deep/replication={n}/run_{n}.csv", columns)
    for folder in ("flat", "deep"):
        assert main(["reduce", str(tmp_path / folder), "--full"]) == 0
        assert "each up to 3 times: 36 replies" in capsys.readouterr().out
    # Names that differ by more than a number do not say what the files are.
    for n, name in enumerate(("gpt", "claude")):
        write(f"apart/{name}.csv", pl.read_csv(tmp_path / f"flat/run_{n}.csv").to_dict())
    line = refused(capsys, "reduce", str(tmp_path / "apart"))
    assert "Try: --column judge=file, where each is of a judge; or a folder each" in line
    assert main(["reduce", str(tmp_path / "apart"), "--column", "judge=file"]) == 0


@pytest.mark.slow
def test_verdicts_and_scores_are_not_compared(write, capsys):
    names = write("names.csv", asked(verdict=lambda i, n: "AB"[(i + n) % 2]))
    numbers = write("numbers.csv", asked(score=lambda i, n: 1 + (i + n) % 4))
    line = refused(capsys, "compare", names, numbers)
    assert "got verdicts and no score in" in line
    assert "names.csv, scores and no verdict in" in line
    assert main(["compare", "--full", names, numbers, "--coefficient", "valid_rate"]) == 0
    rated = write("rated.csv", asked(verdict=lambda i, n: 1 + (i * n) % 4))
    line = refused(capsys, "compare", rated, numbers)
    assert "--column score=verdict" in line
    assert main(["import", "table", rated, "--column", "score=verdict",
                 "--out", f"{rated}.parquet"]) == 0  # fmt: skip
    capsys.readouterr()
    assert main(["compare", f"{rated}.parquet", numbers, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["measurement"] == "interval"


def test_judges_of_verdicts_and_of_scores_are_left_apart_inside_one_file(write, capsys):
    cells = asked(verdict=lambda i, n: "AB"[(i + n) % 2])
    names = pl.DataFrame(cells).with_columns(score=pl.lit(None, pl.Float64))
    numbers = names.with_columns(score=pl.lit(2.0) + pl.col("replication"), verdict=None)
    rows = [names.with_columns(judge=pl.lit(one)) for one in "jk"]
    rows.append(numbers.with_columns(judge=pl.lit("m")))
    path = write("mixed.csv", pl.concat(rows, how="vertical_relaxed").to_dict())
    assert main(["compare", "--full", path, "--by", "judge"]) == 0
    shown = capsys.readouterr()
    assert "a j, b k" in shown.out
    assert "b m" not in shown.out
    assert shown.err.count("are not compared: verdicts alone here, scores alone there") == 2


@pytest.mark.slow
def test_coefficients_of_names_are_shown_of_ratings_where_they_are_asked_for(write, capsys):
    both = {"verdict": lambda i, n: str(1 + (i + n) % 5), "score": lambda i, n: 1 + (i + n) % 5}
    path = write("both.csv", asked(**both))
    assert main(["reduce", path, "--full"]) == 0
    assert "Fleiss' kappa  " not in capsys.readouterr().out
    for level in ("nominal", "nominal,interval"):
        assert main(["reduce", path, "--measurement", level, "--full"]) == 0
        out = capsys.readouterr().out
        assert "Krippendorff's alpha  " in out
        assert "Fleiss' kappa  " in out


def test_a_table_is_no_sweep_and_a_sweep_no_table(write, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write("my pairs.csv", {"id": [1], "prompt": ["?"], "answer_a": ["x"], "answer_b": ["y"]})
    line = refused(capsys, "plan", "my pairs.csv")
    assert "Try: judgerel init 'my pairs.csv'" in line
    assert main(["init", "my pairs.csv"]) == 0
    capsys.readouterr()
    line = refused(capsys, "reduce", "sweep.toml")
    assert "Try: judgerel plan sweep.toml, then judgerel run sweep.toml --out run" in line
    assert main(["plan", "sweep.toml"]) == 0
