import type { TurnRequest, Turn } from './scenes'

type Json = Record<string, unknown>

/** The requests, answers and errors of one vendor's API. */
export interface Format {
  read: (body: Json) => TurnRequest
  write: (turn: Turn, isStreamed: boolean) => Response
  /** The error for a request that the vendor would reject. */
  fault?: (body: Json) => Response | undefined
  tooLong: () => Response
}

/** Builds server-sent events; `isDone` adds the terminator of OpenAI's chat. */
export function sse(events: readonly { event?: string; data: Json }[], isDone = false): Response {
  const frames = events.map(
    ({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`,
  )
  const text = frames.join('') + (isDone ? 'data: [DONE]\n\n' : '')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

/** Builds events named by their type. */
export const toTypedEvents = (events: readonly (Json & { type: string })[]): Response =>
  sse(events.map((data) => ({ event: data.type, data })))
