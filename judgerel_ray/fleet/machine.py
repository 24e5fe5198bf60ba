"""What this machine has for a cluster of its own, before one is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai.engine import check_key
from judgerel_ray.fleet.address import wanted_address

LOOK_S = 60.0


def gpus_here() -> int:
    """GPUs that a cluster started on this machine will count, as Ray detects them.

    Effects: asks the accelerators' drivers.
    """
    from ray._private.accelerators import get_accelerator_manager_for_resource

    manager = get_accelerator_manager_for_resource("GPU")
    if manager is None:
        return 0
    n = int(manager.get_current_node_num_accelerators())
    visible = manager.get_current_process_visible_accelerator_ids()
    return n if visible is None else min(n, len(visible))


def check_gpus(wanted: Mapping[str, int], address: str | None) -> None:
    """Refuse a run whose every judge needs more GPUs than this machine has.

    Beside a judge that can be asked the others are given up by themselves, as any judge whose
    engine cannot start. Another cluster may grow, and one that this process is connected to is what
    it is: there the judges wait.

    Parameters
    ----------
    wanted : mapping of str to int
        GPUs of one engine of every judge that has anything to do.
    address : str, optional
        As for :func:`judgerel_ray.fleet.cluster.connected`.

    Raises
    ------
    SweepError
        Naming the judges, and what to try.

    Examples
    --------
    >>> check_gpus({"on_cpu": 0}, None)
    """
    if not any(wanted.values()) or wanted_address(address) is not None or _is_connected():
        return
    here = gpus_here()
    short = {name: n for name, n in wanted.items() if n > here}
    if len(short) == len(wanted):
        name, most = max(short.items(), key=lambda pair: pair[1])
        others = f" (and {count_of(len(short) - 1, 'more judge')})" if len(short) > 1 else ""
        raise SweepError(
            f"judge needs {count_of(most, 'GPU')}, this machine has {here}{others}",
            where={"judge": name},
            hint="gpus = 0 for the CPU, or --address of a cluster",
        )


def check_keys(specs: Sequence[EngineSpec], address: str | None) -> None:
    """Refuse a run on this machine alone whose judges' keys are not in the environment.

    Actors of another cluster have an environment of their own, and look there when they start.

    Raises
    ------
    SweepError
        Naming the variable.

    Examples
    --------
    >>> check_keys([EngineSpec(name="j", engine="simulated", model="uniform")], None)
    """
    if wanted_address(address) is None:
        for spec in specs:
            if spec.engine == "openai":
                check_key(spec, os.environ)


def check_keys_there(specs: Sequence[EngineSpec]) -> None:
    """Refuse a run whose judges' keys the cluster's nodes lack, before any judge is asked.

    One node is looked at, where actors might run; each looks for itself again when it starts.

    Effects: runs a small task where a judge has a key. Cost: a second or two.

    Raises
    ------
    SweepError
        Naming the variable; its value is looked at on the node only, and never sent.
    """
    keyed = [spec for spec in specs if spec.engine == "openai" and spec.api_key_env]
    if not keyed:
        return
    import ray

    task = ray.remote(num_cpus=0)(unset_variables)
    try:
        unset = ray.get(task.remote([spec.api_key_env for spec in keyed]), timeout=LOOK_S)
    except ray.exceptions.GetTimeoutError:  # no node yet, where a cluster grows
        return
    for spec in keyed:
        check_key(spec, {} if spec.api_key_env in unset else {str(spec.api_key_env): "set"})


def unset_variables(names: Sequence[str]) -> list[str]:
    """Name those environment variables of this process that are not set, or hold nothing.

    Examples
    --------
    >>> unset_variables(["PATH", "NO_SUCH_VARIABLE"])
    ['NO_SUCH_VARIABLE']
    """
    return [name for name in names if not os.environ.get(name, "").strip()]


def _is_connected() -> bool:
    """Whether this process is on a cluster already."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())
