import type { AskedTurn, Turn } from './scenes'

type Json = Record<string, unknown>

/** How one vendor's interface is asked, answers and refuses. */
export interface Format {
  read: (body: Json) => AskedTurn
  write: (turn: Turn, isStreamed: boolean) => Response
  /** The refusal of a request that the vendor itself would refuse. */
  fault?: (body: Json) => Response | undefined
  tooLong: () => Response
}

/** Server-sent events; `isDone` adds the end that OpenAI's chat has. */
export function sse(events: readonly { event?: string; data: Json }[], isDone = false): Response {
  const frames = events.map(
    ({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`,
  )
  const text = frames.join('') + (isDone ? 'data: [DONE]\n\n' : '')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

/** Events whose name is their type. */
export const typed = (events: readonly (Json & { type: string })[]): Response =>
  sse(events.map((data) => ({ event: data.type, data })))
