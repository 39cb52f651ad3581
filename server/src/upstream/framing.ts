import type { Adapter } from '../providers/adapter'
import { FrameReader } from '../providers/bedrock/event-stream'
import { SseReader } from '../wire/sse'

/** Cuts the bytes of a stream, however they arrive, into the `data` of its events. */
export interface EventCutter {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): string[]
  /** The rest when the bytes have ended. */
  end(): string[]
}

interface Framing {
  /** The answer's content type. */
  contentType: string
  cutter: () => EventCutter
}

const framings: Readonly<Record<Adapter['framing'], Framing>> = {
  sse: { contentType: 'text/event-stream', cutter: () => new SseReader() },
  aws: { contentType: 'application/vnd.amazon.eventstream', cutter: () => new FrameReader() },
}

export const framingOf = (name: Adapter['framing']): Framing => framings[name]
