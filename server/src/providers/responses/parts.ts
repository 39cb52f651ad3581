import { ResponsesEvent, isKnown, type ResponsesOutputItem, type Whole } from './events'
import { encryptedThought } from './thoughts'
import { toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import { toFailure, nonsense, type ErrorSource } from '../upstream-error'
import type { FinishReason } from '../../wire/finish-reason'
import { isObject, type JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'

type ItemEvent = ResponsesEvent & {
  type: 'response.output_item.added' | 'response.output_item.done'
}

interface Call {
  index: number
  hasArguments: boolean
}

const paragraph = '\n\n'

/** Reads one Response. @see https://platform.openai.com/docs/api-reference/responses-streaming */
export function createPartsReader(source: ErrorSource): PartsReader {
  const calls = new Map<number, Call>()
  let thoughts = 0
  let hasText = false
  const cited = new CitedText()

  function begin({ item, output_index: at }: ItemEvent): Part[] {
    // A second message, such as the answer after a commentary, is another paragraph.
    if (item.type === 'message') {
      if (hasText) cited.add(paragraph)
      cited.begin()
      return hasText ? [{ type: 'text', text: paragraph }] : []
    }
    if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return []
    const call = { index: calls.size, hasArguments: false }
    calls.set(at, call)
    const { call_id: id, name = '' } = item
    return [{ type: 'call', index: call.index, name, ...(id && { id }) }]
  }

  function end({ item, output_index: at }: ItemEvent): Part[] {
    const call = calls.get(at)
    // A call that came without pieces is whole here; free text has to become JSON.
    if (call && !call.hasArguments) return argue(call, wholeArguments(item))
    if (item.type !== 'reasoning' || !item.encrypted_content) return []
    const detail = encryptedThought({ id: item.id, data: item.encrypted_content }, thoughts)
    thoughts += 1
    return [{ type: 'extra', fields: { reasoning_details: [detail] } }]
  }

  return function read(data) {
    const event = toEvent(data, source)
    if (!event) return []
    switch (event.type) {
      case 'response.output_text.delta':
        hasText ||= event.delta !== ''
        cited.add(event.delta)
        return said('text', event.delta)
      case 'response.output_text.annotation.added':
        return cited.parts(event.annotation)
      case 'response.refusal.delta':
        return said('refusal', event.delta)
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return said('reasoning', event.delta)
      case 'response.reasoning_summary_part.added':
        return event.summary_index > 0 ? said('reasoning', paragraph) : []
      case 'response.output_item.added':
        return begin(event)
      case 'response.output_item.done':
        return end(event)
      case 'response.function_call_arguments.delta':
        return argue(calls.get(event.output_index), event.delta)
      default:
        return lastParts(event, { hasCalls: calls.size > 0, source })
    }
  }
}

/** The position in the whole text of a message whose annotations count from its own beginning. */
class CitedText {
  #length = 0
  #begin = 0

  add(text: string): void {
    this.#length += text.length
  }

  /** A message begins. */
  begin(): void {
    this.#begin = this.#length
  }

  /**
   * Returns an annotation of a message in the form of chat: its fields are in an object named like its
   * type.
   */
  parts(annotation: unknown): Part[] {
    if (!isObject(annotation)) return []
    const { type, ...own } = annotation
    if (typeof type !== 'string') return []
    const moved: JsonObject = { ...own }
    for (const name of ['start_index', 'end_index']) {
      const index = own[name]
      if (typeof index === 'number') moved[name] = index + this.#begin
    }
    return [{ type: 'annotation', annotation: { type, [type]: moved } }]
  }
}

/** Reads an event; undefined for one that nothing is needed of. */
function toEvent(data: string, source: ErrorSource): ResponsesEvent | undefined {
  const event = readEvent(data, source)
  // Nested errors are thrown already; this is the flat form.
  if (event['type'] === 'error') throw toFailure({ error: { ...event, type: '' } }, source)
  if (!isKnown(event)) return undefined
  const known = ResponsesEvent.safeParse(event)
  if (!known.success) throw nonsense(source.provider, 'an event of another shape', known.error)
  return known.data
}

const said = (type: 'text' | 'reasoning' | 'refusal', text: string): Part[] =>
  text === '' ? [] : [{ type, text }]

function argue(call: Call | undefined, text: string): Part[] {
  if (!call || text === '') return []
  call.hasArguments = true
  return [{ type: 'arguments', index: call.index, text }]
}

const wholeArguments = ({ type, arguments: text = '', input = '' }: ResponsesOutputItem): string =>
  type === 'custom_tool_call' ? JSON.stringify({ input }) : text

function lastParts(
  { type, response }: { type: string; response: Whole },
  { hasCalls, source }: { hasCalls: boolean; source: ErrorSource },
): Part[] {
  const { usage: block, error, incomplete_details: details, service_tier: servedTier } = response
  const reason = finishOf(type, details?.reason, hasCalls)
  if (!reason) throw toFailure({ error: error ?? { message: 'The response failed.' } }, source)
  const usage = toUsage(block)
  if (usage && typeof servedTier === 'string') usage.servedTier = servedTier
  return [
    { type: 'finish', reason },
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'end' },
  ]
}

/** Returns the finish reason of a Response; undefined for one that failed. */
function finishOf(
  type: string,
  why: string | undefined,
  hasCalls: boolean,
): FinishReason | undefined {
  if (type === 'response.completed') return hasCalls ? 'tool_calls' : 'stop'
  if (type !== 'response.incomplete') return undefined
  if (why === 'content_filter') return 'content_filter'
  return hasCalls ? 'tool_calls' : 'length'
}
