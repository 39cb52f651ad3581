import { z } from 'zod'
import { isObject, type JsonObject } from '../../wire/json-body'

const index = z.int()
const text = z.string()

/** An item of the output; only the fields that are read. */
const ResponsesOutputItem = z.looseObject({
  type: text,
  id: text.optional(),
  call_id: text.optional(),
  name: text.optional(),
  arguments: text.optional(),
  input: text.optional(),
  encrypted_content: text.nullish(),
})
export type ResponsesOutputItem = z.infer<typeof ResponsesOutputItem>

/** The Response as its last event has it; only the fields that are read. */
const CompleteResponse = z.looseObject({
  usage: z.unknown().optional(),
  error: z.looseObject({}).nullish(),
  incomplete_details: z.looseObject({ reason: text.optional() }).nullish(),
})

export type CompleteResponse = z.infer<typeof CompleteResponse>

const textTypes = [
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
] as const
const itemTypes = ['response.output_item.added', 'response.output_item.done'] as const
const lastTypes = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
] as const

/** One event of a Response; only the fields that are read. */
export const ResponsesEvent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(textTypes), delta: text }),
  z.looseObject({ type: z.literal('response.reasoning_summary_part.added'), summary_index: index }),
  z.looseObject({
    type: z.literal('response.output_text.annotation.added'),
    annotation: z.unknown(),
  }),
  z.looseObject({ type: z.enum(itemTypes), output_index: index, item: ResponsesOutputItem }),
  z.looseObject({
    type: z.literal('response.function_call_arguments.delta'),
    output_index: index,
    delta: text,
  }),
  z.looseObject({ type: z.enum(lastTypes), response: CompleteResponse }),
])
export type ResponsesEvent = z.infer<typeof ResponsesEvent>

/** The other events repeat what deltas carried, or belong to tools that requests do not offer. */
const knownTypes: ReadonlySet<unknown> = new Set<ResponsesEvent['type']>([
  ...textTypes,
  ...itemTypes,
  ...lastTypes,
  'response.reasoning_summary_part.added',
  'response.output_text.annotation.added',
  'response.function_call_arguments.delta',
])

/** Items of which something is read; of all others nothing need be as it is in these. */
const knownItems: ReadonlySet<unknown> = new Set([
  'message',
  'reasoning',
  'function_call',
  'custom_tool_call',
])

/** Returns whether an event has to be of a shape that is described here. */
export function isKnownEvent({ type, item }: JsonObject): boolean {
  if (!knownTypes.has(type)) return false
  return !isObject(item) || knownItems.has(item['type'])
}
