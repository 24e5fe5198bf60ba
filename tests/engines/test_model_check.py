"""What is no model is refused where a sweep is planned, with what it lacks."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import judgerel_ray
from judgerel_ray.core import SweepError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.model_files import check_model

DEMO = Path(judgerel_ray.__file__).parent / "demo" / "judge"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(DEMO, tmp_path / "judge")


def check(path, **options):
    spec = EngineSpec(name="j", engine="vllm", model=str(path), engine_options=options)
    check_model(spec, Path(path))


def refused(path, said, **options):
    with pytest.raises(SweepError, match=said) as caught:
        check(path, **options)
    assert "\n" not in str(caught.value)
    assert "judge=j" in str(caught.value)


def test_the_demos_model_is_one(folder):
    check(folder)


def test_a_file_is_no_model_unless_it_holds_all_of_one(tmp_path):
    (tmp_path / "hostname").write_text("machine\n")
    refused(tmp_path / "hostname", "must be a folder or a .gguf file, got the file hostname")
    (tmp_path / "judge.gguf").write_bytes(b"GGUF\x03\0\0\0")
    check(tmp_path / "judge.gguf")


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        (["config.json"], "it has no config.json"),
        (["tokenizer.json", "tokenizer_config.json"], "it has no tokenizer"),
        (["model.safetensors"], "it has no weights"),
        (["config.json", "model.safetensors"], "no config.json and no weights"),
    ],
)
def test_what_is_missing_is_named(folder, taken, said):
    for name in taken:
        (folder / name).unlink()
    refused(folder, said)


@pytest.mark.parametrize("config", ["{}", '{"architectures": []}', '{"hidden_size": 8}'])
def test_a_configuration_says_what_the_model_is(folder, config):
    (folder / "config.json").write_text(config)
    refused(folder, "no architectures or model_type in its config.json")


def test_what_options_name_elsewhere_may_be_missing(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    check(folder, tokenizer="acme/judge")
    (folder / "model.safetensors").unlink()
    check(folder, tokenizer="acme/judge", load_format="dummy")
    (folder / "config.json").rename(folder / "params.json")  # Mistral's own layout
    check(folder, tokenizer="acme/judge", load_format="dummy")


WHOLE = (DEMO / "model.safetensors").read_bytes()


@given(st.integers(0, len(WHOLE) - 1))
def test_weights_cut_off_anywhere_are_refused(tmp_path_factory, kept):
    folder = tmp_path_factory.mktemp("cut")
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(DEMO / name, folder / name)
    (folder / "model.safetensors").write_bytes(WHOLE[:kept])
    refused(folder, r"file of weights is cut off.*file=.*model\.safetensors")


def test_how_much_of_the_weights_is_there_is_told(folder):
    file = folder / "model.safetensors"
    file.write_bytes(WHOLE[:-1000])
    refused(folder, f"is cut off: {len(WHOLE) - 1000:,} of {len(WHOLE):,} bytes")
    file.write_bytes(WHOLE + b"x")
    refused(folder, f"is too long: {len(WHOLE) + 1:,} of {len(WHOLE):,} bytes")
    file.write_bytes((4).to_bytes(8, "little") + b"[12]")
    refused(folder, "is no safetensors")
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    refused(folder, "is a Git LFS pointer")


def test_every_file_of_an_index_must_be_there(folder):
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(folder, r"lacks 1 of the 2 files of its weights: model-2\.safetensors")
    shutil.copy(folder / "model-1.safetensors", folder / "model-2.safetensors")
    (folder / "consolidated.safetensors").write_bytes(b"of another library")
    (folder / "pytorch_model.bin").write_bytes(b"version https://git-lfs")
    check(folder)  # what an engine does not load may be as it likes


def test_weights_in_an_archive_have_a_directory_at_their_end(folder):
    (folder / "model.safetensors").unlink()
    (folder / "training_args.bin").write_bytes(b"x")
    refused(folder, "it has no weights")
    file = folder / "pytorch_model.bin"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data.pkl", b"0" * 9_000)
    check(folder)
    file.write_bytes(file.read_bytes()[:5_000])
    refused(folder, "is cut off")
