import type { Context } from 'hono'
import type { Call, KeptReply, Reply, StreamReply } from '../gateway/job'
import { readJson } from '../http/body'
import { modelCallerOf } from '../http/caller'
import type { Env } from '../http/env'
import { ChunkWriter } from '../wire/event-writer'
import { hopsHeader, toHops } from '../wire/hops'
import { plainUsd } from '../wire/usd'
import {
  openedWithin,
  toEventStream,
  type CrashAtLastByte,
  type StreamWatch,
} from '../http/event-stream'
import { Once, replayed } from '../http/once'
import { wordingOf } from '../http/wording'
import type { Claims } from '../idempotency/claims'

/** What the model endpoints need to answer. */
export interface ReplyPorts {
  watch: StreamWatch
  claims: Claims
  /** How long a repeat waits for the first request. */
  requestMs: number
  /** How long the headers of a stream wait for its first event. */
  earlyHeadersMs: number
  /** Told of each stream that broke after it had begun. */
  onBroken: (requestId: string, code: string, error: Error) => void
  /** Where a test may kill the process. */
  crashAt?: CrashAtLastByte | undefined
}

type Run = (call: Call) => Promise<Reply | KeptReply>

/** Runs a request and answers it, or again as before. Rejects with what failed before any answer. */
export async function respond(c: Context<Env>, run: Run, ports: ReplyPorts): Promise<Response> {
  const key = c.req.raw.headers.get('idempotency-key')
  if (key === null) return toResponse(c, await run(toCall(c)), { ports })
  const { claims, requestMs } = ports
  const once = new Once({
    claims,
    key,
    path: c.req.path,
    wording: wordingOf(c.req.raw),
    requestId: c.get('requestId'),
    signal: c.req.raw.signal,
    patienceMs: requestMs,
  })
  try {
    const reply = await run({ ...toCall(c), repeatable: once })
    const response = await toResponse(c, reply, { ports, once })
    return reply.kind === 'whole' ? await once.whole(response) : response
  } catch (thrown) {
    await once.failed(thrown)
    throw thrown
  }
}

/** A request as the gateway takes it. */
export const toCall = (c: Context<Env>): Call => ({
  ...modelCallerOf(c),
  requestId: c.get('requestId'),
  endpoint: withoutSlash(c.req.path),
  userAgent: c.req.raw.headers.get('user-agent') ?? '',
  readBody: (limitBytes, onText) =>
    readJson(c.req.raw, { limitBytes, server: c.env.server, onText }),
  hops: toHops(c.req.raw.headers.get(hopsHeader)),
  signal: c.req.raw.signal,
})

const withoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path)

interface Answering {
  ports: ReplyPorts
  once?: Once
}

async function toResponse(
  c: Context<Env>,
  reply: Reply | KeptReply,
  answering: Answering,
): Promise<Response> {
  if (reply.kind === 'kept') return replayed(reply.answer)
  if (reply.kind === 'stream') return streamed(c, reply, answering)
  const { crashAt } = answering.ports
  crashAt?.('before-last-byte')
  crashAt?.('after-last-byte')
  return new Response(JSON.stringify(reply.body), {
    headers: {
      'content-type': 'application/json',
      'x-tollgate-provider': reply.provider,
      'x-tollgate-cost': plainUsd(reply.cost ?? 0n),
      ...wordingOf(c.req.raw).headers?.(c.get('requestId')),
    },
  })
}

/** A stream on its way out. Rejects with what fails before its first event. */
export async function streamed(
  c: Context<Env>,
  { identity, writer = new ChunkWriter(identity), opening }: StreamReply,
  { ports, once }: Answering,
): Promise<Response> {
  const { watch, earlyHeadersMs, onBroken, crashAt } = ports
  // Headers wait for the first event, so that what fails before it is still a status.
  const opened = await openedWithin(opening, earlyHeadersMs)
  const requestId = c.get('requestId')
  const headers = new Headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...wordingOf(c.req.raw).headers?.(requestId),
  })
  if (opened) headers.set('x-tollgate-provider', opened.provider)
  const outgoing = {
    writer,
    requestId,
    opening,
    isEarly: !opened,
    onBroken: (code: string, error: Error) => onBroken(requestId, code, error),
    copy: once?.copy(headers),
    crashAt,
  }
  return new Response(toEventStream(outgoing, watch), { headers })
}
