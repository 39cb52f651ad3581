import { expect, test } from 'bun:test'
import { formatBody } from './event-bodies'

const event = {
  type: 'alert.triggered',
  timestamp: '2026-01-02T03:04:05.000Z',
  data: { title: 'Cost', body: '<!channel> & [more](https://bad.example)', alert_id: 'alert_1' },
}
const to = { id: 'dlv_1', routingKey: 'R0123456789' }
const format = (kind: Parameters<typeof formatBody>[0], body = event.data.body) =>
  JSON.parse(formatBody(kind, JSON.stringify({ ...event, data: { ...event.data, body } }), to))

test('a webhook receives an event as it is stored', () => {
  expect(formatBody('webhook', '{ "type": 1 }', to)).toBe('{ "type": 1 }')
})

test('a message of Slack has its text escaped', () => {
  const text = '*Cost*\n&lt;!channel&gt; &amp; [more](https://bad.example)'
  expect(format('slack')).toEqual({
    text: 'Cost',
    blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }],
  })
})

test('a card of Teams has its text in runs, which are not read as Markdown', () => {
  const message = format('teams')
  expect(message).toMatchObject({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null }],
  })
  expect(message.attachments[0].content).toMatchObject({ type: 'AdaptiveCard', version: '1.2' })
  expect(message.attachments[0].content.body).toEqual([
    { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: 'Cost', weight: 'Bolder' }] },
    { type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: event.data.body }] },
  ])
})

test('an event of PagerDuty has the routing key, and the triggers of an alert share an incident', () => {
  expect(format('pagerduty')).toEqual({
    routing_key: to.routingKey,
    event_action: 'trigger',
    dedup_key: 'alert_1',
    payload: {
      summary: `Cost: ${event.data.body}`,
      source: 'Tollgate',
      severity: 'warning',
      timestamp: event.timestamp,
      class: 'alert.triggered',
      custom_details: event.data,
    },
  })
})

test('long texts are cut within the bounds of the services, between characters', () => {
  const long = '😀'.repeat(2000)
  expect(format('slack', long).blocks[0].text.text.length).toBeLessThan(3000)
  const { summary } = format('pagerduty', long).payload
  expect([summary.length <= 1024, summary.isWellFormed()]).toEqual([true, true])
})
