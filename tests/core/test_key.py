"""A digest of a list is the same whether the list is held or not."""

from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import digest, key, listing_digest

contents = st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.integers()))


@given(contents, st.integers(1, 4))
def test_the_digest_of_a_listing_is_that_of_its_whole_text(values, at_once):
    before, key._HASHED_AT_ONCE = key._HASHED_AT_ONCE, at_once
    try:
        assert listing_digest('it"ems', iter(values)) == digest({'it"ems': values})
    finally:
        key._HASHED_AT_ONCE = before
