import { z } from 'zod'
import { fromCallId } from './call-id'
import { customIssue } from '../../wire/field-error'
import { maxParts, maxTools, maybe, modelField, text } from '../../wire/fields'
import { unpackCallId } from '../../wire/packed-call-id'

const cacheControl = maybe(z.looseObject({}))

const TextBlock = z
  .looseObject({
    type: z.literal('text'),
    text: z.string(),
    cache_control: cacheControl,
  })
  .meta({ ref: 'MessageText' })

const Base64Source = z.looseObject({
  type: z.literal('base64'),
  media_type: text(128, 1),
  data: z.string(),
})
const UrlSource = z.looseObject({
  type: z.literal('url'),
  url: z.string().regex(/^https:/, 'must be an https: URL.'),
})
const FileSource = z.looseObject({ type: z.literal('file'), file_id: z.string().min(1) })

const ImageBlock = z
  .looseObject({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [
      Base64Source.extend({
        media_type: z.string().regex(/^image\/[\w.+-]+$/, 'is not an image type.'),
      }),
      UrlSource,
      FileSource,
    ]),
    cache_control: cacheControl,
  })
  .meta({ ref: 'MessageImage' })

const DocumentBlock = z
  .looseObject({
    type: z.literal('document'),
    source: z.discriminatedUnion('type', [
      Base64Source,
      z.looseObject({ type: z.literal('text'), data: z.string() }),
      z.looseObject({
        type: z.literal('content'),
        content: z.union([
          z.string(),
          z.array(z.discriminatedUnion('type', [TextBlock, ImageBlock])).max(maxParts),
        ]),
      }),
      UrlSource,
      FileSource,
    ]),
    title: maybe(z.string()),
    context: maybe(z.string()),
    cache_control: cacheControl,
  })
  .meta({ ref: 'MessageDocument' })

const SearchResultBlock = z
  .looseObject({
    type: z.literal('search_result'),
    source: z.string(),
    title: z.string(),
    content: z.array(TextBlock).max(maxParts),
    cache_control: cacheControl,
  })
  .meta({ ref: 'MessageSearchResult' })

/** Content that both sides of a conversation, documents and results can hold. */
const contentBlocks = [TextBlock, ImageBlock, DocumentBlock, SearchResultBlock] as const
const maxCallId = 8192
/** The id of a call. The signature that Tollgate packed into it is as long as its provider likes. */
const callId = z
  .string()
  .min(1)
  .refine((id) => id.length <= maxCallId || unpackCallId(fromCallId(id)).length <= maxCallId, {
    params: { issue: 'too_long' },
    message: `must have a length of at most ${maxCallId}.`,
  })

const MessageContent = z
  .discriminatedUnion('type', [...contentBlocks])
  .meta({ ref: 'MessageContent' })
const TypedBlock = z.discriminatedUnion('type', [
  ...contentBlocks,
  z.looseObject({
    type: z.literal('tool_use'),
    id: callId,
    name: text(200, 1),
    input: z.looseObject({}),
    cache_control: cacheControl,
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: callId,
    content: maybe(
      z.lazy(() =>
        z.union([z.string(), z.array(z.union([MessageContent, Foreign])).max(maxParts)]),
      ),
    ),
    is_error: maybe(z.boolean()),
    cache_control: cacheControl,
  }),
  z.looseObject({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: maybe(z.string()),
  }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string() }),
])

const typesOf = (...types: string[]): ReadonlySet<string> => new Set(types)
const contentTypes = typesOf('text', 'image', 'document', 'search_result')
const toolAndThinkingTypes = typesOf('tool_use', 'tool_result', 'thinking', 'redacted_thinking')

/** Blocks of Anthropic's own services, and types newer than this file, which travel on. */
const Foreign = z
  .looseObject({ type: z.string() })
  .refine(({ type }) => !contentTypes.has(type) && !toolAndThinkingTypes.has(type), {
    message: 'a block of this type is not allowed here.',
    // Without it this issue would hide the others.
    abort: true,
  })

const Message = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: z.union([z.string(), z.array(z.union([TypedBlock, Foreign])).max(maxParts)]),
  })
  .meta({ ref: 'MessageTurn' })

const MessagesTool = z
  .looseObject({
    type: maybe(z.string()),
    name: maybe(text(128, 1)),
    description: maybe(z.string()),
    input_schema: maybe(z.looseObject({})),
    strict: maybe(z.boolean()),
    cache_control: cacheControl,
  })
  .superRefine((tool, ctx) => {
    if (tool.type && tool.type !== 'custom') return
    for (const field of ['name', 'input_schema'] as const) {
      if (!tool[field]) ctx.addIssue(customIssue('required', 'this field is required.', [field]))
    }
  })
  .meta({ ref: 'MessageTool' })

const oneCall = { disable_parallel_tool_use: maybe(z.boolean()) }

const ToolChoice = z
  .discriminatedUnion('type', [
    z.looseObject({ type: z.literal('auto'), ...oneCall }),
    z.looseObject({ type: z.literal('any'), ...oneCall }),
    z.looseObject({ type: z.literal('none') }),
    z.looseObject({ type: z.literal('tool'), name: z.string().min(1), ...oneCall }),
  ])
  .meta({ ref: 'MessageToolChoice' })

const Thinking = z.looseObject({
  type: z.string(),
  budget_tokens: maybe(z.int().min(0)),
})

const Format = z.looseObject({ type: z.literal('json_schema'), schema: z.looseObject({}) })

const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max'])

const shape = {
  model: modelField,
  messages: z.array(Message).min(1).max(100_000),
  system: maybe(z.union([z.string(), z.array(TextBlock).max(maxParts)])),
  max_tokens: z.int().min(1).describe('Maximum number of tokens of the answer'),
  temperature: maybe(z.number().min(0).max(1)),
  top_p: maybe(z.number().min(0).max(1)),
  top_k: maybe(z.int().min(0)),
  stop_sequences: maybe(z.array(text(100_000, 1)).max(8191)),
  stream: maybe(z.boolean()).describe('Answer as server-sent events'),
  tools: maybe(z.array(MessagesTool).max(maxTools)),
  tool_choice: maybe(ToolChoice),
  thinking: maybe(Thinking),
  output_config: maybe(z.looseObject({ effort: maybe(effort), format: maybe(Format) })),
  output_format: maybe(Format),
  metadata: maybe(z.looseObject({ user_id: maybe(text(512)) })),
  cache_control: cacheControl.describe('Cache the prompt up to its last block'),
}

/**
 * `POST /v1/messages`; fields that it does not name travel on to Anthropic.
 * @see https://docs.claude.com/en/api/messages
 */
export const MessagesRequest = z.looseObject(shape)
export type MessagesRequest = z.output<typeof MessagesRequest>

/** `POST /v1/messages/count_tokens`. */
export const CountRequest = z.looseObject({ ...shape, max_tokens: maybe(shape.max_tokens) })
export type CountRequest = z.output<typeof CountRequest>

export type MessagesTurn = z.output<typeof Message>
export type MessageBlock = Exclude<MessagesTurn['content'], string>[number]
type KnownBlock = z.output<typeof TypedBlock>
type Of<Type extends KnownBlock['type']> = Extract<KnownBlock, { type: Type }>
export type MessageContentBlock = z.output<typeof MessageContent>
export type ImageSource = Of<'image'>['source']
export type DocumentBlock = Of<'document'>
export type CallBlock = Of<'tool_use'>
export type ResultBlock = Of<'tool_result'>
export type MessagesTool = z.output<typeof MessagesTool>

export const isContentBlock = (block: MessageBlock): block is MessageContentBlock =>
  contentTypes.has(block.type)
export const isBlock = <Type extends KnownBlock['type']>(
  block: MessageBlock,
  type: Type,
): block is Of<Type> => block.type === type
