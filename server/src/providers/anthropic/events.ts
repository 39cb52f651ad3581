import { z } from 'zod'
import { isObject, type JsonObject } from '../../wire/json-body'
import { dropNulls } from '../event'
import { invalidAnswer, type ErrorSource } from '../upstream-error'

const Counts = z.looseObject({}).optional()
const index = z.int()

const AnswerBlock = z.object({
  type: z.string(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.looseObject({}).optional(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  /** Whole from the start, in an answer that is given whole. */
  signature: z.string().optional(),
  citations: z.unknown().optional(),
  /** Thinking that only its provider can read. */
  data: z.string().optional(),
})
export type AnswerBlock = z.infer<typeof AnswerBlock>

const Delta = z.object({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  partial_json: z.string().optional(),
  citation: z.unknown().optional(),
})

const MessagesEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({
      id: z.string().optional(),
      usage: Counts,
      /**
       * Content that exists already: of an answer that continues after the provider's own tools, or is
       * whole.
       */
      content: z.array(AnswerBlock).optional(),
      stop_reason: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('content_block_start'), index, content_block: AnswerBlock }),
  z.object({ type: z.literal('content_block_delta'), index, delta: Delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z
      .object({ stop_reason: z.string().optional(), stop_sequence: z.string().optional() })
      .optional(),
    usage: Counts,
  }),
  z.object({ type: z.literal('message_stop') }),
])
export type MessagesEvent = z.infer<typeof MessagesEvent>

const knownTypes = new Set<unknown>(MessagesEvent.options.map(({ shape }) => shape.type.value))
const readBlocks: ReadonlySet<unknown> = new Set([
  'text',
  'tool_use',
  'thinking',
  'redacted_thinking',
])
const readDeltas: ReadonlySet<unknown> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'citations_delta',
])

/** An event as far as it is read; undefined for `ping`, and for whatever will be added. */
export function toEvent(event: JsonObject, { provider }: ErrorSource): MessagesEvent | undefined {
  if (!knownTypes.has(event['type'])) return undefined
  const result = MessagesEvent.safeParse(withoutUnread(event))
  if (result.success) return result.data
  throw invalidAnswer(provider, 'an unreadable event', result.error)
}

/** Blocks and deltas that are not read may have fields of any shape: of those only the type is kept. A null is absent. */
function withoutUnread(event: JsonObject): JsonObject {
  dropNulls(event)
  dropNulls(event['delta'])
  switch (event['type']) {
    case 'content_block_start':
      return { ...event, content_block: omitUnknown(event['content_block'], readBlocks) }
    case 'content_block_delta':
      return { ...event, delta: omitUnknown(event['delta'], readDeltas) }
    case 'message_start': {
      const { message } = event
      dropNulls(message)
      if (!isObject(message) || !Array.isArray(message['content'])) return event
      const content = message['content'].map((block) => omitUnknown(block, readBlocks))
      return { ...event, message: { ...message, content } }
    }
    default:
      return event
  }
}

function omitUnknown(value: unknown, types: ReadonlySet<unknown>): unknown {
  if (!isObject(value) || typeof value['type'] !== 'string') return value
  if (!types.has(value['type'])) return { type: value['type'] }
  dropNulls(value)
  return value
}
