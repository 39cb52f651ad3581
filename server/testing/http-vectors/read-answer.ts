import { HttpExchange } from '../../src/upstream/http/exchange'
import type { Vector } from './vector'

/** The result of an exchange for bytes that arrived in these pieces. */
export interface AnswerReading {
  /** Undefined where the exchange waits for more bytes. */
  outcome: Vector['outcome'] | undefined
  /** Returns a field of the answer; null where it is absent, or there is no answer. */
  field: (name: string) => string | null
  /** The number of bytes that had arrived at the decision; all of them where the end of the connection decided. */
  bytes: number
}

/** A connection without a socket, which records an exchange's calls. */
class FakeLine {
  /** Undefined while the exchange runs; `destroyed` where the connection may not be used again. */
  state: 'kept' | 'destroyed' | undefined

  pause(): void {}
  resume(): void {}

  release(keepMs: number): void {
    this.state = keepMs > 0 ? 'kept' : 'destroyed'
  }

  destroy(): void {
    this.state = 'destroyed'
  }
}

const never = new AbortController().signal

/** Feeds pieces of bytes to an exchange, and then the end of the connection. */
export async function readAnswer(
  pieces: readonly string[],
  ending: Vector['ending'],
): Promise<AnswerReading> {
  const line = new FakeLine()
  const exchange = new HttpExchange(line, never)
  const reading = readOutcome(exchange, line)
  let count = 0
  let bytes = 0
  for (const piece of pieces) {
    count += piece.length
    if (!line.state) {
      // In a buffer of its own, as a socket delivers it.
      exchange.receive(Buffer.from(piece, 'latin1'))
      if (line.state) bytes = count
    } else if (piece.length > 0) line.destroy()
  }
  if (!line.state && ending !== 'open') {
    exchange.closed(ending === 'reset' ? new Error('reset') : undefined)
    bytes = count
  }
  const outcome = line.state ? await reading : undefined
  return { outcome, field: (name) => exchange.get(name), bytes }
}

async function readOutcome(exchange: HttpExchange, line: FakeLine): Promise<Vector['outcome']> {
  try {
    const answer = await exchange.answer
    const { status } = answer
    const chunks: Buffer[] = []
    for (let part = await answer.read(); part; part = await answer.read()) {
      chunks.push(Buffer.from(part))
    }
    const body = Buffer.concat(chunks).toString('latin1')
    return { status, body, isReusable: line.state === 'kept' }
  } catch {
    return 'rejected'
  }
}
