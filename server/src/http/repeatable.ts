import type { Context } from 'hono'
import type { Env } from './env'
import { Once, replayed } from './once'
import { wordingOf } from './wording'
import type { Claims } from '../idempotency/claims'
import type { JsonObject } from '../wire/json-body'

/** What a route of `/api` needs to do a thing once for an `Idempotency-Key`. */
export interface RepeatPorts {
  claims: Claims
  /** How long a repeat waits for the first request, in milliseconds. */
  patienceMs: () => number
}

/**
 * Answers with what `work` makes; where the request carries an `Idempotency-Key` that was used before,
 * with what it made then. `work` says by `dispatched` when it does what must not be done twice. Source:
 * contract 4.9.
 */
export async function answeredOnce(
  c: Context<Env>,
  { claims, patienceMs, body }: RepeatPorts & { body: JsonObject },
  work: (dispatched: () => void) => Promise<Response>,
): Promise<Response> {
  const key = c.req.raw.headers.get('idempotency-key')
  if (key === null) return work(() => undefined)
  const once = new Once({
    claims,
    key,
    path: c.req.path,
    wording: wordingOf(c.req.raw),
    requestId: c.get('requestId'),
    signal: c.req.raw.signal,
    patienceMs: patienceMs(),
  })
  try {
    const kept = await once.claim(c.var.principal.userId, body)
    if (kept) return replayed(kept)
    return await once.whole(await work(once.dispatched))
  } catch (thrown) {
    await once.failed(thrown)
    throw thrown
  }
}
