// Package doctor examines an installation: the settings and their file, the token, the database and
// its rights, the disk, the clock, who sends, and what Telegram says of the bot.
//
// It owns in which order that is looked at, what stops an examination early, and the command that
// mends each finding. What can be wrong with a service that runs it asks of conditions. It changes
// nothing. The verb doctor prints its Report; the verb health asks a running service with Get.
package doctor
