"""``[[judge]]``: a model with all that changes its verdicts, and where it runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from judgerel_ray.config.table import Flag, Name, Number, Table, Text, Whole

EngineName = Literal["vllm", "simulated"]


class Prices(Table):
    """Money for a million tokens, in any one currency."""

    prompt: Number = Field(default=0.0, ge=0)
    completion: Number = Field(default=0.0, ge=0)


class Judge(Table):
    """One ``[[judge]]``: a model with all that changes its verdicts, and where it runs."""

    name: Name
    """Name in every table; also a folder of the run directory."""
    engine: EngineName = "vllm"
    """vllm, or simulated (answers from a stated distribution; not a judge)."""
    model: Text
    """Hub id or folder; for the simulated engine, the name of its distribution."""
    revision: Text | None = None
    """Commit or branch of a hub id."""
    gpus: Whole = Field(default=1, ge=0)
    """GPUs of one engine (tensor parallel size); 0 runs on the CPU. Simulated: default 0."""
    replicas: Whole | Literal["auto"] = "auto"
    """Engines of this judge side by side; auto takes as many as the cluster's GPUs allow."""
    dtype: Text | None = None
    """Precision of the weights; default: the model's own on GPU, float32 on CPU."""
    quantization: Text | None = None
    """Quantisation scheme of vLLM; part of the judge's identity."""
    max_model_len: Whole | None = Field(default=None, ge=16)
    """Longest prompt plus reply, in tokens."""
    batch_invariant: Flag = False
    """true: replies do not depend on what else is in a batch (vLLM on GPUs; slower). Part of the
    judge's identity. false leaves it to the environment's VLLM_BATCH_INVARIANT."""
    chat_template: Flag | Text = True
    """true: the tokenizer's; a path: that file; false: the plain prompt, as in the paper."""
    engine_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Passed on to the engine as they are."""
    prices: Prices | None = None
    """Money for a million tokens; fills the cost column."""
    trust_remote_code: Flag = False
    """Run code shipped with the model."""

    @model_validator(mode="before")
    @classmethod
    def _simulated_needs_no_gpu(cls, given: object) -> object:
        """A simulated judge holds a GPU only where it is told to."""
        if isinstance(given, dict) and given.get("engine") == "simulated":
            return {"gpus": 0, **given}
        return given

    @field_validator("replicas")
    @classmethod
    def _at_least_one(cls, value: int | str) -> int | str:
        """Refuse zero or fewer engines."""
        if isinstance(value, int) and value < 1:
            raise ValueError(f'must be at least 1 or "auto", got {value}')
        return value
