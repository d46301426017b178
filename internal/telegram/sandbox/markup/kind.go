package markup

import (
	"cmp"
	"slices"
)

// kind is a type of entity as the server counts them: a block of code with a
// language is another kind than one without.
type kind uint

const (
	bold kind = iota // the first five are those that may be cut where others begin and end
	italic
	underline
	strikethrough
	spoiler
	blockquote
	expandable
	preCode
	pre
	code
	dateTime
	textLink
	textMention
	customEmoji
	mention
	hashtag
	cashtag
	botCommand
	webAddress
	email
	phoneNumber
	bankCard
	kinds
)

// splittable is how many kinds may be cut into pieces.
const splittable = int(spoiler) + 1

// kindNames are the Bot API's names of the kinds.
var kindNames = [kinds]string{
	"bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote",
	"pre", "pre", "code", "date_time", "text_link", "text_mention", "custom_emoji",
	"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number",
}

// depths order entities that cover the same text: the lower ones are outside.
// The numbers are tdlib's (MessageEntity.cpp, get_type_priority).
var depths = [kinds]int{90, 91, 92, 93, 94, 0, 0, 10, 11, 20, 30, 49, 49, 99, 50, 50, 50, 50, 50, 50, 50, 50}

// mask is a set of kinds.
type mask uint

func (k kind) bit() mask { return 1 << k }

const (
	quotes mask = 1<<blockquote | 1<<expandable
	marks  mask = 1<<splittable - 1
	// fixed entities can hold no others and lie in none but a quotation.
	fixed mask = 1<<preCode | 1<<pre | 1<<code | 1<<dateTime
	// continuous entities lie in no other continuous one.
	continuous mask = 1<<textLink | 1<<textMention | 1<<customEmoji | 1<<mention | 1<<hashtag | 1<<cashtag |
		1<<botCommand | 1<<webAddress | 1<<email | 1<<phoneNumber | 1<<bankCard
	// given are those that a bot may mark itself.
	given = marks | quotes | fixed | 1<<textLink | 1<<textMention | 1<<customEmoji
)

func (k kind) in(set mask) bool { return k.bit()&set != 0 }

// kind gives the kind of an entity. Its type must be one of kindNames.
func (e Entity) kind() kind {
	if e.Type == kindNames[pre] && e.Language == "" {
		return pre
	}
	return kind(slices.Index(kindNames[:], e.Type))
}

func (e Entity) end() int { return e.Offset + e.Length }

// IsMark tells whether a bot may mark a text with a type of entity; the others
// are those that the server finds by itself.
func IsMark(name string) bool {
	i := slices.Index(kindNames[:], name)
	return i >= 0 && kind(i).in(given)
}

// IsType tells whether there is a type of entity with a name.
func IsType(name string) bool { return slices.Contains(kindNames[:], name) }

// compareEntities orders entities by their beginning, a longer one before those
// inside it.
func compareEntities(a, b Entity) int {
	return cmp.Or(
		cmp.Compare(a.Offset, b.Offset),
		cmp.Compare(b.Length, a.Length),
		cmp.Compare(depths[a.kind()], depths[b.kind()]),
	)
}

func sortEntities(list []Entity) { slices.SortStableFunc(list, compareEntities) }
