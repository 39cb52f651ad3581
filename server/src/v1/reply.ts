import type { Context } from 'hono'
import type { Call, Reply, StreamReply } from '../gateway/job'
import { readJson } from '../http/body'
import { callerOf } from '../http/caller'
import type { Env } from '../http/env'
import { plainUsd } from '../wire/usd'
import { openedWithin, toEventStream, type StreamWatch } from '../http/event-stream'

/** What the model endpoints need to answer. */
export interface ReplyPorts {
  watch: StreamWatch
  /** How long the headers of a stream wait for its first event. */
  earlyHeadersMs: number
  /** Told of each stream that broke after it had begun. */
  onBroken: (requestId: string, code: string, error: Error) => void
}

/** A request as the gateway takes it. */
export const toCall = (c: Context<Env>): Call => ({
  ...callerOf(c),
  requestId: c.get('requestId'),
  readBody: (limitBytes) => readJson(c.req.raw, limitBytes, c.env.server),
  signal: c.req.raw.signal,
})

/** The answer of the gateway as a response. Rejects with what failed before the first event. */
export async function toResponse(
  c: Context<Env>,
  reply: Reply,
  ports: ReplyPorts,
): Promise<Response> {
  if (reply.kind === 'stream') return streamed(c, reply, ports)
  return new Response(JSON.stringify(reply.body), {
    headers: {
      'content-type': 'application/json',
      'x-tollgate-provider': reply.provider,
      'x-tollgate-cost': plainUsd(reply.cost ?? 0n),
    },
  })
}

async function streamed(
  c: Context<Env>,
  { identity, opening }: StreamReply,
  { watch, earlyHeadersMs, onBroken }: ReplyPorts,
): Promise<Response> {
  // Headers wait for the first event, so that what fails before it is still a status.
  const opened = await openedWithin(opening, earlyHeadersMs)
  const requestId = c.get('requestId')
  const outgoing = {
    identity,
    requestId,
    opening,
    isEarly: !opened,
    onBroken: (code: string, error: Error) => onBroken(requestId, code, error),
  }
  const headers = new Headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  if (opened) headers.set('x-tollgate-provider', opened.provider)
  return new Response(toEventStream(outgoing, watch), { headers })
}
