import type { Adapter } from '../providers/adapter'
import { EventReader } from '../wire/sse'

/** Cuts the bytes of a stream, however they arrive, into the `data` of its events. */
export interface EventCutter {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): string[]
  /** What was left when the bytes ended. */
  end(): string[]
}

interface Framing {
  /** What the answer's content type says. */
  contentType: string
  cutter: () => EventCutter
}

const framings: Partial<Record<Adapter['framing'], Framing>> = {
  sse: { contentType: 'text/event-stream', cutter: () => new EventReader() },
}

export function framingOf(name: Adapter['framing'] = 'sse'): Framing {
  const framing = framings[name]
  if (!framing) throw new Error(`there is no reader of ${name} streams`)
  return framing
}
