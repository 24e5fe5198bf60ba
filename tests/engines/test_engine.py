import pickle
import subprocess
import sys

import pytest

from judgerel_ray.core import SweepError, TokenCounts
from judgerel_ray.engines import ENGINES, EngineSpec, make_engine


def test_every_engine_is_made_without_loading_a_model():
    for name in ENGINES:
        model = "uniform" if name == "simulated" else "some/model"
        engine = make_engine(EngineSpec(name="j", engine=name, model=model))
        assert engine.counters() == TokenCounts()


@pytest.mark.slow
def test_making_a_vllm_engine_imports_neither_vllm_nor_torch():
    code = (
        "import sys; from judgerel_ray.engines import EngineSpec, judge_fingerprint, make_engine;"
        "spec = EngineSpec(name='j', engine='vllm', model='some/model', gpus=1);"
        "make_engine(spec); judge_fingerprint(spec);"
        "print(sorted({'vllm', 'torch', 'transformers', 'ray'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_engine_is_refused_with_the_known_ones():
    with pytest.raises(SweepError, match="one of openai, simulated, vllm, got 'vlm'"):
        make_engine(EngineSpec(name="j", engine="vlm", model="m"))


def test_a_spec_travels():
    spec = EngineSpec(name="j", engine="vllm", model="m", engine_options={"a": [1, {"b": None}]})
    assert pickle.loads(pickle.dumps(spec)) == spec
