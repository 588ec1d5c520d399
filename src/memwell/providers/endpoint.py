"""An OpenAI-compatible endpoint: how it is reached, and what its troubles are called here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from memwell.domain.evidence import Target
from memwell.errors import ConfigurationError, MemwellError

if TYPE_CHECKING:
    import openai

_BUSY = frozenset({429, 503, 529})
_KEPT = "the evidence is kept"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and how.

    Attributes:
        url: base URL, such as ``http://127.0.0.1:11434/v1``; ``None``: the client's default.
        key: secret; never shown.
        timeout: seconds to wait for an answer.
        retries: how often a busy or failing endpoint is asked again within one call.
    """

    model: str
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    retries: int = 2

    @property
    def target(self) -> Target:
        """Whether what is sent there leaves this machine."""
        host = urlsplit(self.url or "").hostname or ""
        try:
            return Target.LOCAL if ipaddress.ip_address(host).is_loopback else Target.CLOUD
        except ValueError:
            return Target.LOCAL if host == "localhost" else Target.CLOUD

    def client(self) -> openai.OpenAI:
        """A client with pooled connections.

        Raises:
            ConfigurationError: the ``openai`` package is missing.
        """
        try:
            from openai import OpenAI
        except ImportError:
            raise missing_extra("openai") from None
        # Servers on this machine want no key, the client always does.
        key = self.key or ("none" if self.url else None)
        if key is None:
            raise ConfigurationError(
                f"no key is set for the model {self.model}", remedy="set api_key or api_key_env beside its model"
            )
        return OpenAI(base_url=self.url, api_key=key, timeout=self.timeout, max_retries=self.retries)


def missing_extra(extra: str) -> ConfigurationError:
    """The error for a provider whose package is not installed."""
    return ConfigurationError(
        f"the {extra} client is not installed",
        remedy=f"install it with: pip install 'memwell[{extra}]'",
        code="missing_extra",
    )


@contextmanager
def openai_troubles(kind: type[MemwellError], model: str) -> Iterator[None]:
    """Turn errors of the OpenAI client into ``kind`` with a stable code."""
    import openai

    try:
        yield
    except openai.APITimeoutError:
        raise trouble(kind, model, "endpoint_timeout") from None
    except openai.APIConnectionError:
        raise trouble(kind, model, "endpoint_unreachable") from None
    except openai.APIStatusError as error:
        raise status_trouble(kind, model, error.status_code) from None
    except (openai.OpenAIError, ValueError):
        raise trouble(kind, model, "endpoint_failed") from None


def status_trouble(kind: type[MemwellError], model: str, status: int) -> MemwellError:
    """The error for an HTTP status from 400 on."""
    if status in _BUSY:
        return trouble(kind, model, "endpoint_busy", status)
    if status >= 500:
        return trouble(kind, model, "endpoint_failed", status)
    return trouble(kind, model, "endpoint_refused", status)


_SAYS = {
    "endpoint_timeout": ("did not answer in time", "raise its timeout, or repeat the call"),
    "endpoint_unreachable": ("cannot be reached", "check its base_url and that it runs, then repeat the call"),
    "endpoint_busy": ("is busy", "repeat the call later"),
    "endpoint_failed": ("failed", "repeat the call later; if it stays so, look at the endpoint's own log"),
    "endpoint_refused": ("refused the request", "check its model, base_url and api_key with `memwell doctor`"),
}


def trouble(kind: type[MemwellError], model: str, code: str, status: int | None = None) -> MemwellError:
    """An error about the endpoint of ``model``. What it said is left out, since it may repeat what it was asked."""
    says, remedy = _SAYS[code]
    suffix = "" if status is None else f" (HTTP {status})"
    return kind(f"the endpoint of {model} {says}{suffix}", remedy=f"{_KEPT}; {remedy}", code=code)
