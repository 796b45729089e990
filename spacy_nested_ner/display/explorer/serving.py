"""The explorer at an address: a socket, the server, and a browser."""

import errno
import socket
import webbrowser
from contextlib import suppress
from threading import Thread
from typing import Any

import uvicorn
from fastapi import FastAPI

# Seconds that requests may still take when the server stops.
GRACE = 2


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 is any free one. A ValueError if there is none to have."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise ValueError(
            f"host is {host!r}, which is no address of this machine; expected 127.0.0.1 for this machine only, or "
            f"0.0.0.0 for all its networks"
        ) from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(128)  # at once: only one program may have the port
    except OSError as error:
        listener.close()
        raise _unusable(error, host, port) from None
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """What to open in a browser on this machine."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


class Server(uvicorn.Server):
    """Answers requests until Ctrl-C, or until its `should_exit` is set.

    app (FastAPI): What answers.
    browse (str | None): An address to open in the browser as soon as the server is ready.
    """

    def __init__(self, app: FastAPI, browse: str | None = None):
        super().__init__(
            uvicorn.Config(
                app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=GRACE
            )
        )
        self._browse = browse

    async def startup(self, *arguments: Any, **options: Any) -> None:
        await super().startup(*arguments, **options)
        if self._browse and self.started:
            # Some browsers do not return until they are closed.
            Thread(target=webbrowser.open, args=[self._browse], daemon=True).start()


def serve(app: FastAPI, listener: socket.socket, *, browse: str | None = None) -> None:
    """Answer requests at a socket until Ctrl-C."""
    with listener, suppress(KeyboardInterrupt):  # uvicorn stops, and raises it again
        Server(app, browse).run(sockets=[listener])


def _unusable(error: OSError, host: str, port: int) -> ValueError:
    if error.errno == errno.EADDRINUSE:
        return ValueError(f"port {port} at {host} is in use; choose another one with --port, or any free one: --port 0")
    if error.errno == errno.EACCES:
        return ValueError(f"port {port} is reserved for the system; choose one above 1023 with --port")
    return ValueError(f"cannot listen at {host}, port {port}: {error.strerror}; see --host and --port")
