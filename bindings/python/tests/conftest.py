"""What several tests need."""

import signal

import pytest


@pytest.fixture
def interrupts():
    """Interrupts arrive, also where the tests run in the background, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
