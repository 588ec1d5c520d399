"""The conformance kit: what every store must do, as a pytest class to subclass.

    class TestMyStore(StoreConformance):
        def open_store(self, folder, clock, lock_timeout):
            return MyStore(folder / "my.store", clock=clock, lock_timeout=lock_timeout)

Each case gets an empty store, works through the public port alone, and ends with ``store.check() == []``.
"""

from memwell.testing.conformance.governing import GoverningCases
from memwell.testing.conformance.plans import PlanCases
from memwell.testing.conformance.reading import ReadingCases
from memwell.testing.conformance.searching import SearchingCases
from memwell.testing.conformance.sharing import SharingCases
from memwell.testing.conformance.words import WordCases


class StoreConformance(GoverningCases, PlanCases, ReadingCases, SearchingCases, SharingCases, WordCases):
    """All cases. Subclass it with a name that starts with ``Test`` and give it ``open_store``."""


__all__ = ["StoreConformance"]
