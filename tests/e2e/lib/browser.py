# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen, driven through its debugging pipe: nothing but Python's own library.

    with Browser() as page:
        page.open("/tmp/a.svg")
        page.click(100, 200); page.key("Escape"); page.text("abc")
        page.value("document.title")
        page.drag(100, 200, 300, 200); page.print()
        page.screenshot("/tmp/a.png")
        page.complaints     # errors on the console, exceptions, blocked or failed requests
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe",
         "--allow-file-access-from-files=false"]
PATIENCE_S = 60


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def _high(fd):
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(fd)
    return high


class Browser:
    def __init__(self, width=1200, height=800):
        self.size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.complaints = []
        self.last_id = 0
        self.session = None
        self.pending = b""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="fathom-browser-")
        # To numbers that are not in the way of 3 and 4, where the browser reads and writes.
        to_read, self.to_write = map(_high, os.pipe())
        self.to_read, to_write = map(_high, os.pipe())
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", find(), *FLAGS,
             f"--user-data-dir={self.home}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(to_read, to_write), start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", **self.size)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    # ---- The protocol ----

    def call(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        wanted = self.last_id
        answer = self._until(lambda message: message.get("id") == wanted)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _until(self, matches):
        end = time.monotonic() + PATIENCE_S
        while True:
            message = self._next(end - time.monotonic())
            self._note(message)
            if matches(message):
                return message

    def _next(self, seconds):
        while b"\0" not in self.pending:
            if seconds <= 0 or not select.select([self.to_read], [], [], seconds)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.to_read, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended")
            self.pending += data
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"].get("exception", params)))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.complaints.append(f"asks the network for {url}")

    # ---- What a person does ----

    def open(self, path):
        self.call("Page.navigate", url=pathlib.Path(path).absolute().as_uri())
        self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x, y, to_x, to_y):
        self.move(x, y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for part in (0.5, 1):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to_x - x) * part, y=y + (to_y - y) * part,
                      button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def key(self, key, modifiers=0):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers,
                      **({"text": key} if len(key) == 1 and kind == "keyDown" and not modifiers else {}))

    def text(self, words):
        self.call("Input.insertText", text=words)

    def prefer(self, scheme):
        """"light" or "dark"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def print(self):
        """The bytes of a PDF, on A4."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, paperWidth=8.27,
                                          paperHeight=11.69)["data"])

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
