"""Which requests are refused: from other sites, too large, too many at a time, too slow."""

import asyncio
import socket
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from threading import Semaphore
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Result = TypeVar("Result")

# Nothing is loaded from anywhere else, nothing in the page is a script or a style, and no other page may frame it.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_LOCAL = ("localhost", "127.0.0.1", "::1")
_ANYWHERE = ("0.0.0.0", "::", "")


class Limits(NamedTuple):
    """How much may be asked for.

    request_bytes (int): Of the body of a request.
    requests (int): At a time. More of them are refused at once.
    seconds (float): Per request.
    """

    request_bytes: int = 2_000_000
    requests: int = 8
    seconds: float = 20.0


class LimitError(Exception):
    """A request that is over a limit.

    status (int): The status of the response.
    """

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Workers:
    """Threads that do what requests ask for.

    What takes too long cannot be stopped. It goes on, and counts as a request, until it is done: nothing piles up.
    """

    def __init__(self, limits: Limits):
        self._limits = limits
        self._free = Semaphore(limits.requests)
        self.open()

    def open(self) -> None:
        """Take on work, again if it was closed."""
        self._threads = ThreadPoolExecutor(self._limits.requests, thread_name_prefix="explorer")

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in a thread."""
        limits = self._limits
        if not self._free.acquire(blocking=False):
            raise LimitError(
                503,
                f"The explorer is busy with {limits.requests} requests, the limit. Try again in a moment.",
            )
        future = self._threads.submit(function, *arguments)
        future.add_done_callback(lambda _: self._free.release())
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), limits.seconds)
        except asyncio.TimeoutError:  # another class until Python 3.11
            if future.done():  # the function itself has raised it
                raise
            raise LimitError(
                504, f"This took longer than {limits.seconds:g} seconds, the limit. Take a shorter text."
            ) from None

    def close(self) -> None:
        """Wait for nothing that is still running."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Guard:
    """Refuses requests before anything looks at them, and adds headers to every response.

    hosts (Collection[str]): The names and addresses by which the server may be called; see `allowed_hosts`.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], limits: Limits):
        self._app = app
        self._hosts = hosts
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            self._check_origin(Headers(scope=scope))
            body = await self._body(Headers(scope=scope), receive)
        except LimitError as error:
            response = JSONResponse({"error": str(error)}, error.status)
            await response(scope, receive, send_with_headers)
            return
        await self._app(scope, _replay(body, receive), send_with_headers)

    def _check_origin(self, headers: Headers) -> None:
        """A page of another site must not use the explorer, not even under a name that leads to this machine."""
        host = headers.get("host", "")
        if not is_allowed(host_name(host), self._hosts):
            raise LimitError(
                403,
                f"The explorer was called {host!r:.60}; expected {', '.join(sorted(self._hosts))}. "
                f"Allow other names with --allow-host.",
            )
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            raise LimitError(403, f"The request comes from a page of {origin!r:.60}; only the explorer's own may ask.")

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self._limits.request_bytes:
            raise self._too_large()
        try:
            return await asyncio.wait_for(self._read(receive), self._limits.seconds)
        except asyncio.TimeoutError:  # another class until Python 3.11
            raise LimitError(408, f"The request did not arrive within {self._limits.seconds:g} seconds.") from None

    async def _read(self, receive: Receive) -> bytes:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._limits.request_bytes:
                raise self._too_large()
        return body

    def _too_large(self) -> LimitError:
        most = self._limits.request_bytes
        return LimitError(413, f"The request is too large; expected at most {most:,} bytes. Take a shorter text.")


def allowed_hosts(host: str, others: Iterable[str] = ()) -> frozenset[str]:
    """The names by which a server may be called that listens at an address: its own, those of this machine, and others.

    "*" stands for any address in numbers. They are safe: no other site can make a browser take one for its own.
    """
    names = {*_LOCAL, *map(str.lower, others)}
    if host in _ANYWHERE:
        names |= {socket.gethostname().lower(), "*"}
    return frozenset(names | ({host.lower()} - set(_ANYWHERE)))


def host_name(header: str) -> str:
    """The name in a Host header, without the port and the brackets of IPv6."""
    name = header.lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.count(":") == 1 else name


def is_allowed(name: str, hosts: Collection[str]) -> bool:
    if name in hosts:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return "*" in hosts


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that has been read, and then whatever comes: that the client is gone."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay
