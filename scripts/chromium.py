"""Drives a headless Chromium over the pipe of its DevTools protocol (chromedevtools.github.io/devtools-protocol)."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Tab:
    """A page in a browser of its own. Each call raises TimeoutError when the browser does not answer."""

    def __init__(self, send, receive):
        self._send, self._receive = send, receive
        self._buffer, self._last, self.events, self._session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _next(self, deadline):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._receive], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._receive, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("Chromium does not answer")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, timeout_s=60, **parameters):
        """The result of a method of the protocol; what else the browser says meanwhile goes to `events`."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout_s
        while True:
            answer = self._next(deadline)
            if answer.get("id") != self._last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, url, timeout_s=60):
        """Loads a page, and waits until it has loaded."""
        self.events = []
        self.call("Page.navigate", url=url)
        self._wait_for_load(timeout_s)

    def follow(self, expression, timeout_s=60):
        """Evaluates what makes the page leave for another, and waits until that has loaded."""
        self.events = []
        # A page that is being left may not answer: it leaves once this has.
        self.evaluate(f"void setTimeout(() => {{ {expression} }})")
        self._wait_for_load(timeout_s)

    def _wait_for_load(self, timeout_s):
        deadline = time.monotonic() + timeout_s
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next(deadline))

    def evaluate(self, expression):
        """The value of a JavaScript expression; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description", "an exception"))
        return done["result"].get("value")

    def show(self, width, height=900, scheme="light", media=""):
        """As a window of this size, on a system with this colour scheme, or as printed."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def requests(self):
        """The addresses that the page has asked for since it was opened."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def errors(self):
        """What scripts of the page have thrown."""
        return [event["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception")
                for event in self.events if event.get("method") == "Runtime.exceptionThrown"]


@contextlib.contextmanager
def open_tab(chromium):
    """A Tab of a browser that ends with the block."""
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The protocol wants descriptors 3 and 4.
        command = (f'exec 3<&{to_browser} 4>&{from_browser}; exec "$0" --headless --no-sandbox --disable-gpu '
                   f'--disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe --user-data-dir="$1" about:blank')
        browser = subprocess.Popen(["bash", "-c", command, chromium, profile], pass_fds=(to_browser, from_browser),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        try:
            yield Tab(from_us, to_us)
        finally:
            os.close(from_us)
            os.close(to_us)
            try:
                browser.wait(10)  # it ends when its pipe does
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
