import { z } from 'zod'
import { DeltaEvent, DoneEvent, deltaTypes, doneTypes, place } from './text-events'
import { readEvent } from '../event'
import { toFailure, invalidAnswer, type ErrorSource } from '../upstream-error'
import { isObject, type JsonObject } from '../../wire/json-body'

const text = z.string()
const field = text.nullish()

/** An item of the output; only the fields that are read. */
const ResponsesOutputItem = z.looseObject({
  type: text,
  id: field,
  call_id: field,
  name: field,
  arguments: field,
  input: field,
  status: field,
  encrypted_content: field,
  content: z.unknown().optional(),
  summary: z.unknown().optional(),
})
export type ResponsesOutputItem = z.infer<typeof ResponsesOutputItem>

/** The Response as its last event has it; only the fields that are read. */
const CompleteResponse = z.looseObject({
  usage: z.unknown().optional(),
  output: z.unknown().optional(),
  error: z.looseObject({}).nullish(),
  incomplete_details: z.looseObject({ reason: field }).nullish(),
})

export type CompleteResponse = z.infer<typeof CompleteResponse>

const itemTypes = ['response.output_item.added', 'response.output_item.done'] as const
const lastTypes = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
] as const

const SummaryEvent = z.looseObject({
  type: z.literal('response.reasoning_summary_part.added'),
  ...place,
})
const AnnotationEvent = z.looseObject({
  type: z.literal('response.output_text.annotation.added'),
  ...place,
  annotation: z.unknown(),
})
const ItemEvent = z.looseObject({ type: z.enum(itemTypes), ...place, item: ResponsesOutputItem })
const LastEvent = z.looseObject({ type: z.enum(lastTypes), response: CompleteResponse })

export type SummaryEvent = z.infer<typeof SummaryEvent>
export type AnnotationEvent = z.infer<typeof AnnotationEvent>
export type ItemEvent = z.infer<typeof ItemEvent>
export type LastEvent = z.infer<typeof LastEvent>

/** One event of a Response; only the fields that are read. */
const ResponsesEvent = z.discriminatedUnion('type', [
  DeltaEvent,
  DoneEvent,
  SummaryEvent,
  AnnotationEvent,
  ItemEvent,
  LastEvent,
])
export type ResponsesEvent = z.infer<typeof ResponsesEvent>

/** The other events belong to tools that requests do not offer, or say nothing new. */
const knownTypes: ReadonlySet<unknown> = new Set<ResponsesEvent['type']>([
  ...deltaTypes,
  ...doneTypes,
  ...itemTypes,
  ...lastTypes,
  'response.reasoning_summary_part.added',
  'response.output_text.annotation.added',
])

/** Items of which something is read; of all others nothing need be as it is in these. */
const knownItems: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
])

/** Returns whether an event has to be of a shape that is described here. */
function isKnownEvent({ type, item }: JsonObject): boolean {
  if (!knownTypes.has(type)) return false
  return !isObject(item) || knownItems.has(item['type'])
}

/** More items of an output are not looked at. */
export const maxItems = 1000

/** Reads the output of a Response, as far as it is known. */
export function readOutput({
  output,
}: CompleteResponse): { item: ResponsesOutputItem; at: number }[] {
  if (!Array.isArray(output)) return []
  return output.slice(0, maxItems).flatMap((source: unknown, at) => {
    if (!isObject(source) || !knownItems.has(source['type'])) return []
    const item = ResponsesOutputItem.safeParse(source)
    return item.success ? [{ item: item.data, at }] : []
  })
}

/** Reads an event; undefined for one that nothing is needed of. */
export function readResponsesEvent(data: string, source: ErrorSource): ResponsesEvent | undefined {
  const event = readEvent(data, source)
  // Nested errors are thrown already; this is the flat form.
  if (event['type'] === 'error') throw toFailure({ error: { ...event, type: '' } }, source)
  if (!isKnownEvent(event)) return undefined
  const parsed = ResponsesEvent.safeParse(event)
  if (!parsed.success)
    throw invalidAnswer(source.provider, 'an event with an unexpected shape', parsed.error)
  return parsed.data
}
