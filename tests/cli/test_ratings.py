"""Tables of ratings: on the terminal, as JSON, in Python and on the page, the same numbers."""

import json
import re
from html import unescape

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.blocks.words import estimate, number
from judgerel_ray.cli import main

ENDS = {"points5": (1, 5), "points10": (1, 10), "binary": (0, 1)}


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """Three judges on three scales at two temperatures: a file, and scores of them from outside."""
    rng = np.random.default_rng(8)
    folder = tmp_path_factory.mktemp("ratings")
    latent = rng.uniform(size=(24, 1))
    rows = [
        {"judge": judge, "item_id": f"q{n}", "criterion": "factuality", "definition": "short",
         "scale": scale, "temperature": heat, "replication": r,
         "score": None if (n, r) == (5, 1) else float(
             np.clip(np.rint(low + (high - low) * said[n, r]), low, high))}
        for judge, noise in (("steady", 0.05), ("middling", 0.3), ("wild", 0.9))
        for heat in (0.5, 1.0)
        for scale, (low, high) in ENDS.items()
        for said in [latent + noise * heat * rng.normal(size=(24, 3))]
        for n in range(24) for r in range(3)
    ]  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "ratings.parquet")
    (folder / "outside.csv").write_text("judge,score\nsteady,5\nmiddling,7\nwild,6.5\n")
    people = pl.DataFrame({"item_id": [f"q{n}" for n in range(24)], "score": latent[:, 0]})
    people.write_csv(folder / "people.csv")
    return folder


def printed(capsys, *arguments):
    capsys.readouterr()
    assert main([*map(str, arguments), "--full"]) == 0
    return capsys.readouterr().out


def as_json(frame):
    return json.loads(json.dumps(frame.to_dicts()))


@pytest.mark.slow
def test_scales_are_the_same_on_the_terminal_as_json_and_in_python(ratings, capsys):
    path = ratings / "ratings.parquet"
    text = printed(capsys, "scales", path, "--mapping", "binarise")
    found = json.loads(printed(capsys, "scales", path, "--mapping", "binarise", "--format", "json"))
    tables = judgerel_ray.scales(path, mapping="binarise")
    own, across = tables.self_consistency, tables.inter_scale
    assert found == {"self_consistency": as_json(own), "inter_scale": as_json(across)}
    assert across.height == 3 * 2 * 4
    said = " ".join(text.split())
    assert "scores mapped by binarise (1 where > the middle), nominal alpha" in said
    for row in (*own.iter_rows(named=True), *across.iter_rows(named=True)):
        assert number(row["value"]) in text
    alone = judgerel_ray.scales(path, preset="lee2025_case3").inter_scale
    same = across.filter(pl.col("scales") == "binary / points10")
    assert alone.equals(same)


@pytest.mark.slow
def test_alignment_is_the_same_everywhere(ratings, capsys, tmp_path):
    path = ratings / "ratings.parquet"
    for n, reference in enumerate(("steady", ratings / "people.csv")):
        out = tmp_path / f"{n}.parquet"
        text = printed(capsys, "align", path, "--reference", reference, "--out", out)
        found = json.loads(
            printed(capsys, "align", path, "--reference", reference, "--format", "json")
        )
        frame = judgerel_ray.align(path, reference=reference)
        assert found == as_json(frame)
        assert pl.read_parquet(out).equals(frame)
        for row in frame.iter_rows(named=True):
            if row["undefined"]:
                assert row["coefficient"].startswith("icc")
                assert "undefined: reference off scale" in text
                continue
            assert f"{number(row['single'])} [" in text
            assert f"{number(row['averaged'])} [" in text


@pytest.mark.slow
def test_ranks_are_the_same_everywhere(ratings, capsys):
    path, outside = ratings / "ratings.parquet", ratings / "outside.csv"
    flags = ["--outside", outside, "--reference", ratings / "people.csv"]
    text = printed(capsys, "rank", path, *flags)
    found = json.loads(printed(capsys, "rank", path, *flags, "--format", "json"))
    tables = judgerel_ray.rank(path, outside=outside, reference=ratings / "people.csv")
    ranks, means, agreements = tables.ranks, tables.mean_ranks, tables.agreements
    assert found == {
        "ranks": as_json(ranks), "mean_ranks": as_json(means), "agreements": as_json(agreements)
    }  # fmt: skip
    assert set(ranks["measure"]) == {"self_consistency", "inter_scale", "alignment", "outside"}
    best = ranks.filter(measure="self_consistency", rank=1)["judge"].to_list()
    assert best == ["steady", "steady"]
    for row in ranks.iter_rows(named=True):
        assert f"at {number(row['value'])}" in text


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "chief"), [("scales", "inter_scale"), ("rank", "ranks")])
def test_json_that_is_written_holds_every_table(verb, chief, ratings, capsys, tmp_path):
    path, out = ratings / "ratings.parquet", tmp_path / "out.json"
    said = json.loads(printed(capsys, verb, path, "--format", "json", "--out", out))
    assert json.loads(out.read_text("utf-8")) == said
    assert len(said) > 1
    printed(capsys, verb, path, "--out", tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").height == len(said[chief])


@pytest.mark.slow
def test_the_page_shows_what_the_tables_say(ratings, capsys, tmp_path):
    path, page = ratings / "ratings.parquet", tmp_path / "page.html"
    flags = ["--reference", "steady", "--outside", str(ratings / "outside.csv")]
    assert main(["report", str(path), "--out", str(page), *flags]) == 0
    said = " ".join(unescape(page.read_text("utf-8")).replace("\u00a0", " ").split())
    for heading in (
        "Consistency on each scale",
        "Consistency across scales",
        "Ratings against temperature",
        "Alignment with steady",
        "Judges ranked",
    ):
        assert f"<h2>{heading}</h2>" in said
    tables = judgerel_ray.scales(path)
    own, across = tables.self_consistency, tables.inter_scale
    case = judgerel_ray.scales(path, preset="lee2025_case3").inter_scale
    for row in (*own.iter_rows(named=True), *across.iter_rows(named=True), *case.to_dicts()):
        assert estimate(row) in said
    table = said[said.index("Self-consistency by temperature") :].partition("</table>")[0]
    lines = own.partition_by("judge", "scale")
    assert all(part.sort("temperature")["value"].diff()[-1] < 0 for part in lines)
    assert "as temperature rises: falls)" in table
    shown = ["pearson", "spearman", "kendall", "icc_agreement"]
    aligned = judgerel_ray.align(path, reference="steady", coefficients=shown)
    assert set(aligned["coefficient"]) == set(shown)
    for row in aligned.iter_rows(named=True):
        assert f"{number(row['averaged'])} [" in said
    drawn = re.findall(r'aria-label="(Alpha across scales|Alpha by scale|Ranks of judges)', said)
    assert [drawn.count(kind) for kind in dict.fromkeys(drawn)] == [6, 6, 2]
    assert "points5 / points10: " in said
    first = said[said.index('aria-label="Ranks of judges') :].partition("</svg>")[0]
    places = {
        (float(y), judge)
        for y, judge in re.findall(
            r'translate\([0-9.]+,([0-9.]+)\)"[^>]*><title>(\w+), self-consistency', first
        )
    }
    assert [judge for _, judge in sorted(places)] == ["middling", "wild"]
    assert len({y for y, _ in places}) == 2
    assert capsys.readouterr().out.startswith("wrote ")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("verb", "flags", "said"),
    [
        ("scales", ["--mapping", "log"], "mapping must be one of minmax"),
        ("scales", ["--by", "scale"], "cannot group by 'scale'"),
        ("align", ["--reference", "wild", "--coefficient", "r2"], "got coefficient 'r2'"),
        ("align", ["--reference", "nobody"], "no judge 'nobody' to be the reference"),
        ("align", ["--reference", "none.csv"], "--reference cannot be read"),
    ],
)
def test_mistakes_are_one_line(verb, flags, said, ratings, capsys):
    assert main([verb, str(ratings / "ratings.parquet"), *flags]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(("verb", "flag"), [("align", "--reference"), ("rank", "--outside")])
def test_scores_that_are_not_finite_are_refused(verb, flag, ratings, tmp_path, capsys):
    table = pl.DataFrame({"item_id": ["q1"], "judge": ["wild"], "score": [float("inf")]})
    table.write_parquet(tmp_path / "infinite.parquet")
    path = str(ratings / "ratings.parquet")
    assert main([verb, path, flag, str(tmp_path / "infinite.parquet")]) == 2
    error = capsys.readouterr().err
    assert "needs finite numbers in column score" in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_a_scale_of_ones_own_is_declared_by_its_file(tmp_path, capsys):
    path, scale = tmp_path / "r.csv", tmp_path / "stars.toml"
    lines = [f"q{n},{s},0,{n % 3 + 1}" for n in range(9) for s in ("stars", "points5")]
    path.write_text("\n".join(["item_id,scale,replication,score", *lines]))
    assert main(["scales", str(path)]) == 2
    assert "nothing tells the ends of scale 'stars'" in capsys.readouterr().err
    scale.write_text('level = "interval"\nlowest = 1\nhighest = 3\n')
    [row] = judgerel_ray.scales(path, scale=[scale]).inter_scale.to_dicts()
    assert row["scales"] == "stars / points5"
    assert "stars / points5" in printed(capsys, "scales", path, "--scale", scale)
    page = tmp_path / "p.html"
    assert main(["report", str(path), "--out", str(page)]) == 0
    said = page.read_text("utf-8")
    assert "Consistency across scales" not in said
    assert "nothing tells the ends of stars" in said
    assert "--scale stars.toml" in said
    assert main(["report", str(path), "--out", str(page), "--force", "--scale", str(scale)]) == 0
    said = page.read_text("utf-8")
    assert "Consistency across scales" in said
    assert "nothing tells the ends" not in said


@pytest.mark.slow
def test_the_page_compares_scales_as_it_is_told(ratings, tmp_path):
    path, page = ratings / "ratings.parquet", tmp_path / "page.html"
    flags = ["--mapping", "midrank", "--pairing", "first"]
    assert main(["report", str(path), "--out", str(page), *flags]) == 0
    said = " ".join(unescape(page.read_text("utf-8")).replace("\u00a0", " ").split())
    across = judgerel_ray.scales(path, mapping="midrank", pairing="first").inter_scale
    plain = judgerel_ray.scales(path).inter_scale
    ranks = judgerel_ray.rank(path, mapping="midrank", pairing="first").ranks
    assert across.height == plain.height
    for row in across.iter_rows(named=True):
        assert estimate(row) in said
    for row in plain.filter(n_scales=3).iter_rows(named=True):
        assert estimate(row) not in said
    for row in ranks.filter(measure="inter_scale").iter_rows(named=True):
        assert f"at {number(row['value'])}" in said


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        pytest.param(["--preset", "lee2025_case2"], "likert5", marks=pytest.mark.slow),
        (["--mapping", "log"], "mapping must be one of minmax"),
        (["--preset", "lee2025_case3", "--mapping", "minmax"], "leave one of them out"),
        (["--scale", "none.toml"], "none.toml"),
    ],
)
def test_the_page_refuses_in_the_words_of_the_verb(flags, said, ratings, tmp_path, capsys):
    path, out = str(ratings / "ratings.parquet"), str(tmp_path / "page.html")
    assert main(["report", path, "--out", out, *flags]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert main(["scales", path, *flags]) == 2
    assert capsys.readouterr().err == error


@pytest.mark.parametrize("flags", [["--mapping", "midrank"], ["--scale", "none.toml"]])
def test_what_is_of_ratings_is_refused_where_there_are_none(flags, tmp_path, capsys):
    path = tmp_path / "plain.csv"
    path.write_text("item_id,replication,verdict\nq,0,A\nq,1,B\n")
    assert main(["report", str(path), "--out", str(tmp_path / "p.html"), *flags]) == 2
    assert "of ratings, and there are none" in capsys.readouterr().err
