import type { Context } from 'hono'
import type { Env } from './env'
import { IdempotentRequest, replayAnswer } from './idempotent-request'
import { getErrorFormat } from './error-format'
import type { Claims } from '../idempotency/claims'
import type { JsonObject } from '../wire/json-body'

/** Dependencies of idempotent routes of `/api`. */
export interface RepeatPorts {
  claims: Claims
  /** The longest wait of a repeat for the first request, in milliseconds. */
  patienceMs: () => number
}

/**
 * Answers with the result of `work`; for a request with a known `Idempotency-Key`, with the result of the first
 * one. `work` calls `dispatched` before a side effect that must not happen twice. Source: contract 4.9.
 */
export async function answerOnce(
  c: Context<Env>,
  { claims, patienceMs, body }: RepeatPorts & { body: JsonObject },
  work: (dispatched: () => void) => Promise<Response>,
): Promise<Response> {
  const key = c.req.raw.headers.get('idempotency-key')
  if (key === null) return work(() => undefined)
  const once = new IdempotentRequest({
    claims,
    key,
    path: c.req.path,
    wording: getErrorFormat(c.req.raw),
    requestId: c.get('requestId'),
    signal: c.req.raw.signal,
    patienceMs: patienceMs(),
  })
  try {
    const kept = await once.claim(c.var.principal.userId, body)
    if (kept) return replayAnswer(kept)
    return await once.whole(await work(once.dispatched))
  } catch (thrown) {
    await once.failed(thrown)
    throw thrown
  }
}
