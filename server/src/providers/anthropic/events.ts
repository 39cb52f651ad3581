import { z } from 'zod'
import type { JsonObject } from '../../wire/json-body'
import { nonsense, type Source } from '../upstream-error'

const Counts = z.looseObject({}).nullish()
const index = z.int()

const Event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ usage: Counts }) }),
  z.object({
    type: z.literal('content_block_start'),
    index,
    content_block: z.object({
      type: z.string(),
      id: z.string().optional(),
      name: z.string().optional(),
      input: z.looseObject({}).optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      /** Of thinking that only its provider can read. */
      data: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index,
    delta: z.object({
      type: z.string(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: Counts,
  }),
  z.object({ type: z.literal('message_stop') }),
])
export type Event = z.infer<typeof Event>

const known = new Set<unknown>(Event.options.map(({ shape }) => shape.type.value))

/** An event as far as it is read; undefined for `ping`, and for whatever will be added. */
export function toEvent(event: JsonObject, { provider }: Source): Event | undefined {
  if (!known.has(event['type'])) return undefined
  const result = Event.safeParse(event)
  if (result.success) return result.data
  throw nonsense(provider, 'an unreadable event', result.error)
}
