import { CohereEvent, isKnownType } from './events'
import { toFinishReason } from './finish-reason'
import { toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import { toFailure, invalidAnswer, type ErrorSource } from '../upstream-error'
import { toAnnotation, toFileAnnotation } from '../../wire/annotations'
import { isObject, type JsonObject, toObjects, toText } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'
import { unnamedStop } from '../../wire/stop-sequence'

/** A call without arguments has this text for them, in one piece or more. */
const nullText = 'null'

interface Call {
  index: number
  /** Text that may still turn out to be `null`. */
  heldText: string
  isOpen: boolean
  isNamed: boolean
}

/** Reads one chat stream. @see https://docs.cohere.com/v2/docs/streaming */
export function createPartsReader(source: ErrorSource): PartsReader {
  const calls = new Map<number, Call>()
  let count = 0

  function call(event: CohereEvent & { type: 'tool-call-start' | 'tool-call-delta' }): Part[] {
    const { id, function: calledFunction } = event.delta.message.tool_calls
    const pieces = calledFunction?.arguments ?? ''
    const name = calledFunction?.name ?? ''
    const opening = (index: number): Part => ({ type: 'call', index, name, ...(id && { id }) })
    if (event.type === 'tool-call-delta') {
      const call = calls.get(event.index)
      if (!call || call.isNamed || name === '') return addArguments(call, pieces)
      call.isNamed = true
      return [opening(call.index), ...addArguments(call, pieces)]
    }
    const begun: Call = { index: count, heldText: '', isOpen: false, isNamed: name !== '' }
    count += 1
    calls.set(event.index, begun)
    return [opening(begun.index), ...addArguments(begun, pieces)]
  }

  function end({ delta }: CohereEvent & { type: 'message-end' }): Part[] {
    const reason = toFinishReason(delta.finish_reason, calls.size > 0)
    if (!reason) throw toFailure({ message: delta.error ?? delta.finish_reason }, source)
    const usage = toUsage(delta.usage)
    const isStop = delta.finish_reason === 'STOP_SEQUENCE'
    return [
      ...[...calls.values()].flatMap(close),
      { type: 'finish', reason, ...(isStop && { matchedStop: unnamedStop }) },
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

/** The citation as Cohere gives it, beside annotations for its sources: pages, and documents of the request. */
function citationParts(citation: JsonObject): Part[] {
  const { start, end, sources } = citation
  const annotations = toObjects(sources).flatMap((source): Part[] => {
    const sourceContent = [source['document'], source['tool_output']].find(isObject) ?? {}
    const [url, title] = [toText(sourceContent['url']), toText(sourceContent['title'])]
    const place = { start: Number(start) || 0, end: Number(end) || 0 }
    if (url !== '')
      return [{ type: 'annotation', annotation: toAnnotation({ url, title, ...place }) }]
    if (source['type'] !== 'document') return []
    const filename = title || toText(source['id'])
    return [{ type: 'annotation', annotation: toFileAnnotation({ filename, ...place }) }]
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
  call.heldText += text
  if (!call.isOpen && nullText.startsWith(call.heldText)) return []
  call.isOpen = true
  return flush(call)
}

/** No more arguments come: the held text stands for none, or is the whole of them. */
function close(call: Call | undefined): Part[] {
  if (!call || call.heldText === nullText) return []
  return flush(call)
}

function flush(call: Call): Part[] {
  const { index, heldText: text } = call
  call.heldText = ''
  return text === '' ? [] : [{ type: 'arguments', index, text }]
}
