"""Engines: models that complete prompts, behind one protocol.

Imports config, protocols, stats and core. Only ``vllm/engine.py`` imports vllm and torch, and only
when an engine starts.

Examples
--------
>>> engine = make_engine(EngineSpec(name="coin", engine="simulated", model="uniform"))
>>> engine.counters()
TokenCounts(prompt=0, cached=0, generated=0)
"""

from judgerel_ray.core.rooms import offer
from judgerel_ray.engines.catalog import ENGINES as ENGINES
from judgerel_ray.engines.catalog import make_engine as make_engine
from judgerel_ray.engines.engine import Engine as Engine
from judgerel_ray.engines.engine import EngineFacts as EngineFacts
from judgerel_ray.engines.engine import EngineSpec as EngineSpec
from judgerel_ray.engines.engine import PartlyAnswered as PartlyAnswered
from judgerel_ray.engines.engine import Prepared as Prepared
from judgerel_ray.engines.fingerprint import Fingerprint as Fingerprint
from judgerel_ray.engines.fingerprint import judge_fingerprint as judge_fingerprint
from judgerel_ray.engines.sizing import PromptCounter as PromptCounter
from judgerel_ray.engines.sizing import PromptFit as PromptFit
from judgerel_ray.engines.sizing import model_size as model_size
from judgerel_ray.engines.sizing import prompt_counter as prompt_counter
from judgerel_ray.engines.sizing import prompt_fit as prompt_fit

offer(__name__)
