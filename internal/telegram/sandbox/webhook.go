package sandbox

import (
	"context"
	"net/url"
	"regexp"
	"time"
)

// webhook is where a bot wants its updates sent; world.mu guards what changes.
type webhook struct {
	url            string
	secret         string
	maxConnections int64
	cancel         context.CancelFunc

	lastError   string
	lastErrorAt time.Time
}

// The bounds of setWebhook.
const (
	defaultConnections = 40
	maxConnections     = 100
)

// maxSecret is the longest secret token in bytes.
const maxSecret = 256

var webhookSecret = regexp.MustCompile(`^[A-Za-z0-9_-]*$`)

// setWebhook sets the webhook, or deletes it when the url is empty. Plain http
// is accepted, as by a local Bot API server; certificates are not looked at.
func setWebhook(c *call) (any, *apiError) {
	address := c.params.values["url"]
	if address == "" {
		return deleteWebhook(c)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, badRequest("bad webhook: invalid webhook URL specified")
	}
	secret := c.params.values["secret_token"]
	if len(secret) > maxSecret {
		return nil, badRequest("secret token is too long")
	}
	if !webhookSecret.MatchString(secret) {
		return nil, badRequest("secret token contains unallowed characters")
	}
	w, b := c.world, c.bot
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.alive() {
		return nil, errAborted
	}
	b.allow(c.params)
	b.endPoll("terminated by setWebhook request")
	if c.params.flag("drop_pending_updates") {
		b.dropUpdates(len(b.updates))
	}
	connections := min(max(c.params.integer("max_connections", defaultConnections), 1), maxConnections)
	if old := b.webhook; old != nil {
		if old.url == address && old.secret == secret && old.maxConnections == connections {
			return explained{true, "Webhook is already set"}, nil
		}
		old.cancel()
	}
	ctx, cancel := context.WithCancel(w.ctx)
	b.webhook = &webhook{url: address, secret: secret, maxConnections: connections, cancel: cancel}
	sender := &webhookSender{world: w, bot: b, webhook: b.webhook, client: w.options.webhookClient()}
	w.workers.Go(func() { sender.run(ctx) })
	return explained{true, "Webhook was set"}, nil
}

// deleteWebhook goes back to getUpdates.
func deleteWebhook(c *call) (any, *apiError) {
	w, b := c.world, c.bot
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.params.flag("drop_pending_updates") {
		b.dropUpdates(len(b.updates))
	}
	if b.webhook == nil {
		return explained{true, "Webhook is already deleted"}, nil
	}
	b.webhook.cancel()
	b.webhook = nil
	return explained{true, "Webhook was deleted"}, nil
}

// webhookInfo is the Bot API's WebhookInfo.
type webhookInfo struct {
	URL                  string   `json:"url"`
	HasCustomCertificate bool     `json:"has_custom_certificate"`
	PendingUpdateCount   int      `json:"pending_update_count"`
	LastErrorDate        int64    `json:"last_error_date,omitempty"`
	LastErrorMessage     string   `json:"last_error_message,omitempty"`
	MaxConnections       int64    `json:"max_connections,omitempty"`
	AllowedUpdates       []string `json:"allowed_updates,omitempty"`
}

func getWebhookInfo(c *call) (any, *apiError) {
	w, b := c.world, c.bot
	w.mu.Lock()
	defer w.mu.Unlock()
	info := webhookInfo{PendingUpdateCount: len(b.updates), AllowedUpdates: b.allowed}
	if h := b.webhook; h != nil {
		info.URL, info.MaxConnections, info.LastErrorMessage = h.url, h.maxConnections, h.lastError
		if !h.lastErrorAt.IsZero() {
			info.LastErrorDate = h.lastErrorAt.Unix()
		}
	}
	return info, nil
}
