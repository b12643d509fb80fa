"""Somebody who reviews a class with `grader review`, through its pages alone, as a browser would send what they type."""

import html.parser
import http.cookiejar
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

BOUNDARY = "--------a-boundary-that-nobody-types"


class Page(html.parser.HTMLParser):
    """A page's forms and links, and its text."""

    def __init__(self, status, text):
        super().__init__()
        self.status = status
        self.text = text
        self.forms = []   # (action, {field: value})
        self.links = []
        self._area = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "form":
            self.forms.append((given.get("action", ""), {}))
        elif tag == "input" and self.forms and given.get("name") and given.get("type") not in ("checkbox", "radio"):
            self.forms[-1][1][given["name"]] = given.get("value", "")
        elif tag == "input" and self.forms and given.get("type") == "checkbox":
            self.forms[-1][1].setdefault("choices", []).append((given["name"], given["value"]))
        elif tag == "textarea" and self.forms:
            self._area = given["name"]
            self.forms[-1][1][self._area] = ""

    def handle_data(self, data):
        if self._area:
            self.forms[-1][1][self._area] += data

    def handle_endtag(self, tag):
        if tag == "textarea":
            self._area = None

    def form(self, action, **fields):
        """The first form that is sent there and has these values; None where there is none."""
        fits = (form for sent_to, form in self.forms if sent_to == action and fields.items() <= form.items())
        return next(fits, None)


class Reviewer:
    """Starts `grader review` and reads and writes through its port. Any call may raise OSError once it is killed."""

    def __init__(self, grader, out, name):
        self.process = subprocess.Popen([str(grader), "review", str(out), "--as", name], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if "token=" in line:
                break
        else:
            raise SystemExit(f"the review of {name} does not begin: {''.join(said)}")
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        with self._opener.open(said[-1].strip(), timeout=60) as answer:
            self.base = answer.geturl()

    def page(self, address):
        return self._send(urllib.request.Request(urllib.parse.urljoin(self.base, address)))

    def submit(self, action, fields):
        """Sends a form as a browser does: the page that comes of it, after the redirection of what was kept."""
        parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
                 for name, value in fields if isinstance(value, str)]
        address = urllib.parse.urljoin(self.base, action)
        split = urllib.parse.urlsplit(address)
        return self._send(urllib.request.Request(address, data=("".join(parts) + f"--{BOUNDARY}--\r\n").encode(), headers={
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Origin": f"{split.scheme}://{split.netloc}",
            "Sec-Fetch-Site": "same-origin"}))

    def _send(self, request):
        try:
            with self._opener.open(request, timeout=120) as answer:
                return Page(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Page(error.code, error.read().decode())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        """Ends as Ctrl-C does; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)
