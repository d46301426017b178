package orders

// TypeText is the type of a text that the shop writes itself.
const TypeText = "Text"

// Types of the messages about an order. They are the values of the outbox column `type`.
const (
	TypePlaced      = "OrderPlaced"
	TypePaid        = "OrderPaid"
	TypeReady       = "OrderReady"
	TypeShipped     = "OrderShipped"
	TypeDelivered   = "OrderDelivered"
	TypeCanceled    = "OrderCanceled"
	TypeRefunded    = "OrderRefunded"
	TypeTracking    = "OrderTracking"
	TypeStaffPlaced = "StaffOrderPlaced"
)

// Types of the bot's own replies to what a person does. They are messages of the outbox as well.
const (
	TypeGreeting      = "BotGreeting"      // Start, and the chat is a customer's
	TypeWelcome       = "BotWelcome"       // Start or /orders, and the chat is nobody's yet
	TypeLinkRefused   = "BotLinkRefused"   // the token is wrong, used or too old
	TypeLinkThrottled = "BotLinkThrottled" // too many wrong tokens
	TypePrivateOnly   = "BotPrivateOnly"   // in a group, something for a private chat
	TypeOpenOrders    = "BotOpenOrders"    // /orders
	TypeHelp          = "BotHelp"          // /help
	TypeStopped       = "BotStopped"       // /stop
	TypeStaffStays    = "BotStaffStays"    // /stop in the staff's chat, which it does not stop
	TypeHint          = "BotHint"          // anything else
)

// Types are the types of all messages about an order.
func Types() []string {
	return []string{
		TypePlaced, TypePaid, TypeReady, TypeShipped, TypeDelivered, TypeCanceled, TypeRefunded, TypeTracking, TypeStaffPlaced,
	}
}

// ReplyTypes are the types of all replies of the bot.
func ReplyTypes() []string {
	return []string{
		TypeGreeting, TypeWelcome, TypeLinkRefused, TypeLinkThrottled, TypePrivateOnly, TypeOpenOrders, TypeHelp, TypeStopped,
		TypeStaffStays, TypeHint,
	}
}
