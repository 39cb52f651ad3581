import type { Context } from 'hono'
import { z } from 'zod'
import { ApiError, invalidRequest } from '../errors'
import { readJson } from '../http/body'
import type { Env } from '../http/env'
import type { Conversation } from '../stored-responses/conversations'
import type { StoringMode } from '../stored-responses/response-turn'
import { broken } from '../wire/field-error'
import { maybe, metadataField, text } from '../wire/fields'
import { check } from '../wire/json-body'

/** The most items, and bytes, that a request may add at once. */
const maxNewItems = 20
const maxBodyBytes = 8 * 1024 * 1024

const Item = z
  .looseObject({
    type: maybe(text(64, 1)),
    role: maybe(text(32, 1)),
    content: maybe(z.union([z.string(), z.array(z.looseObject({})).max(10_000)])),
  })
  .superRefine(({ type, role, content }, ctx) => {
    if (type === 'item_reference') {
      ctx.addIssue(broken('not_allowed', 'send the item itself, not its id.', ['type']))
    }
    if (type && type !== 'message') return
    if (!role) ctx.addIssue(broken('required', 'this field is required.', ['role']))
    if (content === undefined || content === null) {
      ctx.addIssue(broken('required', 'this field is required.', ['content']))
    }
  })

const newItems = z.array(Item).max(maxNewItems)

export const NewConversation = z.object({ items: maybe(newItems), metadata: metadataField })
export const ConversationChange = z.object({ metadata: metadataField })
export const NewItems = z.object({ items: newItems.min(1) })

/** Reads and validates a body; an absent one is an empty object. Rejects with `invalid_request`. */
export async function fieldsOf<Schema extends z.ZodType>(
  c: Context<Env>,
  schema: Schema,
): Promise<z.output<Schema>> {
  if (c.req.raw.body === null) return check(schema, {})
  const { server, bodies } = c.env
  const share = bodies.open(c.var.principal.accountId)
  try {
    const room = { share: () => share }
    const { body } = await readJson(c.req.raw, { limitBytes: maxBodyBytes, server, room })
    return check(schema, body)
  } finally {
    share.release()
  }
}

/** Throws `invalid_request` where the operator has disabled storing. */
export function assertKeeping(mode: StoringMode): void {
  if (mode !== 'never') return
  throw invalidRequest(null, 'not_allowed', 'Conversations are not kept here. Send the history.')
}

/** A conversation as the API shows it. */
export const ConversationAnswer = z
  .object({
    id: z.string(),
    object: z.literal('conversation'),
    created_at: z.int().describe('Unix seconds'),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ ref: 'Conversation' })

export const shown = ({ id, metadata, createdAt }: Conversation) => ({
  id,
  object: 'conversation' as const,
  created_at: Math.floor(createdAt.getTime() / 1000),
  metadata,
})

/** Throws `resource_not_found` for undefined. */
export function found<Found>(asked: Found | undefined, param: string): Found {
  if (asked !== undefined) return asked
  const what =
    param === 'item_id' ? 'conversation has no such item' : 'account has no such conversation'
  throw new ApiError('resource_not_found', {
    param,
    message: `This ${what}: it never was, is deleted, or was not used for too long.`,
  })
}

const conversationId = {
  name: 'conversation_id',
  in: 'path' as const,
  required: true,
  schema: { type: 'string' as const, maxLength: 256 },
  example: 'conv_01m7zbr7rr3rrzfbtxk7716g95',
}

/** Path parameters, for the description. */
export const conversationPath = [conversationId]
export const itemPath = [
  conversationId,
  { ...conversationId, name: 'item_id', example: 'msg_01m7zbr7rr3rrzfbtxk7716g95' },
]
