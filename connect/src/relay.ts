import { AnswerTooLong, type Answer } from '@tollgate/server/upstream/http/answer'
import { ConnectionFailed } from '@tollgate/server/upstream/http/connection-failed'
import type { Transport } from '@tollgate/server/upstream/http/transport'
import { forwardedHeaders, type FromGateway, type ToGateway } from '@tollgate/server/tunnel/frames'
import type { ArrivingContent } from './arriving-content'
import { connectMs, type ModelServer } from './model-server'
import { beginning, Pieces } from './pieces'
import type { Window } from './window'

export type RequestFrame = ToGateway & { type: 'request' }
export type ErrorFrame = FromGateway & { type: 'error' }

/** The sink of frames: a socket, as far as an answer needs it. */
export interface Outlet {
  send: (frame: FromGateway) => void
  /** Resolves when the buffer has room. */
  waitForDrain: () => Promise<void>
}

export interface Relaying {
  request: RequestFrame
  server: ModelServer
  window: Window
  /** Set where it is sent in place of the request's body. */
  content?: ArrivingContent | undefined
  /** Aborts with `Cancelled` or `TimedOut`. */
  signal: AbortSignal
  transport: Transport
  outlet: Outlet
  /** Redacts secrets in a text. */
  hide: (text: string) => string
}

/** The request was cancelled: its answer is no longer wanted. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'
}

/** The timeout that Tollgate set has passed. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

const maxPieceBytes = 64 * 1024
/** Its encoding in JSON, at worst six bytes for one, has to fit into a frame. */
const maxFrameText = 128 * 1024
const maxErrorBytes = 64 * 1024
/** Bytes of an answer that is not a stream: as many as Tollgate reads of ten large images. */
const maxAnswerBytes = 48 * 1024 * 1024

/** Sends the request to the server and relays its answer. Throws what keeps the answer from being complete. */
export async function relay(relaying: Relaying): Promise<void> {
  const { request, server, content, signal, transport } = relaying
  const answer = await transport.send(
    {
      url: server.baseUrl + request.path,
      method: 'POST',
      ...(content && request.content
        ? {
            headers: { ...server.headers, 'content-type': request.content.type },
            streamed: content,
          }
        : {
            headers: server.headers,
            body: JSON.stringify({ ...request.body, model: request.model }),
          }),
      signal,
    },
    { connectMs },
  )
  try {
    if (answer.status === 200) await sendAnswer(answer, relaying)
    else await sendErrorAnswer(answer, relaying)
  } catch (thrown) {
    answer.cancel()
    throw thrown
  }
}

function headersOf(answer: Answer): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of forwardedHeaders) {
    const value = answer.headers.get(name)
    if (value !== null && value.length <= 1000) headers[name] = value
  }
  return headers
}

/** Sends the beginning of an error answer, in one frame, redacted: a server may quote the key that it rejected. */
async function sendErrorAnswer(answer: Answer, { request, outlet, hide }: Relaying): Promise<void> {
  const pieces = new Pieces(() => answer.read())
  let body = ''
  let remaining = maxErrorBytes
  while (remaining > 0 && (await pieces.more())) {
    const { text, bytes } = pieces.take(remaining)
    // Not even one character fits.
    if (bytes === 0) break
    body += text
    remaining -= bytes
  }
  answer.cancel()
  const { id } = request
  const headers = headersOf(answer)
  const status = answer.status
  if (status > 599) throw new Error(`the server answered with the status ${status}`)
  await outlet.waitForDrain()
  outlet.send({ type: 'response', id, status, headers, body: beginning(hide(body), maxErrorBytes) })
}

async function sendAnswer(answer: Answer, relaying: Relaying): Promise<void> {
  const { request, outlet } = relaying
  const { id } = request
  const headers = headersOf(answer)
  if (request.binary) return sendBytes(answer, relaying, headers)
  const pieces = new Pieces(() => answer.read())
  if (request.stream) {
    await sendChunks(pieces, relaying, { headers, heldText: '' })
  } else {
    const { text, isComplete } = await gathered(pieces, relaying)
    if (isComplete) {
      await outlet.waitForDrain()
      return outlet.send({ type: 'response', id, status: 200, headers, body: text })
    }
    await sendChunks(pieces, relaying, { headers, heldText: text })
  }
  outlet.send({ type: 'response', id, status: 200 })
}

/** Reads the body, or as much of it as one frame holds. */
async function gathered(pieces: Pieces, { window }: Relaying) {
  const max = Math.min(maxFrameText, window.remaining)
  let text = ''
  let size = 0
  while (await pieces.more()) {
    const piece = pieces.take(max - size)
    if (piece.bytes === 0) return { text, isComplete: false }
    text += piece.text
    size += piece.bytes
  }
  return { text, isComplete: true }
}

/** Sends an answer that may be other than text, as it comes. */
async function sendBytes(
  answer: Answer,
  { request, window, outlet, signal }: Relaying,
  headers: Record<string, string>,
): Promise<void> {
  const { id } = request
  let isFirst = true
  for (let piece = await answer.read(); piece; piece = await answer.read()) {
    for (let at = 0; at < piece.byteLength;) {
      await outlet.waitForDrain()
      signal.throwIfAborted()
      const size = Math.min(piece.byteLength - at, window.remaining, maxPieceBytes)
      if (size <= 0) {
        await window.granted(signal)
        continue
      }
      const data = Buffer.from(piece.buffer, piece.byteOffset + at, size).toString('base64')
      window.spend(size)
      outlet.send({ type: 'chunk', id, data, encoding: 'base64', ...(isFirst ? { headers } : {}) })
      isFirst = false
      at += size
    }
  }
  outlet.send({ type: 'response', id, status: 200, ...(isFirst ? { headers } : {}) })
}

interface Beginning {
  headers: Record<string, string>
  /** The text read so far, within the window. */
  heldText: string
}

async function sendChunks(pieces: Pieces, relaying: Relaying, { headers, heldText }: Beginning) {
  const { request, window, outlet, signal } = relaying
  let isFirst = true
  let sentBytes = 0
  const send = (data: string, bytes: number) => {
    window.spend(bytes)
    sentBytes += bytes
    outlet.send({ type: 'chunk', id: request.id, data, ...(isFirst ? { headers } : {}) })
    isFirst = false
  }
  for (let remaining = heldText; remaining !== '';) {
    const piece = beginning(remaining, maxPieceBytes)
    send(piece, Buffer.byteLength(piece))
    remaining = remaining.slice(piece.length)
  }
  while (await pieces.more()) {
    await outlet.waitForDrain()
    signal.throwIfAborted()
    const { text, bytes } = pieces.take(Math.min(window.remaining, maxPieceBytes))
    if (bytes === 0) {
      await window.granted(signal)
      continue
    }
    send(text, bytes)
    if (!request.stream && sentBytes > maxAnswerBytes)
      throw new AnswerTooLong('the answer is too long')
  }
}

/** Converts a failure to an error frame; undefined for a cancelled request. The address stays on this machine. */
export function toErrorFrame(id: string, thrown: unknown): ErrorFrame | undefined {
  const frame = (code: ErrorFrame['code'], message: string, wasSent: boolean): ErrorFrame => ({
    type: 'error',
    id,
    code,
    message,
    sent: wasSent,
  })
  if (thrown instanceof Cancelled) return undefined
  if (thrown instanceof TimedOut)
    return frame('request_timeout', 'The server did not answer in time.', true)
  if (thrown instanceof ConnectionFailed) {
    const text = thrown.connected
      ? 'The connection to the server was lost.'
      : 'The server was not reached.'
    return frame('connection_failed', text, thrown.connected)
  }
  if (thrown instanceof AnswerTooLong)
    return frame('internal_error', 'The answer of the server is too long.', true)
  return frame('internal_error', 'The answer of the server cannot be passed on.', true)
}
