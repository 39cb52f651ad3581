import type { ModelCall } from './model-call'
import type { ApiError } from '../errors'
import type { KeptReply, Reply, StreamReply, WholeReply } from '../gateway/job'
import { ChunkWriter } from '../wire/event-writer'
import { plainUsd } from '../wire/usd'
import {
  openedWithin,
  toEventStream,
  type CrashAtLastByte,
  type StreamWatch,
} from '../http/event-stream'
import { Once, replayed } from '../http/once'
import { streamHeaders } from '../http/render'
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
  onBroken: (requestId: string, error: ApiError) => void
  /** Where a test may kill the process. */
  crashAt?: CrashAtLastByte | undefined
}

type Run = (call: ModelCall) => Promise<Reply | KeptReply>

/** Runs a request and answers it, or again as before. Rejects with what failed before any answer. */
export function respond(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  const key = call.request.headers.get('idempotency-key')
  return key === null ? respondOnce(call, run, ports) : respondAgain(call, run, { key, ports })
}

async function respondOnce(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  return toResponse(call, await run(call), { ports })
}

interface Named {
  /** The `Idempotency-Key` as it came. */
  key: string
  ports: ReplyPorts
}

async function respondAgain(call: ModelCall, run: Run, { key, ports }: Named): Promise<Response> {
  const { request, requestId, path } = call
  const { claims, requestMs } = ports
  const once = new Once({
    claims,
    key,
    path,
    wording: wordingOf(request),
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
  once?: Once
}

/** What of a request its answer asks for. */
export type Asked = Pick<ModelCall, 'request' | 'requestId'>

function toResponse(
  asked: Asked,
  reply: Reply | KeptReply,
  answering: Answering,
): Response | Promise<Response> {
  if (reply.kind === 'kept') return replayed(reply.answer)
  if (reply.kind === 'stream') return streamed(asked, reply, answering)
  const { crashAt } = answering.ports
  crashAt?.('before-last-byte')
  crashAt?.('after-last-byte')
  const headers = {
    'content-type': 'application/json',
    ...(reply.provider && {
      'x-tollgate-provider': reply.provider,
      'x-tollgate-cost': plainUsd(reply.cost ?? 0n),
    }),
  }
  const own = { ...wordingOf(asked.request).headers?.(asked.requestId), ...toldHeaders(reply) }
  return new Response(JSON.stringify(reply.body), {
    headers: { ...headers, ...own },
  })
}

/** Names at most so many fields, each with so many characters. */
const maxOmitted = 20
const maxNameLength = 100

/** The name of a field that its caller chose, in the characters that a header takes and that end no name in it. */
const toHeaderName = (name: string) =>
  name.slice(0, maxNameLength).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?')

/** Says what of the request was changed: fields that it was answered without, an output limit that was lowered. */
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

/** A stream on its way out. Rejects with what fails before its first event. */
export async function streamed(
  { request, requestId }: Asked,
  { identity, writer = new ChunkWriter(identity), opening }: StreamReply,
  { ports, once }: Answering,
): Promise<Response> {
  const { watch, earlyHeadersMs, onBroken, crashAt } = ports
  // Headers wait for the first event, so that what fails before it is still a status.
  const opened = await openedWithin(opening, earlyHeadersMs)
  const headers = new Headers({
    ...streamHeaders,
    ...wordingOf(request).headers?.(requestId),
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
