"""What the cache of verified tokens keeps, and for how long."""

import pytest

from api.token_cache import TTL_SECONDS, TokenCache, VerifiedKey
from models.actor import Actor, EvidenceLevel, Role


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def make_verified(key_id: str) -> VerifiedKey:
    return VerifiedKey(Actor(key_id, "team-a", frozenset({Role.READER}), EvidenceLevel.SELF_REPORTED), None)


def test_time_to_live_is_at_most_a_second() -> None:
    assert TTL_SECONDS <= 1.0


def test_entry_ends_a_second_after_its_read_began(clock: Clock) -> None:
    cache = TokenCache(clock)
    begun = cache.begin()
    clock.seconds += 0.75
    cache.put(b"token", make_verified("a"), begun)
    assert cache.get(b"token") == make_verified("a")
    clock.seconds += 0.25
    assert cache.get(b"token") is None
    assert len(cache) == 0


def test_use_does_not_lengthen_a_life(clock: Clock) -> None:
    cache = TokenCache(clock)
    cache.put(b"token", make_verified("a"), cache.begin())
    for _ in range(3):
        clock.seconds += 0.25
        assert cache.get(b"token") is not None
    clock.seconds += 0.25
    assert cache.get(b"token") is None


def test_the_least_recently_used_entry_goes_first(clock: Clock) -> None:
    cache = TokenCache(clock, capacity=3)
    for name in ("a", "b", "c"):
        cache.put(name.encode(), make_verified(name), cache.begin())
    cache.get(b"a")
    cache.put(b"d", make_verified("d"), cache.begin())
    assert len(cache) == 3
    assert [name for name in ("a", "b", "c", "d") if cache.get(name.encode())] == ["a", "c", "d"]


def test_forget_drops_every_token_of_the_key_and_no_other(clock: Clock) -> None:
    cache = TokenCache(clock)
    for token, key_id in ((b"1", "a"), (b"2", "b"), (b"3", "a")):
        cache.put(token, make_verified(key_id), cache.begin())
    cache.forget("a")
    assert [cache.get(token) is None for token in (b"1", b"2", b"3")] == [True, False, True]


def test_row_read_before_its_revocation_is_not_kept_after_it(clock: Clock) -> None:
    """A read begins, the key is revoked and forgotten, the read ends with the row as it was."""
    cache = TokenCache(clock)
    begun = cache.begin()
    cache.forget("a")
    cache.put(b"token", make_verified("a"), begun)
    assert cache.get(b"token") is None
