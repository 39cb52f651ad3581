import {
  ResponsesEvent,
  isKnownEvent,
  type ResponsesOutputItem,
  type CompleteResponse,
} from './events'
import { encryptedThought } from './thoughts'
import { toUsage } from './usage'
import type { PartsReader } from '../adapter'
import { readEvent } from '../event'
import { toFailure, invalidAnswer, type ErrorSource } from '../upstream-error'
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
    if (call && !call.hasArguments) return argue(call, completeArguments(item))
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
        return textPart('text', event.delta)
      case 'response.output_text.annotation.added':
        return cited.parts(event.annotation)
      case 'response.refusal.delta':
        return textPart('refusal', event.delta)
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        return textPart('reasoning', event.delta)
      case 'response.reasoning_summary_part.added':
        return event.summary_index > 0 ? textPart('reasoning', paragraph) : []
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
    const { type, ...annotationFields } = annotation
    if (typeof type !== 'string') return []
    const moved: JsonObject = { ...annotationFields }
    for (const name of ['start_index', 'end_index']) {
      const index = annotationFields[name]
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
  if (!isKnownEvent(event)) return undefined
  const parsed = ResponsesEvent.safeParse(event)
  if (!parsed.success)
    throw invalidAnswer(source.provider, 'an event with an unexpected shape', parsed.error)
  return parsed.data
}

const textPart = (type: 'text' | 'reasoning' | 'refusal', text: string): Part[] =>
  text === '' ? [] : [{ type, text }]

function argue(call: Call | undefined, text: string): Part[] {
  if (!call || text === '') return []
  call.hasArguments = true
  return [{ type: 'arguments', index: call.index, text }]
}

const completeArguments = ({
  type,
  arguments: text = '',
  input = '',
}: ResponsesOutputItem): string => (type === 'custom_tool_call' ? JSON.stringify({ input }) : text)

function lastParts(
  { type, response }: { type: string; response: CompleteResponse },
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
