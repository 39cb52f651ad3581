import { z } from 'zod'

/** Documented answers of the model endpoints. Source: contract 4. */
const Usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().optional().describe('USD; only where the request has `usage.include` true'),
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
    system_fingerprint: z.string().nullable(),
    provider: z
      .string()
      .describe('The provider that served the answer: its key, or the name in its own answer'),
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
        system_fingerprint: null,
        provider: 'sandbox',
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
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
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
    name: z.string(),
    mode: z
      .string()
      .describe(
        'The kind of model, as LiteLLM names it: `chat`, `image_generation`, `audio_speech`.',
      ),
    canonical_slug: z.string(),
    context_length: z
      .int()
      .nullable()
      .describe(
        'Tokens of prompt and answer together; of the maximum input for models that do not write text.',
      ),
    max_output_tokens: z.int().nullable(),
    architecture: z.object({
      modality: z.string(),
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      instruct_type: z.string().nullable(),
    }),
    pricing: z
      .record(z.string(), z.string())
      .describe(
        'USD a token as text: `prompt` (a character, of speech models that charge those), `completion`, and other rates under the names of OpenRouter, or of LiteLLM where it has none; `image`, `request` and `web_search` per piece. "-1" where the price is not known before the call. `GET /api/models` has tiers.',
      ),
    top_provider: z.object({
      context_length: z.int().nullable(),
      max_completion_tokens: z.int().nullable(),
      is_moderated: z.boolean(),
    }),
    per_request_limits: z
      .object({ prompt_tokens: z.int(), completion_tokens: z.int() })
      .nullable()
      .describe('Set if the maximum prompt is shorter than the context.'),
    supported_parameters: z.array(z.string()),
    supported_voices: z.null(),
    default_parameters: z.null(),
    expiration_date: z
      .string()
      .nullable()
      .describe('The day on which the provider switches the model off, as far as it is announced.'),
    links: z.object({ details: z.string() }),
    unavailable: z
      .object({
        reason: z.enum([
          'no_price',
          'no_connection',
          'platform_connections_off',
          'mapped_to_nothing',
          'not_allowed_by_key',
          'retired',
        ]),
        message: z.string(),
      })
      .nullable()
      .optional()
      .describe('With `all=true`: the reason why you cannot call it now; null if you can.'),
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
        name: 'Sandbox Echo',
        mode: 'chat',
        canonical_slug: 'sandbox/echo',
        context_length: 128_000,
        max_output_tokens: 4096,
        architecture: {
          modality: 'text->text',
          input_modalities: ['text'],
          output_modalities: ['text'],
          tokenizer: 'Other',
          instruct_type: null,
        },
        pricing: { prompt: '0', completion: '0' },
        top_provider: { context_length: 128_000, max_completion_tokens: 4096, is_moderated: false },
        per_request_limits: null,
        supported_parameters: ['max_tokens', 'temperature', 'tools', 'tool_choice'],
        supported_voices: null,
        default_parameters: null,
        expiration_date: null,
        links: { details: '/api/models/sandbox/echo' },
      },
    ],
  })

export const ModelList = z
  .object({
    object: z.literal('list'),
    total_count: z.int(),
    links: z.object({ next: z.null().describe('Always null: the list is not paged.') }),
    data: z.array(ListedModel),
  })
  .meta({ ref: 'ModelList' })

export const ModelCount = z
  .object({ data: z.object({ count: z.int() }) })
  .meta({ ref: 'ModelCount', examples: [{ data: { count: 4 } }] })
