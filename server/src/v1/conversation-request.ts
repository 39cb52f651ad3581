import { z } from 'zod'
import { ApiError, invalidRequest } from '../errors'
import type { Conversation } from '../stored-responses/conversations'
import type { StoringMode } from '../stored-responses/response-turn'
import { customIssue } from '../wire/field-error'
import { maybe, metadataField, text } from '../wire/fields'

/** The most items that a request may add at once. */
const maxNewItems = 20

const Item = z
  .looseObject({
    type: maybe(text(64, 1)),
    role: maybe(text(32, 1)),
    content: maybe(z.union([z.string(), z.array(z.looseObject({})).max(10_000)])),
  })
  .superRefine(({ type, role, content }, ctx) => {
    if (type === 'item_reference') {
      ctx.addIssue(customIssue('not_allowed', 'send the item itself, not its id.', ['type']))
    }
    if (type && type !== 'message') return
    if (!role) ctx.addIssue(customIssue('required', 'this field is required.', ['role']))
    if (content === undefined || content === null) {
      ctx.addIssue(customIssue('required', 'this field is required.', ['content']))
    }
  })

const newItems = z.array(Item).max(maxNewItems)

export const NewConversation = z
  .object({ items: maybe(newItems), metadata: metadataField })
  .meta({ ref: 'NewConversation' })
export const ConversationChange = z
  .object({ metadata: metadataField })
  .meta({ ref: 'ConversationChange' })
export const NewItems = z.object({ items: newItems.min(1) }).meta({ ref: 'NewConversationItems' })

/** Throws `invalid_request` where the operator has disabled storing. */
export function assertStoring(mode: StoringMode): void {
  if (mode !== 'never') return
  throw invalidRequest(null, 'not_allowed', 'Conversations are not stored here. Send the history.')
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

export const toConversationAnswer = ({ id, metadata, createdAt }: Conversation) => ({
  id,
  object: 'conversation' as const,
  created_at: Math.floor(createdAt.getTime() / 1000),
  metadata,
})

/** Throws `resource_not_found` for undefined. */
export function requireFound<Value>(value: Value | undefined, param: string): Value {
  if (value !== undefined) return value
  const reason =
    param === 'item_id' ? 'conversation has no such item' : 'account has no such conversation'
  throw new ApiError('resource_not_found', {
    param,
    message: `This ${reason}: it never existed, was deleted, or expired.`,
  })
}

const itemExample = { examples: ['msg_01m7zbr7rr3rrzfbtxk7716g95'] }

/** Parameters of the paths. */
export const conversationParams = {
  conversation_id: z
    .string()
    .max(256)
    .describe('ID of the conversation')
    .meta({ examples: ['conv_01m7zbr7rr3rrzfbtxk7716g95'] }),
}
export const itemParams = {
  ...conversationParams,
  item_id: z.string().max(256).describe('ID of the item').meta(itemExample),
}
