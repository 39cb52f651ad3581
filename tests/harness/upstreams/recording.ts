import type { Behaviour } from './call'

/** An answer to be given byte for byte. */
export interface Recording {
  /** 200 unless said otherwise. */
  status?: number
  /** `text/event-stream` when the body is not JSON and nothing else is said. */
  headers?: Record<string, string>
  body: string | Uint8Array
  /** Byte offsets at which the body is split into separate writes; they need no order. */
  cuts?: readonly number[]
}

const toRecording = (recorded: Recording | string | Uint8Array): Recording =>
  typeof recorded === 'string' || recorded instanceof Uint8Array ? { body: recorded } : recorded

function typeOf(body: Buffer): string {
  const isJson = body[0] === 0x7b || body[0] === 0x5b
  return isJson ? 'application/json' : 'text/event-stream; charset=utf-8'
}

/** The behaviour that repeats a recording. It is free: its tokens were not counted. */
export function replayBehaviour(recorded: Recording | string | Uint8Array): Behaviour {
  const { status = 200, headers = {}, body, cuts = [] } = toRecording(recorded)
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  const inside = cuts.filter((cut) => cut > 0 && cut < bytes.length)
  const edges = [0, ...new Set(inside.toSorted((a, b) => a - b)), bytes.length]
  const parts = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
  const type = { 'content-type': typeOf(bytes) }

  return async ({ reply }) => {
    reply.head(status, { headers: { ...type, ...headers } })
    for (const [index, part] of parts.entries()) {
      // A turn of the event loop between the writes keeps them apart on the wire.
      if (index > 0) await reply.connection.sleep(0)
      if (part.length > 0) await reply.body(part)
    }
    await reply.finish()
  }
}
