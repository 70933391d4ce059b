"""For all tests: how long an example takes is the machine's business, so hypothesis sets no deadline for it."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
