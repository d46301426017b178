module clients

go 1.26

require (
	github.com/go-telegram-bot-api/telegram-bot-api/v5 v5.5.1
	github.com/go-telegram/bot v1.27.0
	github.com/mymmrac/telego v1.6.0
	gopkg.in/telebot.v3 v3.3.8
	gopkg.in/telebot.v4 v4.0.0-beta.7
)

require (
	github.com/andybalholm/brotli v1.2.0 // indirect
	github.com/bytedance/gopkg v0.1.3 // indirect
	github.com/bytedance/sonic v1.15.0 // indirect
	github.com/bytedance/sonic/loader v0.5.0 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/grbit/go-json v0.11.0 // indirect
	github.com/klauspost/compress v1.18.2 // indirect
	github.com/klauspost/cpuid/v2 v2.2.9 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasthttp v1.69.0 // indirect
	github.com/valyala/fastjson v1.6.7 // indirect
	golang.org/x/arch v0.0.0-20210923205945-b76863e36670 // indirect
	golang.org/x/sys v0.39.0 // indirect
)
