"""What a test with the fixture looks like."""

import json
import urllib.request


def send(url, **parameters):
    request = urllib.request.Request(f"{url}/bot123456:any/sendMessage", data=json.dumps(parameters).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def test_greeting(sandbox):
    send(sandbox.url, chat_id=7, text="<b>Hello</b>", parse_mode="HTML")
    messages = sandbox.ask("GET", "/messages?chatId=7&wait=5s")
    assert [m["visibleText"] for m in messages] == ["Hello"]
    assert sandbox.ask("GET", "/stats")["violations"] == 0
