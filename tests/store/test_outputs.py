"""No command writes over what it reads, into a run directory, or over what it did not write."""

import csv
import io
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import uuid
from pathlib import Path

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from judgerel_ray import example, report
from judgerel_ray.blocks.result import rows_json
from judgerel_ray.cli import main
from judgerel_ray.core import JudgeRelError, StoreError, SweepError
from judgerel_ray.core.verb import all_verbs
from judgerel_ray.importers.verb import import_judgments, items
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.files import Disk
from judgerel_ray.store.outputs import output_to
from judgerel_ray.store.places import refuse_inside_run

VERBS = all_verbs()

ROWS = "item_id,replication,verdict\nq1,0,A\nq1,1,A\nq2,0,B\nq2,1,A\nq3,0,B\nq3,1,B\n"
ITEMS = "item_id,question,option_a,option_b\n1,Q,x,y\n2,R,x,y\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with judgments and items in several forms, and a run directory."""
    monkeypatch.chdir(tmp_path)
    rows = pl.read_csv(io.StringIO(ROWS))
    Path("a.csv").write_text(ROWS)
    rows.write_parquet("a.parquet")
    rows.write_ndjson("a.jsonl")
    Path("items.csv").write_text(ITEMS)
    pl.read_csv(io.StringIO(ITEMS)).write_parquet("items.parquet")
    Path("gold.csv").write_text("item_id,gold\nq1,A\nq2,A\nq3,B\n")
    run = RunDirectory.create(str(tmp_path / "run"))
    run.write_text("sweep.toml", "name = 's'\n")
    run.write_text("commits/c.json", "{}")
    run.write_bytes("items.parquet", Path("items.parquet").read_bytes())
    run.write_bytes("data/judge=j/part-1.parquet", Path("a.parquet").read_bytes())
    return tmp_path


def everything(folder):
    """Every file below a folder with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(here, capsys):
    """The one line of a command that must change nothing."""

    def say(*arguments):
        before = everything(here)
        assert main([str(word) for word in arguments]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), err[:10]) == ("", 1, "judgerel: ")
        assert everything(here) == before
        return err

    return say


READ_TO_WRITE = [
    ["reduce", "a.csv", "--out", "a.csv"],
    ["reduce", "a.parquet", "--out", "a.parquet"],
    ["questions", "a.csv", "--out", "a.csv"],
    ["select", "a.csv", "--gold", "gold.csv", "--out", "gold.csv"],
    ["systems", "a.csv", "--gold", "gold.csv", "--out", "a.csv"],
    ["panels", "a.csv", "--gold", "gold.csv", "--out", "gold.csv"],
    ["align", "a.csv", "--reference", "gold.csv", "--out", "gold.csv"],
    ["rank", "a.csv", "--outside", "gold.csv", "--out", "gold.csv"],
    ["import", "table", "a.parquet", "--out", "a.parquet"],
    ["import", "table", "a.csv", "a.parquet", "--out", "a.parquet"],
    ["items", "mine", "items.parquet", "--out", "items.parquet"],
    ["items", "mt_bench", "items.csv", "--answers", "a.parquet", "--out", "a.parquet"],
]


@pytest.mark.parametrize("arguments", READ_TO_WRITE, ids=" ".join)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_what_is_read_is_never_written(refused, arguments, force):
    assert "--out is what is read, and would destroy it" in refused(*arguments, *force)


def spellings(here):
    """Other names of a.csv."""
    os.symlink("a.csv", "soft.csv")
    os.link("a.csv", "hard.csv")
    os.mkdir("b")
    os.symlink(here, "b/back")
    return [
        "./a.csv", ".//a.csv", "b/../a.csv", f"{here}/a.csv", f"/{here}//a.csv", "soft.csv",
        "hard.csv", "b/back/a.csv", "/proc/self/cwd/a.csv", f"file://{here}/a.csv",
        f"FILE://{here}/a.csv", f"local://{here}/b/../a.csv", "b/back/soft.csv",
    ]  # fmt: skip


def test_by_whatever_name(here, refused):
    for name in spellings(here):
        assert "is what is read" in refused("reduce", "a.csv", "--out", name, "--force"), name
        assert "is what is read" in refused("reduce", "soft.csv", "--out", name, "--force"), name


def test_an_open_file_has_a_name_too(refused):
    with open("a.csv") as opened:
        name = f"/dev/fd/{opened.fileno()}"
        assert "is what is read" in refused("reduce", name, "--out", "a.csv", "--force")


def test_a_name_in_percent_is_the_file_it_names(here):
    Path("a b.csv").write_text(ROWS)
    with pytest.raises(SweepError, match="is what is read"):
        output_to("a b.csv", "table", reads=[f"file://{here}/a%20b.csv"], force=True)


BUCKETS = [
    ("memory://x/a.csv", "memory://x/a.csv"),
    ("memory://x/a.csv", "memory:///x/a.csv"),
    ("memory://x/a.csv", "memory://x//./y/../a.csv"),
    ("MEMORY://x/a.csv", "memory://x/a.csv"),
    ("memory://x/*.csv", "memory://x/a.csv"),
    ("memory://x", "memory://x/a.csv"),
    ("s3://bucket/x/a.csv", "s3://bucket/x/a.csv"),
    ("s3://bucket/x/a.csv", "s3a://bucket/x//a.csv"),
    ("s3://bucket/x/a.csv?versionId=3", "s3://bucket/x/./a.csv"),
    ("simplecache::s3://bucket/a.csv", "s3://bucket/a.csv"),
    ("zip://a.csv::logs.csv", "logs.csv"),
]


@pytest.mark.parametrize(("source", "target"), BUCKETS)
def test_a_bucket_has_many_spellings_too(monkeypatch, source, target):
    monkeypatch.setattr("judgerel_ray.store.places.is_run", lambda _: False)
    Path("logs.csv").write_text(ROWS)
    with pytest.raises(SweepError, match=r"is what is read|lies where all"):
        output_to(target, "table", reads=[source], force=True)


def write_coefficients(frame, out, **options):
    """Write a table as ``--out`` does, by the file's ending."""
    output = output_to(out, "table", **options)
    if output.ending == ".json":
        output.write(f"{rows_json(frame)}\n".encode())
    else:
        output.write_frame(frame)


def test_a_bucket_is_written_whole_and_replaced_only_where_it_is_ours():
    frame = pl.DataFrame({"coefficient": ["x"], "value": [1.0], "undefined": [None]})
    for ending in ("csv", "json", "parquet"):
        out = f"memory://outputs/{ending}/c.{ending}"
        write_coefficients(frame, out, reads=["memory://outputs/rows.csv"])
        write_coefficients(frame, out)
        other = f"memory://outputs/{ending}/other.{ending}"
        with fsspec.open(other, "wb") as file:
            file.write(Path("a.parquet").read_bytes() if ending == "parquet" else ROWS.encode())
        with pytest.raises(SweepError, match="would replace a file that judgerel did not write"):
            write_coefficients(frame, other)
        write_coefficients(frame, other, force=True)


def test_a_run_in_a_bucket_keeps_what_is_its_own():
    run = RunDirectory.create("memory://outputs-run/r")
    run.write_text("sweep.toml", "")
    for name in ("items.parquet", "data/judge=j/part.parquet", "new/c.parquet"):
        with pytest.raises(SweepError, match="lies in a run directory"):
            output_to(f"memory://outputs-run/r/{name}", "table", force=True)
    assert output_to("memory://outputs-run/r/report.html", "report").ending == ".html"
    with pytest.raises(SweepError, match="lies in a run directory"):
        refuse_inside_run("memory://outputs-run/r/data/another")


INSIDE = [
    "run/items.parquet", "run/data/judge=j/part-1.parquet", "run/new.csv", "run/data/new.csv",
    "run/texts.json", "run/manifest.json", "run/plan.json", "run/commits/c.json", "./run//new.csv",
    "link/new.csv", "data/new.csv", "part.parquet", "run/outwards.csv",
]  # fmt: skip


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "force"])
def test_nothing_in_a_run_directory_is_a_target(refused, force):
    os.symlink("run", "link")
    os.symlink("run/data", "data")
    os.symlink("run/data/judge=j/part-1.parquet", "part.parquet")
    Path("outside.csv").touch()
    os.symlink("../outside.csv", "run/outwards.csv")
    for target in INSIDE:
        for source in ("a.csv", "run"):
            assert "lies in a run directory" in refused("reduce", source, "--out", target, *force)
    for target in ("run/items.parquet", "run/new.parquet"):
        assert "run directory" in refused("import", "table", "a.csv", "--out", target, *force)
        assert "run directory" in refused("items", "mine", "items.csv", "--out", target, *force)


@pytest.mark.parametrize("damage", ["manifest gone", "manifest broken", "manifest and sweep gone"])
def test_a_damaged_run_is_one_still(refused, damage):
    if "gone" in damage:
        Path("run/manifest.json").unlink()
    else:
        Path("run/manifest.json").write_text("{")
    if "sweep" in damage:
        Path("run/sweep.toml").unlink()
    assert "lies in a run directory" in refused("reduce", "a.csv", "--out", "run/c.csv", "--force")


def test_one_more_name_of_a_part_is_the_part(refused):
    os.link("run/data/judge=j/part-1.parquet", "mine.parquet")
    assert "is what is read" in refused("reduce", "run", "--out", "mine.parquet", "--force")


@pytest.mark.slow
def test_a_page_may_lie_directly_in_a_run(refused, capsys):
    assert main(["report", "a.csv", "--out", "run/report.html"]) == 0
    assert main(["report", "a.csv", "--out", "run/report.html"]) == 0
    capsys.readouterr()
    os.mkdir("run/sub")
    for target in ("run/data/report.html", "run/sub/report.html"):
        assert "lies in a run directory" in refused("report", "a.csv", "--out", target, "--force")
    os.symlink("run/data/page.html", "page.html")
    assert "lies in a run directory" in refused("report", "a.csv", "--out", "page.html")


def test_a_folder_of_another_program_with_a_manifest_is_no_run():
    Path("web").mkdir()
    Path("web/manifest.json").write_text('{"name": "app"}')
    assert main(["reduce", "a.csv", "--out", "web/c.csv"]) == 0


def test_a_run_is_not_made_in_a_run(refused):
    Path("sweep.toml").write_text(
        'name = "s"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n'
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "mine"\npath = "items.csv"\n'
    )
    for out in ("run/data/inner", "run/inner"):
        assert "lies in a run directory" in refused("run", "sweep.toml", "--out", out)


ONE = ["--coefficient", "percent_agreement"]
WRITERS = [
    (["reduce", "a.csv", *ONE, "--out"], "c.csv"),
    (["reduce", "a.csv", *ONE, "--out"], "c.json"),
    (["reduce", "a.csv", *ONE, "--out"], "c.parquet"),
    (["questions", "a.csv", "--out"], "q.csv"),
    (["questions", "a.csv", "--out"], "q.JSON"),
    (["report", "a.csv", "--out"], "r.html"),
    (["import", "table", "a.csv", "--out"], "j.parquet"),
    (["items", "mine", "items.csv", "--out"], "i.parquet"),
]


@pytest.mark.alike(4)
@pytest.mark.parametrize(("arguments", "name"), WRITERS, ids=str)
def test_an_earlier_output_is_replaced_and_nothing_else(refused, capsys, arguments, name):
    assert main([*arguments, name]) == 0
    first = Path(name).read_bytes()
    assert main([*arguments, name]) == 0
    assert Path(name).read_bytes() == first
    ending = Path(name).suffix.lower()
    foreign = {".csv": ROWS, ".json": '[{"a": 1}]', ".html": "<html><body>mine</body></html>"}
    if ending == ".parquet":
        pl.DataFrame({"mine": [1]}).write_parquet(name)
    else:
        Path(name).write_text(foreign[ending])
    capsys.readouterr()
    line = refused(*arguments, name)
    assert "would replace a file that judgerel did not write" in line
    assert "--force" in line
    assert main([*arguments, name, "--force"]) == 0
    assert Path(name).read_bytes() == first
    Path(name).write_bytes(b"")  # as mktemp leaves it: nothing to lose
    assert main([*arguments, name]) == 0


def added(name):
    """A file with a little more in it, as a person or another program leaves it."""
    if name.endswith(".parquet"):
        told = pq.read_metadata(name).metadata
        told = {key: value for key, value in told.items() if key != b"ARROW:schema"}
        table = pq.read_table(name).replace_schema_metadata(told)
        pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), name)
        return
    text = Path(name).read_text()
    if name.lower().endswith(".json"):
        rows = json.loads(text)
        text = json.dumps([*rows, rows[0]])
    elif name.endswith(".html"):
        text = text.replace("</main>", "<p>mine</p></main>")
    else:
        text += text.splitlines()[-1] + "\n"
    Path(name).write_text(text)


@pytest.mark.alike(4)
@pytest.mark.parametrize("saved", ["in place", "as a new file"])
@pytest.mark.parametrize(("arguments", "name"), WRITERS, ids=str)
def test_an_output_that_was_changed_since_stays(capsys, arguments, name, saved):
    """Outputs were known by their first line alone, and what was added below it was lost."""
    assert main([*arguments, name]) == 0
    first = Path(name).read_bytes()
    added(name)
    if saved == "as a new file":
        shutil.copyfile(name, "copy")
        os.replace("copy", name)
    mine = Path(name).read_bytes()
    assert mine != first
    capsys.readouterr()
    assert main([*arguments, name]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "would replace a file with other content" in err
    assert "--force" in err
    assert Path(name).read_bytes() == mine
    assert main([*arguments, name, "--force"]) == 0
    assert Path(name).read_bytes() == first


@pytest.mark.alike(3)
@pytest.mark.parametrize(("arguments", "name"), WRITERS, ids=str)
def test_an_earlier_output_stays_where_the_numbers_are_others(arguments, name):
    assert main([*arguments, name]) == 0
    first = Path(name).read_bytes()
    source = next(word for word in arguments if word.endswith(".csv"))
    text = Path(source).read_text()
    Path(source).write_text(text.replace("q3,0,B", "q3,0,A").replace(",y\n", ",z\n"))
    assert main([*arguments, name]) == 2
    assert Path(name).read_bytes() == first
    assert main([*arguments, name, "--force"]) == 0
    assert Path(name).read_bytes() != first


def test_an_output_in_a_bucket_that_was_changed_stays():
    frame = pl.DataFrame({"coefficient": ["x"], "value": [1.0], "undefined": [None]})
    for ending in ("csv", "json", "parquet"):
        out = f"memory://outputs-changed/c.{ending}"
        write_coefficients(frame, out)
        with fsspec.open(out, "rb") as file:
            data = file.read()
        with fsspec.open(out, "wb") as file:
            file.write(data.replace(b"x", b"y"))
        with pytest.raises(SweepError, match="with other content"):
            write_coefficients(frame, out)


def test_an_output_of_another_kind_is_no_earlier_one(refused, capsys):
    """Judgments that were imported and items that were made are what the next command reads."""
    assert main(["import", "table", "a.csv", "--out", "j.parquet"]) == 0
    assert main(["items", "mine", "items.csv", "--out", "i.parquet"]) == 0
    capsys.readouterr()
    assert "would replace" in refused("reduce", "a.csv", "--out", "j.parquet")
    assert "would replace" in refused("reduce", "a.csv", "--out", "i.parquet")
    assert "would replace" in refused("items", "mine", "items.csv", "--out", "j.parquet")
    assert "is what is read" in refused("reduce", "j.parquet", "--out", "j.parquet", "--force")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c.csv", "c.json"])
def test_a_table_of_other_columns_stays(capsys, name):
    assert main(["questions", "a.csv", "--out", name]) == 0
    before = Path(name).read_bytes()
    assert main(["reduce", "a.csv", "--out", name]) == 2
    assert "a file with other content" in capsys.readouterr().err
    assert Path(name).read_bytes() == before


def test_sources_of_a_mix_are_read(refused, capsys):
    Path("mix.toml").write_text('n = 1\n[[part]]\nbenchmark = "mine"\npath = "made.parquet"\n')
    assert main(["items", "mine", "items.csv", "--out", "made.parquet"]) == 0
    capsys.readouterr()
    assert "is what is read" in refused("items", "mix", "mix.toml", "--out", "made.parquet")


def test_judgments_of_a_folder_or_a_pattern_are_read(here):
    os.mkdir("logs")
    Path("logs/a.parquet").write_bytes(Path("a.parquet").read_bytes())
    for target, said in (("a", "is what is read"), ("new", "lies where all files are read")):
        for source in ("logs", "logs/*.parquet", f"{here}/log?/*.parquet"):
            with pytest.raises(SweepError, match=said):
                output_to(f"logs/{target}.parquet", "table", reads=[source], force=True)
    assert output_to("logs/i.parquet", "items", reads=["logs"])
    with pytest.raises(SweepError, match="is what is read"):
        output_to("logs/a.parquet", "items", reads=["logs"], force=True)


def test_python_functions_hold_the_same_rule(here):
    frame = pl.DataFrame({"value": [1.0], "undefined": [None]})
    before = everything(here)
    for act in (
        lambda: import_judgments("table", ["a.parquet"], out="a.parquet", force=True),
        lambda: items("mine", "items.parquet", out="./items.parquet", force=True),
        lambda: write_coefficients(frame, "a.csv", reads=["a.csv"], force=True),
        lambda: write_coefficients(frame, "a.csv"),
        lambda: write_coefficients(frame, "run/items.parquet", force=True),
        lambda: write_coefficients(frame, "no/c.csv"),
        lambda: report("a.csv", out="run/data/r.html", force=True),
        lambda: report("a.csv", out="no/r.html"),
    ):
        with pytest.raises(SweepError):
            act()
    assert everything(here) == before


def test_what_is_no_file_is_no_place(refused):
    os.mkfifo("pipe.csv")
    os.symlink("round.csv", "round.csv")
    os.mkdir("folder.csv")
    for name in ("a.csv/", "a.csv//", "a.csv/.", "new.csv/", "a.csv/..", "a.csv/../a.csv/"):
        for source in ("a.csv", "gold.csv"):
            line = refused("reduce", source, "--out", name, "--force")
            assert "is no place for a file" in line or "must end in" in line, name
    assert "is what is read" in refused("reduce", "a.csv", "--out", "a.csv/../a.csv", "--force")
    for name in (
        "pipe.csv",
        "round.csv",
        "folder.csv",
        "a.csv/x.csv",
        "n" * 300 + ".csv",
        "\0.csv",
    ):
        assert "--out is no place for a file" in refused("reduce", "a.csv", "--out", name)


def test_a_link_stays_a_link_and_a_mode_a_mode():
    os.mkdir("elsewhere")
    os.symlink("elsewhere/c.csv", "c.csv")
    assert main(["reduce", "a.csv", "--out", "c.csv"]) == 0
    assert Path("c.csv").is_symlink()
    assert Path("elsewhere/c.csv").read_text().startswith("coefficient")
    os.chmod("elsewhere/c.csv", 0o600)
    assert main(["reduce", "a.csv", "--out", "c.csv"]) == 0
    assert stat.S_IMODE(os.stat("elsewhere/c.csv").st_mode) == 0o600
    assert os.listdir("elsewhere") == ["c.csv"]


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))
from judgerel_ray.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "name"), WRITERS[:3] + WRITERS[5:], ids=str)
def test_a_disk_that_is_full_destroys_nothing(here, arguments, name):
    assert main([*arguments, name]) == 0
    before = everything(here)
    found = subprocess.run(
        [sys.executable, "-c", FULL, *arguments, name], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "cannot write a file: File too large" in found.stderr
    assert everything(here) == before


def test_a_file_that_is_put_there_meanwhile_stays(here, monkeypatch):
    output = output_to("new.csv", "table")

    def look_and_wait(self, names):
        found = sizes_of(self, names)
        (here / "new.csv").write_text("somebody else's")
        return found

    sizes_of = Disk.sizes_of
    with monkeypatch.context() as patched:
        patched.setattr("judgerel_ray.store.outputs.check_output", lambda _: None)
        patched.setattr(Disk, "sizes_of", look_and_wait)
        with pytest.raises(SweepError, match="a file with other content"):
            output.write(b"item_id,low\n")
    assert (here / "new.csv").read_text() == "somebody else's"


NEEDED = {
    "align": ["--reference", "simulated-steady"],
    "correct": ["--positive", "a", "--labels", "labels.csv"],
}


@pytest.mark.alike(13)
@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("verb", [
    name for name, one in VERBS.items() if one.prints == "file" and name != "cascade"
])  # fmt: skip
def test_an_output_may_be_written_again(verb, ending, capsys):
    """The tables of every verb are known as earlier outputs of ours."""
    Path("labels.csv").write_text("item_id,label\nq1,b\nq2,a\nq3,a\nq4,b\nq5,a\n")
    source = example("judgments.csv" if verb == "correct" else "run")
    arguments = [verb, source, *NEEDED.get(verb, ()), "--out", f"again.{ending}"]
    for _ in range(2):
        assert main(arguments) == 0, capsys.readouterr().err


def test_a_write_that_fails_in_a_bucket_is_one_line(monkeypatch):
    from fsspec.implementations.memory import MemoryFileSystem

    def refuse(*_, **__):
        raise PermissionError(13, "Access Denied")

    output = output_to("memory://outputs-refused/c.csv", "table")
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", refuse)
    with pytest.raises(StoreError, match=r"cannot write an object: .*Access Denied"):
        output.write(b"x")


def test_a_store_without_a_package_is_one_line():
    with pytest.raises(JudgeRelError, match="no file system for nowhere://"):
        output_to("nowhere://x/c.csv", "table")


def test_limits_are_there_to_test_with():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 256


def test_json_of_several_tables_is_known_again():
    output = output_to("t.json", "table")
    tables = json.dumps({"one": [{"judge": "j", "low": 1}], "two": []}).encode()
    output.write(tables)
    output.write(tables)
    with pytest.raises(SweepError, match="other content"):
        output_to("t.json", "table").write(json.dumps({"one": []}).encode())


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x/c.csv", "github://a:b@c/c.csv"])
def test_a_place_on_the_web_is_refused_in_one_line(refused, url):
    assert url.partition("://")[0] in refused("reduce", "a.csv", "--out", url)


@pytest.fixture
def bucket(monkeypatch):
    """A bucket of moto's with judgments in it."""
    moto_server = pytest.importorskip("moto.server", reason="needs moto[server]")
    s3fs = pytest.importorskip("s3fs")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {"ENDPOINT_URL": f"http://{host}:{port}", "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x"}
    for name, value in (told | {"DEFAULT_REGION": "us-east-1"}).items():
        monkeypatch.setenv(f"AWS_{name}", value)
    s3fs.S3FileSystem.clear_instance_cache()
    name = f"outputs-{uuid.uuid4().hex}"
    filesystem = s3fs.S3FileSystem()
    filesystem.mkdir(name)
    filesystem.pipe_file(f"{name}/logs/a.csv", ROWS.encode())
    yield name
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.mark.slow
def test_a_bucket_holds_the_same_rule(bucket, capsys):
    """Pages went to a local folder named s3: before, and JSON nowhere."""
    for name in ("c.csv", "c.json", "c.parquet"):
        assert main(["reduce", "a.csv", "--out", f"s3://{bucket}/out/{name}"]) == 0
        assert main(["reduce", "a.csv", "--out", f"s3a://{bucket}/out/{name}"]) == 0
    page = f"s3://{bucket}/out/r.html"
    assert main(["report", "a.csv", "--out", page]) == 0
    assert main(["report", "a.csv", "--out", page]) == 0
    assert not Path("s3:").exists()
    run = RunDirectory.create(f"s3://{bucket}/runs/r")
    assert main(["report", "a.csv", "--out", f"s3://{bucket}/runs/r/report.html"]) == 0
    source = f"s3://{bucket}/logs/a.csv"
    capsys.readouterr()
    for arguments, said in (
        (["reduce", source, "--out", source, "--force"], "is what is read"),
        (["reduce", source, "--out", f"s3a://{bucket}//logs/a.csv", "--force"], "is what is read"),
        (["reduce", "a.csv", "--out", source], "would replace a file"),
        (["reduce", "a.csv", "--out", f"{run.url}/data/x.csv", "--force"], "in a run directory"),
        (["report", "a.csv", "--out", f"{run.url}/data/r.html"], "in a run directory"),
        (["reduce", "a.csv", "--out", "s3://there-is-none/c.csv"], "bucket does not exist"),
    ):
        assert main(arguments) == 2
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    with fsspec.open(source) as file:
        assert file.read() == ROWS.encode()


RUN_BY_SPREADSHEETS = ("=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1", " =1", '"=1', "'=1", "＝1")


@pytest.mark.parametrize("text", RUN_BY_SPREADSHEETS)
def test_no_spreadsheet_runs_a_text_of_a_table(tmp_path, text):
    frame = pl.DataFrame({text: [text, "plain", None], "value": [-1.5, 2.0, None]})
    output = output_to(str(tmp_path / "x.csv"), "table")
    output.write_frame(frame)
    with open(output.path, newline="", encoding="utf-8") as file:
        head, first, second, _ = csv.reader(file)
    assert head == [f"'{text}", "value"]
    assert (first, second) == ([f"'{text}", "-1.5"], ["plain", "2.0"])


@pytest.mark.parametrize("text", ["-1.5", "+2", "1e3", "a=b", "a-b", "x@y", ""])
def test_numbers_and_plain_texts_of_a_table_stay(tmp_path, text):
    output = output_to(str(tmp_path / "x.csv"), "table")
    output.write_frame(pl.DataFrame({"judge": [text]}))
    assert pl.read_csv(output.path, infer_schema=False)["judge"].to_list() == [text]


def test_raw_cells_stay_as_they_are(tmp_path, capsys):
    rows = pl.DataFrame({"judge": ["=1+1"] * 4, "item_id": ["q", "q", "r", "r"],
                         "replication": [0, 1] * 2, "verdict": [*"ABAA"]})  # fmt: skip
    rows.write_parquet(tmp_path / "x.parquet")
    found = []
    for flags in ([], ["--raw-cells"]):
        out = tmp_path / f"x{len(flags)}.csv"
        assert main(["reduce", str(tmp_path / "x.parquet"), "--out", str(out), *flags]) == 0
        found.append(pl.read_csv(out)["judge"][0])
    assert found == ["'=1+1", "=1+1"]
    for flags in (["--raw-cells"], ["--raw-cells", "--out", str(tmp_path / "x.json")]):
        capsys.readouterr()
        assert main(["reduce", str(tmp_path / "x.parquet"), *flags]) == 2
        assert "leave" in capsys.readouterr().err
