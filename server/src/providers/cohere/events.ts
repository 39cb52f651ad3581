import { z } from 'zod'

const text = z.string().nullish()
const index = z.int().default(0)

/** One call as it grows; its parts come under the name of the list that they belong to. */
const Call = z.looseObject({
  id: text,
  function: z.looseObject({ name: text, arguments: text }).nullish(),
})

/** One event of a chat stream; only the fields that are read. */
export const CohereEvent = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.enum(['content-start', 'content-delta']),
    delta: z.looseObject({
      message: z.looseObject({ content: z.looseObject({ text, thinking: text }) }),
    }),
  }),
  z.looseObject({
    type: z.literal('tool-plan-delta'),
    delta: z.looseObject({ message: z.looseObject({ tool_plan: z.string() }) }),
  }),
  z.looseObject({
    type: z.enum(['tool-call-start', 'tool-call-delta']),
    index,
    delta: z.looseObject({ message: z.looseObject({ tool_calls: Call }) }),
  }),
  z.looseObject({ type: z.literal('tool-call-end'), index }),
  z.looseObject({
    type: z.literal('citation-start'),
    delta: z.looseObject({ message: z.looseObject({ citations: z.looseObject({}) }) }),
  }),
  z.looseObject({
    type: z.literal('message-end'),
    delta: z.looseObject({ finish_reason: z.string(), error: text, usage: z.unknown().optional() }),
  }),
])
export type CohereEvent = z.infer<typeof CohereEvent>

/** Nothing is needed of the others, such as `message-start`, `content-end` and `debug`. */
const knownTypes: ReadonlySet<unknown> = new Set<CohereEvent['type']>([
  'content-start',
  'content-delta',
  'tool-plan-delta',
  'tool-call-start',
  'tool-call-delta',
  'tool-call-end',
  'citation-start',
  'message-end',
])

export const isKnownType = (type: unknown): boolean => knownTypes.has(type)
