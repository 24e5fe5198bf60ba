import http.server
import json
import shutil
import threading

import pytest

from judgerel_ray.core import EngineStartError, SweepError
from judgerel_ray.engines import EngineSpec, model_files
from judgerel_ray.engines.model_files import is_local, known_content, model_content


def spec_of(model, revision=None):
    return EngineSpec(name="j", engine="vllm", model=str(model), revision=revision)


CONFIG = '{"model_type": "llama"}'


def safetensors(data):
    """A file of one tensor."""
    offsets = {"data_offsets": [0, len(data)], "dtype": "U8", "shape": [len(data)]}
    header = json.dumps({"w": offsets, "__metadata__": {"format": "pt"}}).encode()
    return len(header).to_bytes(8, "little") + header + data


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "judge"
    made.mkdir()
    (made / "config.json").write_text(CONFIG)
    (made / "tokenizer.json").write_text('{"a": 1}')
    (made / "model.safetensors").write_bytes(safetensors(bytes(range(256)) * 8))
    return made


def test_a_folder_is_its_content_wherever_it_lies(folder, tmp_path):
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    content = model_content(spec_of(folder))
    assert content == model_content(spec_of(moved))
    assert (content.kind, content.weights, content.resolved) == ("folder", "full", True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", CONFIG.encode() + b" "),
        ("model.safetensors", safetensors(b"other")),
        ("chat_template.jinja", b"new"),
        ("modeling_judge.py", b"pass"),
    ],
)
def test_any_file_the_engine_may_read_changes_it(folder, name, content):
    before = model_content(spec_of(folder)).identity
    (folder / name).write_bytes(content)
    assert model_content(spec_of(folder)).identity != before


def test_a_renamed_file_changes_it(folder):
    before = model_content(spec_of(folder)).identity
    (folder / "tokenizer.json").rename(folder / "tokenizer.model")
    assert model_content(spec_of(folder)).identity != before


def test_read_me_files_and_hidden_ones_do_not(folder):
    before = model_content(spec_of(folder)).identity
    (folder / "README.md").write_text("hello")
    (folder / ".lock.json").write_text("{}")
    (folder / "checkpoints").mkdir()
    assert model_content(spec_of(folder)).identity == before


def test_large_weights_are_sampled_and_that_is_said(folder, monkeypatch):
    monkeypatch.setattr(model_files, "_FULLY_HASHED_BYTES", 100)
    monkeypatch.setattr(model_files, "_BLOCK_BYTES", 16)
    before = model_content(spec_of(folder))
    assert before.weights == "sampled"
    raw = bytearray((folder / "model.safetensors").read_bytes())
    # First and last bytes are always among the blocks; a tensor's name is what may differ there.
    for place in (raw.index(b'"w"') + 1, len(raw) - 1):
        changed = raw.copy()
        changed[place] ^= 1
        (folder / "model.safetensors").write_bytes(changed)
        assert model_content(spec_of(folder)).identity != before.identity
    (folder / "model.safetensors").write_bytes(safetensors(bytes(range(256)) * 8 + b"x"))
    assert model_content(spec_of(folder)).identity != before.identity


def test_a_missing_or_empty_folder_is_the_callers_mistake(tmp_path):
    for name in (tmp_path / "none", "./none", "~/no-such-folder-of-a-judge"):
        with pytest.raises(SweepError, match="which does not exist"):
            model_content(spec_of(name))
    with pytest.raises(SweepError, match=r"no config\.json and no tokenizer .* and no weights"):
        model_content(spec_of(tmp_path))


def test_a_name_is_local_by_its_beginning_or_by_being_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not is_local("models/judge")
    (tmp_path / "models" / "judge").mkdir(parents=True)
    assert is_local("models/judge")
    assert all(is_local(name) for name in ("/a", "./a", "../a", "~/a"))


def test_a_commit_is_resolved_and_a_branch_only_by_the_cache(tmp_path, monkeypatch):
    import huggingface_hub

    commit = "0123456789abcdef0123456789abcdef01234567"
    assert model_content(spec_of("acme/judge", commit)).resolved
    asked = []

    def cached(model, file, revision):
        asked.append((model, file, revision))
        return str(tmp_path / "snapshots" / commit / file) if model == "acme/judge" else None

    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", cached)
    found = model_content(spec_of("acme/judge"))
    assert (found.kind, found.name, found.identity, found.resolved) == (
        "hub",
        "acme/judge",
        commit,
        True,
    )
    unknown = model_content(spec_of("acme/other", "v2"))
    assert (unknown.identity, unknown.resolved) == ("v2", False)
    assert asked == [("acme/judge", "config.json", "main"), ("acme/other", "config.json", "v2")]


def test_a_name_no_hub_can_have_is_the_callers_mistake():
    with pytest.raises(SweepError, match="must be a path or a hub id"):
        model_content(spec_of("a/b/c"))


def test_a_hub_id_stays_the_commit_it_was_when_the_run_began():
    from dataclasses import asdict

    spec = EngineSpec(name="j", engine="vllm", model="acme/judge")
    first = model_content(spec)
    assert (first.resolved, first.identity, first.revision) == (False, "main", "main")
    pinned = {**asdict(first), "resolved": True, "identity": "c" * 40}
    assert model_content(spec, known=pinned).identity == "c" * 40
    other = EngineSpec(name="j", engine="vllm", model="acme/judge", revision="dev")
    assert model_content(other, known=pinned).identity == "dev"
    elsewhere = EngineSpec(name="j", engine="vllm", model="acme/other")
    assert model_content(elsewhere, known=pinned).identity == "main"


@pytest.fixture
def hub(monkeypatch):
    """The hub's real client, set to another address and allowed to use the network."""
    from huggingface_hub import constants

    def at(address):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", address)

    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "VLLM_USE_MODELSCOPE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return at


@pytest.fixture
def answering():
    """A hub on loopback that answers every question with a status and headers."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(self.server.status)
            for name, value in self.server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.status, server.headers = 200, {}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("address", ["http://nothing.invalid", "http://127.0.0.1:9", "no-address"])
def test_a_hub_that_cannot_be_reached_is_told_with_what_to_try(hub, address):
    hub(address)
    with pytest.raises(EngineStartError) as told:
        model_content(spec_of("acme/judge"))
    assert (told.value.where["hub"], told.value.where["judge"]) == (address, "j")
    assert "acme/judge" in told.value.problem
    assert "HF_HUB_OFFLINE=1" in told.value.hint
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (404, "RepoNotFound", SweepError),
        (401, "RepoNotFound", SweepError),
        (404, "RevisionNotFound", SweepError),
        (500, None, EngineStartError),
        (429, None, EngineStartError),
        (200, None, EngineStartError),  # no JSON: some portal that answers everything
    ],
)
def test_what_a_hub_does_not_give_is_told(hub, answering, status, code, error):
    answering.status, answering.headers = status, {"X-Error-Code": code} if code else {}
    hub(f"http://127.0.0.1:{answering.server_port}")
    with pytest.raises(error, match="acme/judge"):
        model_content(spec_of("acme/judge"))


def test_a_commit_needs_no_hub(hub):
    hub("http://nothing.invalid")
    assert model_content(spec_of("acme/judge", "c" * 40)).resolved


def test_files_that_cannot_be_read_are_the_callers_mistake(folder, monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied", "model.safetensors")

    monkeypatch.setattr(model_files, "file_sha256", refused)
    with pytest.raises(SweepError, match=r"model cannot be read: .*Permission denied"):
        model_content(spec_of(folder))


def test_what_is_known_of_a_hub_model_is_not_asked_again():
    known = {"kind": "hub", "name": "a/b", "revision": "main", "identity": "c0ffee"}
    found = known_content(EngineSpec(name="j", engine="vllm", model="a/b"), known)
    assert found is not None
    assert found.identity == "c0ffee"
    assert known_content(EngineSpec(name="j", engine="vllm", model="a/c"), known) is None
