package syntax

import (
	"regexp"

	"notifier/internal/secret"
)

var webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

// WebhookSecret says in words what IsWebhookSecret asks for; it follows "must be".
const WebhookSecret = "1 to 256 characters of A-Z, a-z, 0-9, _ and -"

// IsWebhookSecret says whether Telegram takes this as the secret_token of a webhook
// (https://core.telegram.org/bots/api#setwebhook). An empty one, which Telegram would take too, is
// none.
func IsWebhookSecret(s secret.Value) bool { return webhookSecret.MatchString(s.Reveal()) }
