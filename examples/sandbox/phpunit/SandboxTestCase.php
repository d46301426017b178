<?php
// A sandbox for PHPUnit: tests that extend this class share one
// `notifier sandbox` and each begin afresh.

use PHPUnit\Framework\TestCase;

abstract class SandboxTestCase extends TestCase
{
    protected static string $url;
    private static $program;
    private static array $pipes = [];

    public static function setUpBeforeClass(): void
    {
        self::$program = proc_open(['notifier', 'sandbox', '--listen', '127.0.0.1:0'], [1 => ['pipe', 'w']], self::$pipes);
        self::$url = json_decode(fgets(self::$pipes[1]), true)['url'];
    }

    public static function tearDownAfterClass(): void
    {
        proc_terminate(self::$program);
        fclose(self::$pipes[1]);
        proc_close(self::$program);
    }

    protected function setUp(): void
    {
        $this->ask('DELETE', '');
    }

    /** Makes a request below /sandbox and gives its answer. */
    protected function ask(string $method, string $path, ?array $body = null): mixed
    {
        $context = stream_context_create(['http' => ['method' => $method, 'content' => $body === null ? '' : json_encode($body)]]);
        return json_decode(file_get_contents(self::$url . '/sandbox' . $path, false, $context), true);
    }
}
