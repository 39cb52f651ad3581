import { CohereEvent, isKnownType } from './events'
import { toFinishReason } from './finish-reason'
import { toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import { toFailure, invalidAnswer, type ErrorSource } from '../upstream-error'
import { toAnnotation } from '../../wire/annotations'
import { isObject, type JsonObject, toObjects } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'

/** A call without arguments has this text for them, in one piece or more. */
const nullText = 'null'

interface Call {
  index: number
  /** Text that may still turn out to be `null`. */
  held: string
  isOpen: boolean
}

/** Reads one chat stream. @see https://docs.cohere.com/v2/docs/streaming */
export function createPartsReader(source: ErrorSource): PartsReader {
  const calls = new Map<number, Call>()

  function call(event: CohereEvent & { type: 'tool-call-start' | 'tool-call-delta' }): Part[] {
    const { id, function: called } = event.delta.message.tool_calls
    const pieces = called?.arguments ?? ''
    if (event.type === 'tool-call-delta') return addArguments(calls.get(event.index), pieces)
    const begun: Call = { index: calls.size, held: '', isOpen: false }
    calls.set(event.index, begun)
    const name = called?.name ?? ''
    const opening: Part = { type: 'call', index: begun.index, name, ...(id && { id }) }
    return [opening, ...addArguments(begun, pieces)]
  }

  function end({ delta }: CohereEvent & { type: 'message-end' }): Part[] {
    const reason = toFinishReason(delta.finish_reason, calls.size > 0)
    if (!reason) throw toFailure({ message: delta.error ?? delta.finish_reason }, source)
    const usage = toUsage(delta.usage)
    return [
      ...[...calls.values()].flatMap(close),
      { type: 'finish', reason },
      ...(usage ? [{ type: 'usage' as const, usage }] : []),
      { type: 'end' },
    ]
  }

  return function read(data) {
    const event = toEvent(data, source)
    switch (event?.type) {
      case 'content-start':
      case 'content-delta':
        return contentParts(event.delta.message.content)
      case 'tool-plan-delta':
        return textParts('reasoning', event.delta.message.tool_plan)
      case 'tool-call-start':
      case 'tool-call-delta':
        return call(event)
      case 'citation-start':
        return citationParts(event.delta.message.citations)
      case 'tool-call-end':
        return close(calls.get(event.index))
      case 'message-end':
        return end(event)
      default:
        return []
    }
  }
}

/** Reads an event; undefined for one that nothing is needed of. */
function toEvent(data: string, source: ErrorSource): CohereEvent | undefined {
  const event = readEvent(data, source)
  // A refusal in place of an event has no type.
  if (event['type'] === undefined) throw toFailure(event, source)
  if (!isKnownType(event['type'])) return undefined
  const parsed = CohereEvent.safeParse(event)
  if (!parsed.success)
    throw invalidAnswer(source.provider, 'an event with an unexpected shape', parsed.error)
  return parsed.data
}

/** The citation as Cohere gives it, beside annotations for the sources that have an address. */
function citationParts(citation: JsonObject): Part[] {
  const { start, end, sources } = citation
  const annotations = toObjects(sources).flatMap((source): Part[] => {
    const held = [source['document'], source['tool_output']].find(isObject)
    if (typeof held?.['url'] !== 'string' || held['url'] === '') return []
    const title = typeof held['title'] === 'string' ? held['title'] : ''
    const place = { start: Number(start) || 0, end: Number(end) || 0 }
    return [{ type: 'annotation', annotation: toAnnotation({ url: held['url'], title, ...place }) }]
  })
  return [{ type: 'extra', fields: { citations: [citation] } }, ...annotations]
}

const textParts = (type: 'text' | 'reasoning', text: string | null | undefined): Part[] =>
  text ? [{ type, text }] : []

type Content = (CohereEvent & { type: 'content-delta' })['delta']['message']['content']

const contentParts = (content: Content): Part[] => [
  ...textParts('reasoning', content.thinking),
  ...textParts('text', content.text),
]

function addArguments(call: Call | undefined, text: string): Part[] {
  if (!call || text === '') return []
  call.held += text
  if (!call.isOpen && nullText.startsWith(call.held)) return []
  call.isOpen = true
  return flush(call)
}

/** No more arguments come: the held text stands for none, or is the whole of them. */
function close(call: Call | undefined): Part[] {
  if (!call || call.held === nullText) return []
  return flush(call)
}

function flush(call: Call): Part[] {
  const { index, held: text } = call
  call.held = ''
  return text === '' ? [] : [{ type: 'arguments', index, text }]
}
