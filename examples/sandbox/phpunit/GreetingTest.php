<?php
// What a test with the class looks like.

require_once __DIR__ . '/SandboxTestCase.php';

final class GreetingTest extends SandboxTestCase
{
    public function testGreeting(): void
    {
        file_get_contents(self::$url . '/bot123456:any/sendMessage?' . http_build_query(['chat_id' => 7, 'text' => '<b>Hello</b>', 'parse_mode' => 'HTML']));
        $messages = $this->ask('GET', '/messages?chatId=7&wait=5s');
        $this->assertSame(['Hello'], array_column($messages, 'visibleText'));
    }
}
