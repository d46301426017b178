"""A sandbox for pytest: a fixture that starts `notifier sandbox` once and begins each test afresh."""

import json
import subprocess
import urllib.request

import pytest


class Sandbox:
    """The address of the sandbox, and requests below /sandbox."""

    def __init__(self, url):
        self.url = url

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/sandbox{path}", data=data, method=method)
        with urllib.request.urlopen(request) as response:
            text = response.read()
        return json.loads(text) if text else None


@pytest.fixture(scope="session")
def sandbox_process():
    program = subprocess.Popen(["notifier", "sandbox", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE)
    try:
        yield Sandbox(json.loads(program.stdout.readline())["url"])
    finally:
        program.terminate()
        program.wait()


@pytest.fixture
def sandbox(sandbox_process):
    sandbox_process.ask("DELETE", "")
    return sandbox_process
