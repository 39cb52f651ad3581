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
  timeoutMs: () => number
}

/**
 * Answers with the result of `work`; for a request with a known `Idempotency-Key`, with the result of the first
 * one. `work` calls `dispatched` before a side effect that must not happen twice. Source: contract 4.9.
 */
export async function answerIdempotently(
  c: Context<Env>,
  { claims, timeoutMs, body }: RepeatPorts & { body: JsonObject },
  work: (dispatched: () => void) => Promise<Response>,
): Promise<Response> {
  const key = c.req.raw.headers.get('idempotency-key')
  if (key === null) return work(() => undefined)
  const idempotentRequest = new IdempotentRequest({
    claims,
    key,
    path: c.req.path,
    errorFormat: getErrorFormat(c.req.raw),
    requestId: c.get('requestId'),
    signal: c.req.raw.signal,
    timeoutMs: timeoutMs(),
  })
  try {
    const stored = await idempotentRequest.claim(c.var.principal.userId, body)
    if (stored) return replayAnswer(stored)
    return await idempotentRequest.store(await work(idempotentRequest.onDispatched))
  } catch (thrown) {
    await idempotentRequest.failed(thrown)
    throw thrown
  }
}
