import { z } from 'zod'
import type { DestinationRow } from '../platform/db/notice-schema'

const Event = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.looseObject({ title: z.string(), body: z.string() }),
})
type Event = z.infer<typeof Event>

/** The parts of a body that are not the event's. */
interface Recipient {
  /** The id of the delivery. */
  id: string
  /** The integration key of a service of PagerDuty. */
  routingKey?: string | undefined
}

const maxTitle = 150
/** A section of Slack has at most 3,000 characters, and an escaped one is up to five. */
const maxBody = 400
const maxSummary = 1000

/** Returns the first characters of a text, without half of a pair. */
const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escape = (text: string) => text.replaceAll(/[&<>]/g, (mark) => escapes[mark] ?? mark)

/**
 * Formats an event as a message of an incoming webhook of Slack.
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * @see https://docs.slack.dev/messaging/formatting-message-text#escaping
 */
function toSlackMessage({ data }: Event) {
  const title = escape(cut(data.title, maxTitle))
  const body = escape(cut(data.body, maxBody))
  return {
    text: title,
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text: `*${title}*\n${body}` } }],
  }
}

/** A text block of Teams would read Markdown, and with it links, in text that others wrote; text runs do not. */
const toRichText = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
})

/**
 * Formats an event as a message with an Adaptive Card, as the webhook of a workflow of Teams takes it.
 * @see https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 * @see https://adaptivecards.io/explorer/TextRun.html
 */
const toTeamsMessage = ({ data }: Event) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.2',
        body: [
          toRichText(cut(data.title, maxTitle), { weight: 'Bolder' }),
          toRichText(cut(data.body, maxBody)),
        ],
      },
    },
  ],
})

/**
 * Formats an event for the Events API v2 of PagerDuty. The triggers of one alert share an incident while it is open.
 * @see https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 */
const toPagerDutyEvent = ({ type, timestamp, data }: Event, { id, routingKey }: Recipient) => ({
  routing_key: routingKey,
  event_action: 'trigger',
  dedup_key: typeof data['alert_id'] === 'string' ? data['alert_id'] : id,
  payload: {
    summary: cut(`${data.title}: ${data.body}`, maxSummary),
    source: 'Tollgate',
    severity: 'warning',
    timestamp,
    class: type,
    custom_details: data,
  },
})

const formats: Readonly<
  Record<Exclude<DestinationRow['kind'], 'webhook'>, (event: Event, to: Recipient) => object>
> = { slack: toSlackMessage, teams: toTeamsMessage, pagerduty: toPagerDutyEvent }

/** Formats a stored event for a kind of destination. A webhook gets it as it is stored. */
export const formatBody = (kind: DestinationRow['kind'], payload: string, to: Recipient): string =>
  kind === 'webhook' ? payload : JSON.stringify(formats[kind](Event.parse(JSON.parse(payload)), to))
