import { createHmac } from 'node:crypto'
import { parsed, type Json } from '../../harness/http'

export const webhookSecret = 'whsec_simulated_0123456789'

/** Signs a body as of a time, in seconds. @see https://docs.stripe.com/webhooks#verify-manually */
export function signatureOf(
  body: string,
  { secret = webhookSecret, at = Math.floor(Date.now() / 1000) } = {},
): string {
  const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return `t=${at},v1=${mac}`
}

interface Delivered {
  status: number
  body: Json
}

/** Sends an event as Stripe would; a text goes out as it is. */
export async function deliver(
  gatewayUrl: string,
  event: Json | string,
  { signature, ...signing }: { signature?: string; secret?: string; at?: number } = {},
): Promise<Delivered> {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const response = await fetch(`${gatewayUrl}/api/webhooks/payments`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signature ?? signatureOf(body, signing),
    },
    body,
  })
  return { status: response.status, body: parsed(await response.text()) }
}
