"""What every test stands on: a quiet environment, Hypothesis profiles, local Ray, recordings.

Nothing heavy is imported here; a test that asks for no fixture pays for none.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import re
import secrets
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Read by libraries on import, so they are set before the first of them is. No test may reach a hub,
# a usage collector or a cloud's metadata address, nor a cluster that happens to run on the machine.
os.environ.update(
    {
        "AWS_EC2_METADATA_DISABLED": "true",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Actors have variables of their own, so workers that Ray starts ahead serve none of them.
        "RAY_prestart_worker_first_driver": "0",
        "RAY_worker_niceness": "0",  # or engines wait, 15 lower, until the other tests are through
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
    }
)
os.environ.pop("RAY_ADDRESS", None)
# Ray guards every cluster with a token. One of our own keeps it out of the home folder.
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _not_forced(descriptor: int) -> None:
    """Leave what was written to the system: no test here cuts the power.

    Tests write tens of thousands of small files, and a disk takes milliseconds for each that it is
    forced to hold. Actors and commands, which are other processes, force theirs as ever.
    """


os.fsync = _not_forced

# Shared machines are slow in bursts: a deadline would fail tests for their neighbours' load.
# So would Hypothesis' check that values are drawn fast enough.
_SLOW: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("dev", **_SLOW)
settings.register_profile("ci", derandomize=True, print_blob=True, **_SLOW)
settings.register_profile("quick", max_examples=50, **_SLOW)  # of `make test`
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# A killed Ray node leaves its pipes to the collector; vLLM imports parts of torch that are on their
# way out and leaves an engine process to the interpreter's end. Only in their own tests, and only
# for these kinds, are warnings not ours to fail on.
_FOREIGN_WARNINGS = {
    "ray": ("ignore::ResourceWarning",),
    "vllm": (
        "ignore::ResourceWarning",
        "ignore::DeprecationWarning",
        "ignore::FutureWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
    ),
}


# What tests of several files share is made once where one process has them all: real engines, and
# the cluster of simulated ones. Tests of the fleet, most of which start clusters of their own
# shape, are another process's: they wait for nodes most of the time. The longest first.
_SHARED = ("engines", "fleet", "clusters")
_OF_THE_FLEET = ("tests/fleet/", "tests/chaos/")
_LONG = (
    "tests/cli/test_base_install.py",
    "tests/bench/test_faults.py",
    "tests/reporting/test_refresh.py",
    "tests/laws/test_layouts.py",
    "tests/laws/test_suggestions.py",
    "tests/bench/test_hostile_inputs.py",
    "tests/store/test_outputs.py",
    "tests/store/test_packs.py",
    "tests/laws/test_position.py",
    "tests/laws/test_serving.py",
    "tests/store/test_cross_copies.py",
    "tests/store/test_exactly_once.py",
    "tests/e2e/test_rating_sweep.py",
    "tests/e2e/test_rating_distributions.py",
    "tests/e2e/test_uncertainty_report.py",
    "tests/cli/test_ratings.py",
    "tests/asking/test_nights.py",
    "tests/asking/test_pilot.py",
)
"""Of the others each a file whose tests take a minute and more, the first of them two."""
_OF_ENGINES = re.compile(
    r"""pytest\.mark\.vllm|tiny_model|(?<!["'])transformers|importorskip\("transformers"""
)
"""What makes a file one of engines: their libraries take seconds to import, in one process.

A name in quotes imports nothing: it stands in a list of packages.
"""


@cache
def _group(file: str) -> str:
    """The tests of a file go to one process; those of all that share something, to one as well."""
    engines, fleet, clusters = _SHARED
    text = Path(__file__).parents[1].joinpath(file).read_text(encoding="utf-8")
    if _OF_ENGINES.search(text):
        return engines
    if "pytest.mark.ray" not in text:
        return file
    return fleet if file.startswith(_OF_THE_FLEET) else clusters


def _place(item: pytest.Item) -> int:
    """When an item's group is begun: what takes minutes must not be what is left at the end."""
    begun = (*_SHARED, *_LONG)
    group = _group(item.nodeid.partition("::")[0])
    return begun.index(group) if group in begun else len(begun)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give files to processes; pytest 9.2 hides the marks from xdist 3.8, so files are read."""
    from xdist.scheduler import LoadScopeScheduling

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group(nodeid.partition("::")[0])

    return Files(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[Any]:  # noqa: ARG001
    """Look for garbage neither while tests are collected nor, later, in what was.

    Half a million objects that stay: each look through them takes a third of a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


_CASES = pytest.StashKey[dict[str, int]]()
"""How many quick cases of each test have been seen."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave to `make test-all` all cases of a test but the first of each ``n``: ``alike(n)``.

    They go through the same code, so each says as soon as another that this code is broken.
    """
    mark = item.get_closest_marker("alike")
    if mark is None or item.get_closest_marker("slow"):
        return
    seen = item.config.stash.setdefault(_CASES, {})
    test = item.nodeid.partition("[")[0]
    place = seen[test] = seen.get(test, -1) + 1
    if place % mark.args[0]:
        item.add_marker("slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let tests of Ray and vLLM live with the warnings of Ray and vLLM."""
    if hasattr(config, "workerinput"):  # one process of several
        items.sort(key=_place)
    for item in items:
        for mark, ignored in _FOREIGN_WARNINGS.items():
            if item.get_closest_marker(mark):
                for warning in ignored:
                    # First, so that what a test says of itself has the last word.
                    item.add_marker(pytest.mark.filterwarnings(warning), append=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[Any]:
    """Collect what Ray and vLLM left open before a test that is not theirs: it would fail on it."""
    found = yield
    theirs = [one is not None and any(map(one.get_closest_marker, _FOREIGN_WARNINGS))
              for one in (item, nextitem)]  # fmt: skip
    if theirs == [True, False]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
    return found


def start_ray(**options: Any) -> ModuleType:
    """Start a Ray of this process alone, whatever else runs on the machine."""
    import ray

    defaults = {"num_cpus": 2, "num_gpus": 0, "log_to_driver": False, "include_dashboard": False}
    for tries_left in (3, 2, 1, 0):
        try:
            # Without "local", Ray joins the cluster last started on the machine.
            ray.init(address="local", **{**defaults, **options})
            break
        except Exception as error:
            # Ray gives a node thirty seconds to come up, however busy the machine is.
            if not tries_left or "timed out during startup" not in str(error):
                raise
            ray.shutdown()
    return ray


_SHARED_RAY = pytest.StashKey[bool]()
"""There once a test asked for the shared Ray."""


@pytest.fixture(scope="session")
def ray_local(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The module ``ray``, connected to a local cluster of two CPUs that all tests share."""
    ray = start_ray()
    request.config.stash[_SHARED_RAY] = True
    yield ray
    ray.shutdown()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start the shared Ray again for a test that asks for it, if one before has put it away."""
    asks = "ray_local" in getattr(item, "fixturenames", ())
    if asks and _SHARED_RAY in item.config.stash and not sys.modules["ray"].is_initialized():
        start_ray()


@pytest.fixture(scope="session")
def ray_started() -> Callable[..., ModuleType]:
    """Start a Ray of this process alone, for what puts the shared one away."""
    return start_ray


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without GPUs, to which a test adds nodes; the shared Ray is put away."""
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()
    head = {"num_cpus": 1, "num_gpus": 0, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def ray_apart() -> Iterator[ModuleType]:
    """The module ``ray``, not connected: for a test that starts a cluster of its own shape.

    The shared cluster is put away, and is there again for the next test that asks for it.
    """
    import ray

    ray.shutdown()
    yield ray
    ray.shutdown()


PATIENCE_S = 900.0  # only what hangs takes longer, on a machine however busy with others


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], object], str], None]:
    """Wait for an event: in place of a bound on the time that something takes."""
    import time

    def wait(has_come: Callable[[], object], what: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while not has_come():
            if time.monotonic() > until:
                pytest.fail(f"waited for in vain: {what}")
            time.sleep(0.05)

    return wait


@pytest.fixture(scope="session")
def command() -> Callable[..., subprocess.CompletedProcess[Any]]:
    """The command as another process, with options of ``subprocess.run``."""

    def act(*arguments: str, **options: Any) -> subprocess.CompletedProcess[Any]:
        options = {"capture_output": True, "text": True, "timeout": 600, **options}
        started = [sys.executable, "-m", "judgerel_ray", *arguments]
        return subprocess.run(started, check=False, **options)

    return act


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give the fleets of a test's runs other surroundings in place of some: ``fleet.Outside``."""
    from judgerel_ray.fleet import Fleet, Outside

    def give(**functions: Any) -> None:
        monkeypatch.setattr(Fleet, "outside", Outside(**functions))

    return give


@pytest.fixture
def hold_leases(outside: Callable[..., None]) -> Callable[[Callable[[Any, Any], bool]], None]:
    """Hold a run's leases back for as long as a test says: how fast engines are decides nothing.

    What it is given is asked before leases are sent, with the run's judges and their board, in the
    thread of the run: while it says True nothing more is sent, and what is at work goes on.
    """
    return lambda is_held: outside(may_send=_gate(is_held))


def _gate(is_held: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A gate of leases that is closed while something is awaited, and not for ever."""
    import time

    since: list[float] = []

    def may_send(pools: Any, board: Any) -> bool:
        if not is_held(pools, board):
            since.clear()
            return True
        since.append(time.monotonic())
        if since[-1] - since[0] > PATIENCE_S:
            pytest.fail("what the leases wait for does not come")
        return False

    return may_send


@pytest.fixture(scope="session")
def engines_first() -> Callable[[], Callable[[Any, Any], bool]]:
    """Make gates for one run: until a judge has all engines that it wants nobody gets work."""

    def make() -> Callable[[Any, Any], bool]:
        begun: set[str] = set()

        def is_held(pools: Any, _board: Any) -> bool:
            for pool in pools.values():
                if pool.has_work and pool.slots and pool.name not in begun:
                    if sum(slot.ready for slot in pool.slots.values()) < pool.wanted:
                        return True
                    begun.add(pool.name)
            return False

        return _gate(is_held)

    return make


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs choose as in a process that is on no cluster, whatever other tests have joined."""
    from judgerel_ray.asking.run import running

    monkeypatch.setattr(running, "is_connected", lambda: False)


@pytest.fixture(scope="module")
def all_without_ray() -> Iterator[None]:
    """As ``without_ray`` for a whole file: of what lands, which is the same anywhere."""
    from judgerel_ray.asking.run import running

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "is_connected", lambda: False)
        yield


@pytest.fixture(params=["ray", "process"])
def anywhere(request: pytest.FixtureRequest) -> str:
    """Where small runs go: to Ray and, for the same test again, to their own process."""
    if request.param == "process":
        request.getfixturevalue("without_ray")
    return str(request.param)


@pytest.fixture
def all_engines_first(outside: Callable[..., None], engines_first: Any) -> None:
    """While a judge's first engines come up nobody gets work, until it has all that it wants."""
    outside(may_send=engines_first())


@pytest.fixture(scope="session")
def cuda() -> None:
    """Skip where there is no CUDA device, or a vLLM that cannot use one."""
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        pytest.skip("no CUDA device: nvidia-smi does not answer")
    if listed.returncode or "GPU" not in listed.stdout:
        pytest.skip("no CUDA device: nvidia-smi lists none")
    torch = pytest.importorskip("torch")
    if torch.version.cuda is None:
        pytest.skip("this torch is a CPU build: make setup on a machine with a GPU takes the other")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of recorded judgments, where the machine has one."""
    folder = os.environ.get("JUDGEREL_DATA")
    if not folder:
        pytest.skip("JUDGEREL_DATA names no folder of recordings")
    if not Path(folder).is_dir():
        pytest.fail(f"JUDGEREL_DATA must name a folder, got {folder!r}")
    return Path(folder)


CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n"
    "{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a byte-level tokenizer that adds its own beginning to plain text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    corpus = ["the best response is the one that answers the question"] * 4
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    folder = tmp_path_factory.mktemp("tiny") / "judge"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with that tokenizer and the weights of a random Llama."""
    import shutil

    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=512,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.2,
        tie_word_embeddings=False,
    )
    folder = tmp_path_factory.mktemp("tiny_model") / "judge"
    shutil.copytree(tiny_tokenizer, folder)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def confusion_inputs():
    """Make matrices of judges of stated truth, with their verdicts, right options and items.

    A judge is (name, suggestibility); a benchmark (name, options, n, criteria). The right option of
    an item is drawn from the distribution all judges share, so a margin is worth something.
    """
    import numpy as np
    import polars as pl

    from judgerel_ray.analyses.confusion.confusion import uncertainty_tables
    from judgerel_ray.core import HumanRating, Item, Option
    from judgerel_ray.tables import Confusions, items_to_frame

    def make(judges, benchmarks, *, seed=3, raters=3, **options):
        rng = np.random.default_rng(seed)
        cells, own, right, items = [], [], [], []
        for benchmark, names, n, criteria in benchmarks:
            for i in range(n):
                p = rng.dirichlet(np.full(len(names), 0.6))
                item, criterion = f"{benchmark}-{i}", criteria[i % len(criteria)]
                answer = names[rng.choice(len(names), p=p)]
                said = [names[k] for k in rng.choice(len(names), p=p, size=raters)]
                right.append({"benchmark": benchmark, "item_id": item, "right": answer,
                              "text": item})  # fmt: skip
                ratings = [HumanRating(rater=str(r), criterion=criterion, label=one)
                           for r, one in enumerate(said)]  # fmt: skip
                shown = tuple(Option(option_id=one, text=one) for one in names)
                items.append(
                    Item(item_id=item, benchmark=benchmark, category="c", question="?",
                         options=shown, gold=answer, ratings=tuple(ratings))
                )  # fmt: skip
                for judge, pull in judges:
                    place = {"judge": judge, "benchmark": benchmark, "item_id": item,
                             "template": "t", "temperature": 0.0}  # fmt: skip
                    own.append({**place, "verdict": names[int(p.argmax())]})
                    for a, argued in enumerate(names):
                        moved = p * np.exp(pull * (np.arange(len(names)) == a))
                        cells += [
                            {**place, "criterion": criterion, "mode": "columns",
                             "assessment_option": argued, "verdict_option": option,
                             "probability": share}
                            for option, share in zip(names, moved / moved.sum(), strict=True)
                        ]  # fmt: skip
        schema = Confusions.create_empty().schema
        return uncertainty_tables(
            pl.DataFrame(cells, schema=schema),
            pl.DataFrame(own),
            pl.DataFrame(right),
            items_to_frame(items),
            **options,
        )

    return make


@pytest.fixture(scope="session")
def fault_server() -> Any:
    """The class of servers that fail by plan; ``with fault_server(...) as server``."""
    return _helper("fault_server").FaultServer


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    """A real S3 server of this process on loopback; gives its address."""
    moto_server = pytest.importorskip("moto.server", reason="needs moto[server]")
    import logging
    import threading

    from moto.s3.responses import S3Response

    plain_put, lock = S3Response.put_object, threading.Lock()

    # moto looks whether the key is there and then writes it; S3 does both at once.
    def put_object(self: S3Response) -> object:
        with lock:
            return plain_put(self)

    patch = pytest.MonkeyPatch()
    patch.setattr(S3Response, "put_object", put_object)
    patch.setenv("AWS_ACCESS_KEY_ID", "testing")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "planted-secret-value")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()
    patch.undo()


@pytest.fixture(scope="session")
def fault_bucket() -> Any:
    """The class of proxies before a bucket that fail by plan."""
    return _helper("fault_bucket").FaultBucket


@pytest.fixture
def sweep(tmp_path: Path) -> Any:
    """Write, load and resolve a sweep of simulated judges."""
    return _helper("drivers").sweep(tmp_path)


@pytest.fixture
def driver_of(tmp_path: Path) -> Any:
    """A driver of a resolved sweep, always in the same run directory: `run` without Ray."""
    return _helper("drivers").driver_of(tmp_path)


def _helper(name: str) -> ModuleType:
    """A module beside this one, opened by the tests that need it."""
    known = f"judgerel_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, Path(__file__).parent / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    return sys.modules[known]
