import { z } from 'zod'

const index = z.int().nullish()
const field = z.string().nullish()

/** The position of an event. Some servers leave numbers out, and give items other ids in each event. */
export const place = {
  output_index: index,
  item_id: field,
  content_index: index,
  summary_index: index,
}

export const deltaTypes = [
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
] as const
/** Events that repeat what deltas carried; a server without deltas has it here first. */
export const doneTypes = [
  'response.output_text.done',
  'response.refusal.done',
  'response.reasoning_text.done',
  'response.reasoning_summary_text.done',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.done',
] as const

export const DeltaEvent = z.looseObject({ type: z.enum(deltaTypes), ...place, delta: field })
export const DoneEvent = z.looseObject({
  type: z.enum(doneTypes),
  ...place,
  text: field,
  refusal: field,
  arguments: field,
  input: field,
  name: field,
})
export type DeltaEvent = z.infer<typeof DeltaEvent>
export type DoneEvent = z.infer<typeof DoneEvent>

/** The kinds of text in an item. */
export type StreamedField = 'text' | 'refusal' | 'summary' | 'reasoning' | 'arguments'

/** The type of the item and the field that events about a text are of, by their names without `.delta` and `.done`. */
const textEvents: Readonly<Record<string, { type: string; field: StreamedField }>> = {
  'response.output_text': { type: 'message', field: 'text' },
  'response.refusal': { type: 'message', field: 'refusal' },
  'response.reasoning_text': { type: 'reasoning', field: 'reasoning' },
  'response.reasoning_summary_text': { type: 'reasoning', field: 'summary' },
  'response.function_call_arguments': { type: 'function_call', field: 'arguments' },
  'response.custom_tool_call_input': { type: 'custom_tool_call', field: 'arguments' },
}

/** Returns the type of the item, and the field in it, that an event about a text is of. */
export function subjectOf({ type }: DeltaEvent | DoneEvent): {
  type: string
  field: StreamedField
} {
  return textEvents[type.slice(0, type.lastIndexOf('.'))] ?? { type: 'message', field: 'text' }
}

/** Whether an event adds a piece, and does not repeat a whole text. */
export const isDelta = (event: DeltaEvent | DoneEvent): event is DeltaEvent =>
  event.type.endsWith('.delta')

/** The number of the part that an event is of. */
export const numberOf = ({
  content_index: content,
  summary_index: summary,
}: DeltaEvent | DoneEvent) => summary ?? content
