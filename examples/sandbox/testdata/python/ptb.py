"""python-telegram-bot as Debian packages it (13.15), unmodified, against the sandbox."""

import json
import os
import socket
import urllib.request

from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaPhoto
from telegram.error import Conflict, RetryAfter, Unauthorized
from telegram.ext import Filters, MessageHandler, Updater

url = os.environ["SANDBOX_URL"]


def sandbox(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/sandbox{path}", data=data, method=method)
    with urllib.request.urlopen(request) as response:
        text = response.read()
    return json.loads(text) if text else None


sandbox("DELETE", "")
sandbox("PUT", "/limits", {"chatPerSecond": 0})
bot = Bot("123456:sandbox", base_url=f"{url}/bot", base_file_url=f"{url}/file/bot")

keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("Got it", callback_data="got:1")]])
sent = bot.send_message(7, "<b>one</b>", parse_mode="HTML", reply_markup=keyboard)
bot.edit_message_text("two", 7, sent.message_id)
reply = bot.send_message(7, "three", reply_to_message_id=sent.message_id)
assert reply.reply_to_message.message_id == sent.message_id
bot.send_media_group(7, [InputMediaPhoto("https://shop.example/a.jpg"), InputMediaPhoto("https://shop.example/b.jpg")])
bot.delete_message(7, sent.message_id)
messages = sandbox("GET", "/messages?chatId=7")
assert [m["visibleText"] for m in messages] == ["two", "three", "", ""], messages
assert "deletedAt" in messages[0] and messages[1]["replyTo"] == sent.message_id

sandbox("POST", "/faults", {"method": "sendMessage", "times": 1, "respond": {"retryAfter": 3}})
try:
    bot.send_message(7, "x")
    raise AssertionError("a 429 was no error")
except RetryAfter as error:
    assert error.retry_after == 3
sandbox("POST", "/chats/8/block")
try:
    bot.send_message(8, "x")
    raise AssertionError("a block was no error")
except Unauthorized as error:
    assert "blocked" in str(error)

updater = Updater(bot=bot)
updater.dispatcher.add_handler(MessageHandler(Filters.text, lambda update, _: update.message.reply_text(f"heard {update.message.text}")))
updater.start_polling(timeout=1)
sandbox("POST", "/chats/9/message", {"text": "hello"})
heard = sandbox("GET", "/messages?chatId=9&wait=30s")
assert [m["visibleText"] for m in heard] == ["heard hello"], heard
updater.stop()

sandbox("DELETE", "")
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
updater = Updater(bot=bot)
updater.dispatcher.add_handler(MessageHandler(Filters.text, lambda update, _: update.message.reply_text(f"took {update.message.text}")))
updater.start_webhook(listen="127.0.0.1", port=port, url_path="hook", webhook_url=f"http://127.0.0.1:{port}/hook")
sandbox("POST", "/chats/10/message", {"text": "again"})
took = sandbox("GET", "/messages?chatId=10&wait=30s")
assert [m["visibleText"] for m in took] == ["took again"], took
try:
    bot.get_updates()
    raise AssertionError("polling beside a webhook was no error")
except Conflict as error:
    assert "webhook is active" in str(error)
updater.stop()
print("python-telegram-bot is content")
