from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.store import (
    begin_session,
    read_ledger,
    read_whole_ledger,
    reading,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.tables import Completions, Judgments


def test_an_empty_run_has_the_columns(run):
    begin_session(run)
    for scan, table in ((scan_judgments, Judgments), (scan_completions, Completions)):
        assert scan(run).collect().schema == table.create_empty().schema
        assert scan(run, judges=["nobody"]).collect().is_empty()


def test_columns_keep_their_types(run, land_rows):
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 3)]})
    land_rows(run, 1, 2, {"bb": [(0, 3)]})
    assert scan_judgments(run).collect().schema == Judgments.create_empty().schema
    assert scan_completions(run).collect().schema == Completions.create_empty().schema


@pytest.mark.slow
def test_judges_are_chosen_by_name(run, land_rows):
    begin_session(run)
    names = ["a/b", "a b", "a%2Fb", "judge=x"]
    for lease, judge in enumerate(names):
        land_rows(run, 1, lease, {f"c{lease}": [(0, 2)]}, judge=judge)
    for judge in names:
        assert scan_judgments(run, judges=[judge]).collect()["judge"].to_list() == [judge] * 2
    assert scan_judgments(run, judges=names[:2]).collect().height == 4
    assert set(scan_judgments(run).collect()["judge"]) == set(names)


def test_stray_and_torn_files_disturb_nobody(disk_run, land_rows):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    folder = Path(disk_run.address("data/judge=j"))
    (whole,) = folder.iterdir()
    (folder / "part-torn.parquet").write_bytes(whole.read_bytes()[:-20])
    (folder / "part-copy.parquet").write_bytes(whole.read_bytes())
    (folder / ".part-x.parquet.ab12.tmp").write_bytes(b"PAR1")
    (folder / "notes.csv").write_text("a,b")
    (folder.parent / "_tmp").mkdir()
    (folder.parent / "_tmp" / "x.parquet").write_bytes(whole.read_bytes())
    assert scan_judgments(disk_run).collect().height == 3
    assert [found.level for found in verify_run(disk_run)] == ["note"] * 5


@pytest.mark.slow
def test_fifty_parts_are_one_frame(disk_run, land_rows):
    begin_session(disk_run)
    for lease in range(50):
        land_rows(disk_run, 1, lease, {f"c{lease}": [(0, 4)]}, judge=f"j{lease % 3}")
    counted = scan_judgments(disk_run).group_by("judge").len().sort("judge").collect()
    assert dict(counted.iter_rows()) == {"j0": 68, "j1": 68, "j2": 64}
    joined = scan_judgments(disk_run).join(scan_completions(disk_run), on="key").collect()
    told = joined.select(
        pl.col("text").str.split(":").list.get(1).eq(pl.col("item_id").str.slice(5))
    )
    assert told.to_series().all()
    assert joined.height == 200


def test_an_older_look_reads_what_it_counted(run, land_rows):
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 3)]})
    ledger = read_ledger(run)
    land_rows(run, 1, 2, {"bb": [(0, 3)]})
    assert scan_judgments(run, ledger=ledger).collect().height == 3
    assert scan_judgments(run).collect().height == 6


def test_folders_with_signs_that_mean_something_elsewhere(tmp_path, land_rows):
    from judgerel_ray.store import RunDirectory

    run = RunDirectory.create(str(tmp_path / "run [1]*? %20 é"))
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 3)]}, judge="[x]*?")
    assert scan_judgments(run).collect().height == 3
    assert verify_run(run) == []


DAMAGE = {
    "gone": lambda file: file.unlink(),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-9]),
    "empty": lambda file: file.write_bytes(b""),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("folder", ["data", "texts"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_files_gone_or_cut_are_told_and_counted_as_a_run_counts_them(
    disk_run, land_rows, folder, damage
):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]}, role="responder")
    land_rows(disk_run, 1, 2, {"bb": [(0, 2)]})
    assert read_whole_ledger(disk_run) == read_ledger(disk_run)
    file = Path(disk_run.address(getattr(read_ledger(disk_run).commits[0], f"{folder}_file")))
    DAMAGE[damage](file)
    whole = read_whole_ledger(disk_run)
    assert (whole.n_rows, whole.broken) == (2, ("s0001-l000001-a1.json",))
    scan = scan_judgments if folder == "data" else scan_completions
    with pytest.raises(StoreError, match=f"is {'gone' if damage == 'gone' else 'cut'}") as told:
        scan(disk_run)
    assert told.value.where["path"] == str(file)
    asking = f"judgerel run SWEEP.toml --out {disk_run.url} asks its 3 rows again"
    assert told.value.hint.startswith(asking)
    assert scan(disk_run, ledger=whole).collect().height == 2
    assert begin_session(disk_run).ledger.landed == whole.landed


def test_what_is_wrong_inside_a_file_is_told_when_it_is_read(disk_run, land_rows):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    file = Path(disk_run.address(read_ledger(disk_run).commits[0].data_file))
    file.write_bytes(bytes(byte ^ 0x5A for byte in file.read_bytes()[:-4]) + b"PAR1")
    with pytest.raises(StoreError, match="is altered"):
        scan_judgments(disk_run)
    with pytest.raises(StoreError, match="a file of the run cannot be read") as told, reading("r"):
        pl.scan_parquet(file).collect()
    assert "judgerel verify r" in told.value.hint
    with pytest.raises(pl.exceptions.ColumnNotFoundError), reading("r"):  # a defect stays one
        pl.LazyFrame({"a": [1]}).select("b").collect()
    with pytest.raises(BrokenPipeError), reading("r"):
        raise BrokenPipeError
