import { createParser } from 'eventsource-parser'
import type { JsonObject } from './json-body'

const longestEvent = 1024 * 1024

/** A line or an event of an upstream is longer than 1 MB. */
export class EventTooLong extends Error {
  override readonly name = 'EventTooLong'
}

/**
 * Bytes of a server-sent event stream, cut anywhere, to the `data` of its events. Comments, ids and
 * event names are dropped. Throws `EventTooLong`.
 */
export class EventReader {
  readonly #decoder = new TextDecoder()
  #events: string[] = []
  #overflow = false
  readonly #parser = createParser({
    onEvent: ({ data }) => void this.#events.push(data),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') this.#overflow = true
    },
    maxBufferSize: longestEvent,
  })

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    return this.#feed(this.#decoder.decode(bytes, { stream: true }))
  }

  /** What was left when the bytes ended: a last event may lack its blank line. */
  end(): string[] {
    return this.#feed(`${this.#decoder.decode()}\n\n`)
  }

  #feed(text: string): string[] {
    this.#parser.feed(text)
    if (this.#overflow) throw new EventTooLong()
    const events = this.#events
    if (events.length > 0) this.#events = []
    for (const data of events) if (data.length > longestEvent) throw new EventTooLong()
    return events
  }
}

/** One event of ours. */
export const frame = (data: string) => `data: ${data}\n\n`

/** One event of a format that names its events. */
export const namedFrame = (event: JsonObject & { type: string }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** What ends a stream that succeeded. */
export const doneFrame = 'data: [DONE]\n\n'

/** A comment that keeps a silent connection open; every client skips it. */
export const pingFrame = ': ping\n\n'
