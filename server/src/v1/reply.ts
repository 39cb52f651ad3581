import type { ModelCall } from './model-call'
import type { ApiError } from '../errors'
import type { RecordedReply, Reply, StreamReply, FullReply } from '../gateway/request'
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

type Run = (call: ModelCall) => Promise<Reply | RecordedReply>

/** Runs a request and answers it, or replays its answer. Rejects with a failure before any answer. */
export function respond(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  const key = call.request.headers.get('idempotency-key')
  return key === null
    ? respondDirectly(call, run, ports)
    : respondIdempotently(call, run, { key, ports })
}

async function respondDirectly(call: ModelCall, run: Run, ports: ReplyPorts): Promise<Response> {
  const reply = await run(call)
  return reply.kind === 'full'
    ? toWholeResponse(call, reply, ports)
    : toResponse(call, reply, { ports })
}

interface Named {
  /** The value of `Idempotency-Key`. */
  key: string
  ports: ReplyPorts
}

async function respondIdempotently(
  call: ModelCall,
  run: Run,
  { key, ports }: Named,
): Promise<Response> {
  const { request, requestId, path } = call
  const { claims, requestMs } = ports
  const idempotentRequest = new IdempotentRequest({
    claims,
    key,
    path,
    errorFormat: getErrorFormat(request),
    requestId,
    signal: request.signal,
    timeoutMs: requestMs,
  })
  call.repeatable = idempotentRequest
  try {
    const reply = await run(call)
    const response = await toResponse(call, reply, { ports, idempotentRequest })
    return reply.kind === 'full' ? await idempotentRequest.store(response) : response
  } catch (thrown) {
    await idempotentRequest.failed(thrown)
    throw thrown
  }
}

interface Answering {
  ports: ReplyPorts
  idempotentRequest?: IdempotentRequest
}

/** The parts of a request that its response depends on. */
export type ReplyOptions = Pick<ModelCall, 'request' | 'requestId'>

function toResponse(
  call: ReplyOptions,
  reply: Reply | RecordedReply,
  answering: Answering,
): Response | Promise<Response> {
  if (reply.kind === 'recorded') return replayAnswer(reply.answer)
  if (reply.kind === 'stream') return respondWithStream(call, reply, answering)
  return toWholeResponse(call, reply, answering.ports)
}

function toWholeResponse(
  { request, requestId }: ReplyOptions,
  reply: FullReply,
  { crashAt }: Pick<ReplyPorts, 'crashAt'>,
): Response {
  crashAt?.('before-last-byte')
  crashAt?.('after-last-byte')
  const headers: Record<string, string> = { 'content-type': reply.text?.type ?? 'application/json' }
  if (reply.provider) {
    headers['x-tollgate-provider'] = reply.provider
    headers['x-tollgate-cost'] = formatPlainUsd(reply.cost ?? 0n)
  }
  Object.assign(headers, getErrorFormat(request).headers?.(requestId))
  addChanges(headers, reply)
  const text = reply.text?.content ?? JSON.stringify(reply.body)
  const { heldMemory } = reply
  const body = heldMemory ? toHeldBody(text, heldMemory, request.signal) : text
  return new Response(body, { headers })
}

const pieceBytes = 256 * 1024

/** Sends a large body piece by piece, and releases its memory once it is sent or its client has disconnected. */
function toHeldBody(
  text: string,
  heldMemory: Disposable,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const release = () => heldMemory[Symbol.dispose]()
  // Of a client that has disconnected by now the body is never read.
  if (signal.aborted) release()
  else signal.addEventListener('abort', release, { once: true })
  const bytes = new TextEncoder().encode(text)
  let sentBytes = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (sentBytes < bytes.byteLength) {
          controller.enqueue(bytes.subarray(sentBytes, (sentBytes += pieceBytes)))
          return
        }
        controller.close()
        release()
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
}

/** The most omitted fields that the header names, and the most characters of each. */
const maxOmitted = 20
const maxNameLength = 100

/** Encodes the name of a caller's field in characters that a header allows and that separate no names in it. */
const toHeaderName = (name: string) =>
  name.slice(0, maxNameLength).replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '?')

/** Adds headers that report changes of the request: omitted fields, and a lowered output limit. */
function addChanges(
  headers: Record<string, string>,
  { omittedFields, outputLimit }: Pick<FullReply, 'omittedFields' | 'outputLimit'>,
): void {
  if (omittedFields && omittedFields.length > 0) {
    const names = omittedFields.slice(0, maxOmitted).map(toHeaderName)
    headers['x-tollgate-omitted'] = names.join(', ')
  }
  if (outputLimit !== undefined) headers['x-tollgate-max-tokens'] = String(outputLimit)
}

/** Responds with a stream. Rejects with a failure before its first event. */
export async function respondWithStream(
  { request, requestId }: ReplyOptions,
  { identity, writer = new ChunkWriter(identity), opening, sound }: StreamReply,
  { ports, idempotentRequest }: Answering,
): Promise<Response> {
  const { watch, earlyHeadersMs, onBroken, crashAt } = ports
  const isBinary = sound === 'bytes'
  // Headers wait for the first event, so that an earlier failure still has its own status.
  const opened = isBinary ? await opening : await waitForOpening(opening, earlyHeadersMs)
  const fields: Record<string, string> = {
    ...streamHeaders,
    ...(isBinary && opened?.contentType && { 'content-type': opened.contentType }),
    ...getErrorFormat(request).headers?.(requestId),
  }
  if (opened?.provider) fields['x-tollgate-provider'] = opened.provider
  if (opened) addChanges(fields, opened)
  const headers = new Headers(fields)
  const outgoing = {
    writer,
    requestId,
    opening,
    isBinary,
    isEarly: !opened,
    onBroken: (error: ApiError) => onBroken(requestId, error),
    copy: idempotentRequest?.copy(headers),
    crashAt,
  }
  return new Response(toEventStream(outgoing, watch), { headers })
}
