"""Which commits the hub models of a series are: one for a refresh, also without the hub.

A branch may move while a refresh runs, and at night a hub may be out of reach. So a refresh goes on
with the commits that its own runs state; else the hub is asked, once in a trigger for each model;
and where it does not answer, a model stays what the series stated last. Else a night without a
network would be a night with other judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.plan.specs import engine_spec
from judgerel_ray.asking.run.opening import known_judges
from judgerel_ray.config import Sweep
from judgerel_ray.config.series import starting_at
from judgerel_ray.core import EngineStartError
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.model_files import ModelContent, is_local, known_content, model_content
from judgerel_ray.store.series import Refresh, SeriesDirectory


class SeriesSweep(NamedTuple):
    """A sweep with the models that its judges are in a series.

    With an ``error`` nothing states the commit of one of them: what is asked can be counted, but
    not asked.
    """

    resolved: Resolved
    error: EngineStartError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModels:
    """The hub models of a series during one trigger.

    ``warn`` is called with a line, once for each model for which the hub does not answer.
    """

    directory: SeriesDirectory
    warn: Callable[[str], None]
    answers: dict[tuple[str, str | None], ModelContent | EngineStartError] = field(
        default_factory=dict
    )

    def resolve(
        self,
        sweep: Sweep,
        refreshes: Sequence[Refresh],
        *,
        here: Refresh | None = None,
        first: int = 0,
    ) -> SeriesSweep:
        """Resolve a sweep after some refreshes, or as the refresh `here` asks it.

        Effects: reads items, models' files and what runs state; asks the hub. Retry: safe.

        Raises
        ------
        SweepError
            If the sweep is wrong, or the hub has no such model.
        StoreError
            If a run of an earlier refresh cannot be read.
        """
        asked = starting_at(sweep, first)
        known: dict[str, dict[str, object]] = {}
        error: EngineStartError | None = None
        for judge in asked.judge:
            spec = engine_spec(asked, judge)
            if spec.engine != "vllm" or is_local(spec.model):
                continue
            content = self._content(spec, refreshes, here)
            if isinstance(content, EngineStartError):
                error = error or content
                content = ModelContent(
                    kind="hub", name=spec.model, identity=spec.revision or "main", resolved=False,
                    weights=None, revision=spec.revision or "main",
                )  # fmt: skip
            known[judge.name] = {"model": asdict(content)}
        return SeriesSweep(resolve(asked, known=known), error)

    def _content(
        self, spec: EngineSpec, refreshes: Sequence[Refresh], here: Refresh | None
    ) -> ModelContent | EngineStartError:
        """What a model is by the refresh itself, by the hub, or by the refreshes before it."""
        own = self._stated(spec, [] if here is None else [here])
        if own is not None and own.resolved:
            return own
        key = (spec.model, spec.revision)
        if key not in self.answers:
            self.answers[key] = _asked(spec)
        answer = self.answers[key]
        if isinstance(answer, ModelContent) and answer.resolved:
            return answer
        stated = self._stated(spec, refreshes)
        last = stated if stated is not None and stated.resolved else own or stated
        if last is None:
            return answer
        if isinstance(answer, EngineStartError):
            self.warn(
                f"warning: {answer.sentence}; it stays what the series asked last, {last.identity}"
            )
            self.answers[key] = last
        return last

    def _stated(self, spec: EngineSpec, refreshes: Iterable[Refresh]) -> ModelContent | None:
        """What runs state that a model is: the newest that name a commit, else the newest."""
        found: ModelContent | None = None
        for refresh in sorted(refreshes, key=lambda one: -one.number):
            for sweep in refresh.sweeps:
                url = self.directory.run_url(refresh, sweep.name)
                for parts in known_judges(url, None).values():
                    content = known_content(spec, parts.get("model"))
                    if content is not None and content.resolved:
                        return content
                    found = found or content
        return found


def _asked(spec: EngineSpec) -> ModelContent | EngineStartError:
    """What the cache or the hub says of a model."""
    try:
        return model_content(spec)
    except EngineStartError as error:
        return error
