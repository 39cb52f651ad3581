import { z } from 'zod'

const maxTitle = 150
/** A section has at most 3,000 characters, and an escaped one is up to five. */
const maxBody = 400

const Event = z.object({ data: z.looseObject({ title: z.string(), body: z.string() }) })

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escape = (text: string) => text.replaceAll(/[&<>]/g, (mark) => escapes[mark] ?? mark)

/** Returns the first characters of a text, without half of a pair. */
const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text

/**
 * Formats an event as a message of an incoming webhook.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
export function toSlackMessage(payload: string): string {
  const { data } = Event.parse(JSON.parse(payload))
  const title = escape(cut(data.title, maxTitle))
  const body = escape(cut(data.body, maxBody))
  return JSON.stringify({
    text: title,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `*${title}*\n${body}` } }],
  })
}
