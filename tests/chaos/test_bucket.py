"""Runs and series whose folder is a bucket: killed, gone on with, and on a bucket that fails."""

from __future__ import annotations

import json
import os
import signal
import uuid
from dataclasses import dataclass, replace

import pytest

from judgerel_ray.__main__ import main
from judgerel_ray.store import scan_judgments, verify_run
from judgerel_ray.store.series import SeriesDirectory
from judgerel_ray.store.status import read_status

pytestmark = [pytest.mark.ray, pytest.mark.slow]


@dataclass(frozen=True)
class Place:
    """A bucket of a real S3 server behind a proxy that may fail, and a Ray whose nodes see it."""

    proxy: object
    url: str
    address: str

    def all_bytes(self):
        """Everything that lies in the bucket."""
        import s3fs

        there = s3fs.S3FileSystem()
        return b"".join(there.cat(path) for path in there.find(self.url.removeprefix("s3://")))


@pytest.fixture(scope="module")
def place(s3_url, fault_bucket, ray_started):
    """Named by the environment alone, as nodes of a cluster have it."""
    import ray
    import s3fs

    name = f"chaos-{uuid.uuid4().hex}"
    ray.shutdown()
    with fault_bucket(s3_url) as proxy, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", proxy.url)
        patch.setenv("AWS_MAX_ATTEMPTS", "1")  # one layer of retries is enough to wait for
        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir(name)
        ray_started()
        yield Place(proxy, f"s3://{name}", ray.get_runtime_context().gcs_address)
        ray.shutdown()
        s3fs.S3FileSystem.clear_instance_cache()


def test_killed_resumed_reduced_and_refreshed_in_a_bucket(place, sweep, tmp_path, capsys):
    one = replace(sweep(n_items=10, speed=1200, never_ends=True), out=f"{place.url}/run")
    driver = one.start(place.address)
    one.wait_for(one.asked // 3, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    assert 0 < read_status(one.out).judges[0].landed < one.asked
    sweep(n_items=10)  # whether its engines hang is not what is asked
    capsys.readouterr()
    assert main(["run", str(one.file), "--out", one.out]) == 0
    assert f"{one.asked} of {one.asked} requests landed" in capsys.readouterr().out
    one.check_whole()
    assert main(["run", str(one.file), "--out", one.out]) == 0
    assert "(0 in this session, 0 pending)" in capsys.readouterr().out
    assert main(["reduce", one.out, "--format", "json"]) == 0
    assert {row["n_items"] for row in json.loads(capsys.readouterr().out)} == {10}

    series = tmp_path / "series.toml"
    series.write_text(
        f'name = "nightly"\nout = "{place.url}/series"\n'
        f'sweep = [{{ path = "{one.file}", role = "anchor" }}]\n'
    )
    assert main(["refresh", str(series)]) == 0
    assert capsys.readouterr().out.startswith("refresh 1: done\n")
    assert main(["refresh", str(series)]) == 0
    assert capsys.readouterr().out == "nothing changed: no request is new\n"
    directory = SeriesDirectory(url=f"{place.url}/series")
    ((_, run),) = directory.runs("chaos", directory.refreshes())
    assert verify_run(run) == []
    assert set(scan_judgments(run).collect()["key"]) == set(one.texts)
    assert set(directory.files.names()) >= {"history.parquet", "summary.json", "trend.html"}
    everything = place.all_bytes()
    assert len(everything) > 50_000
    assert b"planted-secret-value" not in everything


SEEDS = range(2, 2 + max(2, int(os.environ.get("JUDGEREL_CHAOS", "0")) // 20))
"""Two in the test suite, ten where `make chaos` draws 200 runs."""
FAULTS = {"slow": 0.05, "full": 0.01, "cut": 0.03, "lost": 0.05, "stale": 0.3}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bucket_that_fails_loses_and_doubles_nothing(place, sweep, undisturbed, seed, capsys):
    made = sweep(n_items=10, speed=20_000)
    runs = [replace(made, out=f"{place.url}/failing-{seed}-0")]
    place.proxy.seed = seed
    place.proxy.did.clear()
    try:
        for n_tries in range(60):
            # Which requests fail is drawn as they come: what did not happen yet, happens soon.
            # Refusals cease when they have happened often, and an outage with the run that it
            # ended: else no run may come as far as its first upload.
            place.proxy.shares = {
                name: max(share, 0.1)
                if name not in place.proxy.did
                else share * (name not in ("slow", "full") or n_tries < 20)
                for name, share in FAULTS.items()
            }
            place.proxy.end_outages()
            code = main(["run", str(made.file), "--out", runs[-1].out])
            told = capsys.readouterr().err
            assert "gone or cut" not in told  # a listing that is behind loses nothing
            assert code == 0 or told.splitlines()[-1].startswith("judgerel: ")
            if code == 0 and set(place.proxy.did) == set(FAULTS):
                break
            if code == 0:  # a run may end before all did
                runs.append(replace(made, out=f"{place.url}/failing-{seed}-{len(runs)}"))
    finally:
        place.proxy.mend()
    assert set(place.proxy.did) == set(FAULTS), (code, told, len(runs))
    for one in runs:
        assert main(["run", str(one.file), "--out", one.out]) == 0
        one.check_whole()
        undisturbed(one)
