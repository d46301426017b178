package sandbox

import (
	"encoding/json"
)

// linkPreview is the Bot API's LinkPreviewOptions as a message shows them.
type linkPreview struct {
	IsDisabled       bool   `json:"is_disabled,omitempty"`
	URL              string `json:"url,omitempty"`
	PreferSmallMedia bool   `json:"prefer_small_media,omitempty"`
	PreferLargeMedia bool   `json:"prefer_large_media,omitempty"`
	ShowAboveText    bool   `json:"show_above_text,omitempty"`
}

// linkPreview reads link_preview_options, or the older switch.
func (p params) linkPreview() (*linkPreview, *apiError) {
	text := p.values["link_preview_options"]
	if text == "" {
		if p.flag("disable_web_page_preview") {
			return &linkPreview{IsDisabled: true}, nil
		}
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, badRequest("can't parse link preview options JSON object")
	}
	object, err := parseObject([]byte(text))
	if err != nil {
		return nil, badRequest("object expected as link preview options")
	}
	var options linkPreview
	for _, field := range []struct {
		name string
		into *bool
	}{
		{"is_disabled", &options.IsDisabled}, {"prefer_small_media", &options.PreferSmallMedia},
		{"prefer_large_media", &options.PreferLargeMedia}, {"show_above_text", &options.ShowAboveText},
	} {
		if *field.into, err = object.flag(field.name); err != nil {
			return nil, telegramRefusal(err)
		}
	}
	if options.URL, err = object.text("url"); err != nil {
		return nil, telegramRefusal(err)
	}
	return &options, nil
}
