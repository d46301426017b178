"""A bot and its test against the sandbox. Needs Python 3.8 and nothing else.

    python3 example.py

starts `notifier sandbox` for itself; with SANDBOX_URL it uses one that runs.
"""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request


def ask(url, body=None, method=None):
    """Make a request with a JSON body; return the status and the decoded answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=70) as response:
            return response.status, json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or "null")


# The bot. It knows nothing of the sandbox, only the address of the Bot API.


class Bot:
    def __init__(self, api_url, token):
        self.base = f"{api_url}/bot{token}/"
        self.offset = 0

    def call(self, method, **parameters):
        """Call the Bot API, waiting as long as it says when it is too fast."""
        while True:
            status, answer = ask(self.base + method, parameters)
            if status != 429:
                return answer
            time.sleep(answer["parameters"]["retry_after"])

    def greet(self):
        """Answer everybody who has pressed Start since the last time."""
        for update in self.call("getUpdates", offset=self.offset, timeout=10)["result"]:
            self.offset = update["update_id"] + 1
            message = update.get("message", {})
            command, _, payload = message.get("text", "").partition(" ")
            if command == "/start":
                self.call("sendMessage", chat_id=message["chat"]["id"], parse_mode="HTML",
                          text=f"Welcome! Your order is <b>{payload}</b>.")


# The test.


def start_sandbox():
    """Start a sandbox on a free port; return its process and its address."""
    process = subprocess.Popen(["notifier", "sandbox", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    return process, json.loads(process.stdout.readline())["url"]


def test_greeting(url):
    sandbox = f"{url}/sandbox"
    ask(sandbox, method="DELETE")  # start afresh
    ask(f"{sandbox}/faults", {"method": "sendMessage", "times": 1, "respond": {"retryAfter": 1}})
    ask(f"{sandbox}/chats/7900000001/start", {"payload": "A-1001"})

    Bot(url, "123456:any-token").greet()

    _, messages = ask(f"{sandbox}/messages?chatId=7900000001&wait=5s")
    assert [m["visibleText"] for m in messages] == ["Welcome! Your order is A-1001."], messages
    _, stats = ask(f"{sandbox}/stats")
    assert stats["tooManyRequests"] == 1 and stats["violations"] == 0, stats
    print("greeted once, after the wait that was asked for")


if __name__ == "__main__":
    process, address = None, os.environ.get("SANDBOX_URL")
    if not address:
        process, address = start_sandbox()
    try:
        test_greeting(address)
    finally:
        if process:
            process.terminate()
            process.wait()
