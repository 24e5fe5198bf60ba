"""Identity is content: keys and seeds from the hash of what is asked.

A condition's key hashes judge fingerprint, item, prompt, sampling parameters and stage; a request's
key adds the replication. Seeds are not part of either: they follow from the same content, stop
strings apart, which end a reply and never change how it begins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import islice

# One for all: json.dumps makes another for every call, which costs as much as the encoding.
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_SEED_BITS = 52  # base + replication stays an exact integer in JSON and in every server's int64
_FIRST_SEED = 1
_HASHED_AT_ONCE = 100


def digest(content: Mapping[str, object]) -> str:
    """Hash plain content, independent of the order of its keys.

    Parameters
    ----------
    content : mapping
        Strings, numbers, booleans, None, and lists or mappings of them.

    Returns
    -------
    str
        128 bits as 32 hexadecimal digits.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return blake2b(_ENCODER.encode(content).encode(), digest_size=16).hexdigest()


def listing_digest(name: str, contents: Iterable[object]) -> str:
    """Digest of ``{name: [contents]}``, of which a part is held at a time.

    Examples
    --------
    >>> listing_digest("items", iter(["a", 1])) == digest({"items": ["a", 1]})
    True
    """
    hashed = blake2b(f"{{{_ENCODER.encode(name)}:[".encode(), digest_size=16)
    rest, between = iter(contents), b""
    while part := list(islice(rest, _HASHED_AT_ONCE)):
        hashed.update(between + _ENCODER.encode(part)[1:-1].encode())
        between = b","
    hashed.update(b"]}")
    return hashed.hexdigest()


def request_key(condition_key: str, replication: int) -> str:
    """Key of one replication of a condition.

    Examples
    --------
    >>> request_key("00" * 16, 0) != request_key("00" * 16, 1)
    True
    """
    return blake2b(f"{condition_key}:{replication}".encode(), digest_size=16).hexdigest()


def seed_base(content: str) -> int:
    """Seed of replication 0, from the digest of judge, item, prompt and sampling parameters.

    Replication r has seed ``seed_base + r``, so k replications asked in one request (an engine
    gives its i-th sample ``seed + i``) equal k requests asked one by one.

    Examples
    --------
    >>> 0 < seed_base(digest({"prompt": "x"})) < 2**52
    True
    """
    raw = blake2b(("seed:" + content).encode(), digest_size=8).digest()
    span: int = 2**_SEED_BITS - 2 * _FIRST_SEED
    return _FIRST_SEED + int.from_bytes(raw, "big") % span
