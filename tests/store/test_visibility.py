from __future__ import annotations

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.store import RunDirectory, leave_token, read_token


def test_who_sees_the_directory_reads_the_token(run):
    token = leave_token(run)
    twin = RunDirectory(url=run.url, storage_options=run.storage_options)
    assert read_token(twin) == token
    assert leave_token(run) != token


def test_a_folder_of_the_same_name_elsewhere_has_none(disk_run, tmp_path):
    leave_token(disk_run)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(StoreError, match="cannot be seen"):
        read_token(RunDirectory(url=str(tmp_path / "elsewhere")))
