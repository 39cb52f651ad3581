import { Hono } from 'hono'
import { ApiError } from '../../../errors'
import { readBytes } from '../../../http/body'
import type { Env } from '../../../http/env'
import type { Guards } from '../../../http/guards'

/** Receives an event of the payment processor; undefined without a configured secret to verify one. */
export type PaymentEvents = ((body: Uint8Array, signature: string) => Promise<void>) | undefined

const maxBytes = 1024 * 1024

/** Webhook events of the payment processor. Source: contract 9.4. */
export const paymentEventRoutes = (receive: PaymentEvents, { open }: Guards) =>
  new Hono<Env>().post('/api/webhooks/payments', open, async (c) => {
    if (!receive) throw new ApiError('resource_not_found')
    const body = await readBytes(c.req.raw, maxBytes, c.env.server)
    await receive(body, c.req.header('stripe-signature') ?? '').catch(rejectEvent)
    return c.json({ received: true })
  })

/** Answers 500 for any failure to store an event, so that the processor sends it again. */
function rejectEvent(thrown: unknown): never {
  throw thrown instanceof ApiError ? thrown : new ApiError('internal_error', { cause: thrown })
}
