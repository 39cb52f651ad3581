import { jsonOf, type Json } from '../../providers/conformance/fixture'

/** The events of a stream in OpenAI's newer format. Throws for a frame that is none. */
export function eventsIn(text: string): Json[] {
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
  return frames.map((frame, index) => {
    const [, name, data] = /^event: (\S+)\ndata: (\{.*\})$/.exec(frame) ?? []
    const event = jsonOf(JSON.parse(data ?? 'null'))
    if (event['type'] !== name) throw new Error(`an event ${name} says: ${data}`)
    if (event['sequence_number'] !== index) throw new Error(`event ${index} is numbered: ${data}`)
    return event
  })
}

export const typesOf = (events: readonly Json[]) => events.map(({ type }) => String(type))

/** The Response in the last event. */
export const lastResponse = (events: readonly Json[]) => jsonOf(events.at(-1)?.['response'])
