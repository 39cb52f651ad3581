import type { AuditDestinationSecret } from './secret'
import type { AuditEntry } from '../entries'
import { signatureHeaders } from '../../notifications/destination'

/** The type of the event that has an entry. Source: contract 9.7. */
const entryEvent = 'audit.entry'

/**
 * Returns an entry as a signed request. Its `webhook-id` is the id of the entry, by which a receiver recognizes what it
 * has received before.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function toWebhookRequest(entry: AuditEntry, secret: AuditDestinationSecret, nowMs: number) {
  const body = JSON.stringify({ type: entryEvent, timestamp: entry.created_at, data: entry })
  return {
    method: 'POST' as const,
    url: secret.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Tollgate',
      ...signatureHeaders(secret, { id: entry.id, atMs: nowMs, body }),
    },
    body,
  }
}
