import { z } from 'zod'

/** Documented answers of the model endpoints. Source: contract 4. */
const Usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})

const ToolCall = z.discriminatedUnion('type', [
  z.looseObject({
    id: z.string(),
    type: z.literal('function'),
    function: z.looseObject({ name: z.string(), arguments: z.string() }),
  }),
  z.looseObject({
    id: z.string(),
    type: z.literal('custom'),
    custom: z.looseObject({ name: z.string(), input: z.string() }),
  }),
])

const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

export const ChatCompletion = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          refusal: z.string().nullable(),
          tool_calls: z.array(ToolCall).optional(),
        }),
        logprobs: z.looseObject({}).nullable(),
        finish_reason: FinishReason,
      }),
    ),
    usage: Usage,
  })
  .meta({
    ref: 'ChatCompletion',
    examples: [
      {
        id: 'chatcmpl-01m7zbr7rr3rrzfbtxk7716g95',
        object: 'chat.completion',
        created: 1795275104,
        model: 'sandbox/echo',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello!', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    ],
  })

export const TextCompletion = z
  .looseObject({
    id: z.string(),
    object: z.literal('text_completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        text: z.string(),
        index: z.int(),
        logprobs: z.looseObject({}).nullable(),
        finish_reason: z.enum(['stop', 'length', 'content_filter']),
      }),
    ),
    usage: Usage,
  })
  .meta({
    ref: 'TextCompletion',
    examples: [
      {
        id: 'cmpl-01m7zbr7rr3rrzfbtxk7716g95',
        object: 'text_completion',
        created: 1795275104,
        model: 'sandbox/echo',
        choices: [{ text: 'Once upon a time', index: 0, logprobs: null, finish_reason: 'stop' }],
        usage: { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 },
      },
    ],
  })

export const EmbeddingList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({
    ref: 'EmbeddingList',
    examples: [
      {
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: [0.0123, -0.0456, 0.0789] }],
        model: 'sandbox/embedding',
        usage: { prompt_tokens: 2, total_tokens: 2 },
      },
    ],
  })

export const ListedModel = z
  .object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    permission: z.array(z.unknown()),
    root: z.string(),
    parent: z.string().nullable(),
    unavailable: z
      .object({
        reason: z.enum([
          'no_price',
          'no_connection',
          'platform_connections_off',
          'mapped_to_nothing',
          'not_allowed_by_key',
        ]),
        message: z.string(),
      })
      .nullable()
      .optional()
      .describe('With `all=true`: why you cannot call it now, null where you can.'),
  })
  .meta({
    ref: 'Model',
    examples: [
      {
        id: 'sandbox/echo',
        object: 'model',
        created: 1767225600,
        owned_by: 'sandbox',
        permission: [],
        root: 'echo',
        parent: null,
      },
    ],
  })

export const ModelList = z
  .object({ object: z.literal('list'), data: z.array(ListedModel) })
  .meta({ ref: 'ModelList' })
