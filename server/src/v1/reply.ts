import type { ModelCall } from './model-call'
import type { ApiError } from '../errors'
import type { KeptReply, Reply, StreamReply, WholeReply } from '../gateway/request'
import { ChunkWriter } from '../wire/event-writer'
import { formatPlainUsd } from '../wire/usd'
import {
  waitForOpening,
  toEventStream,
  type CrashAtLastByte,
  type StreamWatch,
} from '../http/event-stream'
import { IdempotentRequest, replayAnswer } from '../http/idempotent-request'
import { streamHeaders } from '../http/render'
import { getErrorFormat } from '../http/error-format'
import type { Claims } from '../idempotency/claims'

/** Dependencies of the model endpoints' responses. */
export interface ReplyPorts {
  watch: StreamWatch
  claims: Claims
  /** The longest wait of a repeat for the first request. */
  requestMs: number
  /** The time that the headers of a stream wait for its first event. */
  earlyHeadersMs: number
  /** Called for each stream that broke after it had begun. */
  onBroken: (requestId: string, error: ApiError) => void
  /** The crash points of tests. */
  crashAt?: CrashAtLastByte | undefined
}

type Run = (call: ModelCall) => Promise<Reply | KeptReply>

/** Runs a request and answers it, or replays its answer. Rejects with a failure before any answer. */
export function respond(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  const key = call.request.headers.get('idempotency-key')
  return key === null ? respondOnce(call, run, ports) : respondAgain(call, run, { key, ports })
}

async function respondOnce(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  return toResponse(call, await run(call), { ports })
}

interface Named {
  /** The value of `Idempotency-Key`. */
  key: string
  ports: ReplyPorts
}

async function respondAgain(call: ModelCall, run: Run, { key, ports }: Named): Promise<Response> {
  const { request, requestId, path } = call
  const { claims, requestMs } = ports
  const once = new IdempotentRequest({
    claims,
    key,
    path,
    wording: getErrorFormat(request),
    requestId,
    signal: request.signal,
    patienceMs: requestMs,
  })
  call.repeatable = once
  try {
    const reply = await run(call)
    const response = await toResponse(call, reply, { ports, once })
    return reply.kind === 'whole' ? await once.whole(response) : response
  } catch (thrown) {
    await once.failed(thrown)
    throw thrown
  }
}

interface Answering {
  ports: ReplyPorts
  once?: IdempotentRequest
}

/** The parts of a request that its response depends on. */
export type ReplyOptions = Pick<ModelCall, 'request' | 'requestId'>

function toResponse(
  asked: ReplyOptions,
  reply: Reply | KeptReply,
  answering: Answering,
): Response | Promise<Response> {
  if (reply.kind === 'kept') return replayAnswer(reply.answer)
  if (reply.kind === 'stream') return respondWithStream(asked, reply, answering)
  const { crashAt } = answering.ports
  crashAt?.('before-last-byte')
  crashAt?.('after-last-byte')
  const headers = {
    'content-type': 'application/json',
    ...(reply.provider && {
      'x-tollgate-provider': reply.provider,
      'x-tollgate-cost': formatPlainUsd(reply.cost ?? 0n),
    }),
  }
  const own = { ...getErrorFormat(asked.request).headers?.(asked.requestId), ...toldHeaders(reply) }
  return new Response(JSON.stringify(reply.body), {
    headers: { ...headers, ...own },
  })
}

/** The most omitted fields that the header names, and the most characters of each. */
const maxOmitted = 20
const maxNameLength = 100

/** Encodes the name of a caller's field in characters that a header allows and that separate no names in it. */
const toHeaderName = (name: string) =>
  name.slice(0, maxNameLength).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?')

/** Reports changes of the request in headers: omitted fields, and a lowered output limit. */
function toldHeaders({
  omitted,
  outputLimit,
}: Pick<WholeReply, 'omitted' | 'outputLimit'>): Record<string, string> {
  return {
    ...(omitted &&
      omitted.length > 0 && {
        'x-tollgate-omitted': omitted.slice(0, maxOmitted).map(toHeaderName).join(', '),
      }),
    ...(outputLimit !== undefined && { 'x-tollgate-max-tokens': String(outputLimit) }),
  }
}

/** Responds with a stream. Rejects with a failure before its first event. */
export async function respondWithStream(
  { request, requestId }: ReplyOptions,
  { identity, writer = new ChunkWriter(identity), opening }: StreamReply,
  { ports, once }: Answering,
): Promise<Response> {
  const { watch, earlyHeadersMs, onBroken, crashAt } = ports
  // Headers wait for the first event, so that an earlier failure still has its own status.
  const opened = await waitForOpening(opening, earlyHeadersMs)
  const headers = new Headers({
    ...streamHeaders,
    ...getErrorFormat(request).headers?.(requestId),
  })
  if (opened?.provider) headers.set('x-tollgate-provider', opened.provider)
  for (const [name, value] of Object.entries(toldHeaders(opened ?? {}))) headers.set(name, value)
  const outgoing = {
    writer,
    requestId,
    opening,
    isEarly: !opened,
    onBroken: (error: ApiError) => onBroken(requestId, error),
    copy: once?.copy(headers),
    crashAt,
  }
  return new Response(toEventStream(outgoing, watch), { headers })
}
