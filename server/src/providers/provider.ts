import { z } from 'zod'
import { ImageOptions } from './image-options'
import { identifierFields } from './identifier-fields'
import { ResponsesFlags } from './responses/needs-responses'
import { taskTypes } from './task-type'

/** The protocols of providers. `openai` is relayed, the others are translated by an adapter. */
export const dialects = [
  'openai',
  'sandbox',
  'anthropic',
  'google',
  'vertex',
  'bedrock',
  'cohere',
  'azure',
] as const

/** Formats of images for embeddings: in parts as OpenRouter has them, as Voyage or as Jina has them. */
const imageFormats = ['parts', 'voyage', 'jina'] as const

const identifierList = z.array(z.enum(identifierFields)).optional()

const Range = z.tuple([z.number(), z.number()])

/**
 * The quirks of a provider that speaks the OpenAI format. Everything here is data, so that a new provider
 * is a row and its recordings, no code. All fields have the value of OpenAI itself by default.
 */
export const RelayOptions = z.strictObject({
  /** Path of each operation behind the base URL, where it is not OpenAI's. */
  paths: z
    .strictObject({
      chat: z.string(),
      completions: z.string(),
      embeddings: z.string(),
      moderations: z.string(),
      rerank: z.string(),
      images: z.string(),
      speech: z.string(),
      transcriptions: z.string(),
      translations: z.string(),
      models: z.string(),
      responses: z.string(),
    })
    .partial()
    .default({}),
  /** Headers sent with each request. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Top-level request fields that are left out. */
  drop: z.array(z.string()).default([]),
  /** Top-level request fields that have another name there; applied after `drop`. */
  rename: z.record(z.string(), z.string()).default({}),
  /** Numbers that are brought into a range: field -> [lowest, highest]. */
  clamp: z.record(z.string(), Range).default({}),
  /** Values that have another name there: field -> ours -> theirs. */
  values: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** `cache_control` on parts of a message is understood; else it is taken off. */
  cacheControl: z.boolean().default(false),
  /** Other places that accept it: tools, the whole request, and with a lifetime (`ttl`). */
  cacheControlExtras: z.array(z.enum(['tools', 'request', 'ttl'])).default([]),
  /** Google's `extra_content`, which signs calls and texts, is understood; else it is taken off. */
  extraContent: z.boolean().default(false),
  /** Fields of each message that are left out. */
  dropFromMessages: z.array(z.string()).default([]),
  /** Tool-call ids that are accepted; others are replaced by deterministic ones. */
  toolCallIds: z.enum(['any', 'nine_alphanumerics']).default('any'),
  /** The format of files in a message: as OpenAI has them, or as `document_url` parts. */
  files: z.enum(['file', 'document_url']).default('file'),
  /**
   * The treatment of `reasoning_content` on assistant turns of the history: left out, sent under a name, required in
   * every turn, or a part of the content (`thinking_part`).
   */
  historyReasoning: z
    .enum(['strip', 'reasoning_content', 'reasoning', 'required', 'thinking_part'])
    .default('strip'),
  /** Whether `reasoning`, OpenRouter's object, is understood; else `reasoning_effort` stands for it. */
  reasoningObject: z.boolean().default(false),
  /** Whether `completion_tokens` holds the reasoning tokens or they come on top. */
  reasoningTokens: z.enum(['inside', 'outside']).default('inside'),
  /**
   * The answer states the fee of its request, in `usage.cost.request_cost`: that is charged, and the price's own
   * is the most of it.
   */
  statesRequestFee: z.boolean().default(false),
  /** Whether `stream_options.include_usage` is understood. */
  streamUsage: z.boolean().default(true),
  /** Without effect, as every provider may do so; operators may have stored it. */
  endsWithoutDone: z.boolean().default(false),
  /** Chat models are served on the legacy completions path too. */
  legacyCompletions: z.boolean().default(false),
  /** Whether messages of role `developer` are understood; if not, they become `system`. */
  developerRole: z.boolean().default(true),
  /** Prefixes of models that take custom tools in chat; for others functions stand for them. */
  customToolModels: z.array(z.string()).default([]),
  /** The accepted form of a tool's `parameters`: `plain` wants an object at the root and no `$schema`. */
  toolSchemas: z.enum(['any', 'plain']).default('any'),
  /** Prefixes of models that all want `max_completion_tokens` and refuse sampling settings. */
  reasoningModels: z.array(z.string()).default([]),
  /** The top-level fields that those models refuse. */
  reasoningModelsDrop: z
    .array(z.string())
    .default([
      'temperature',
      'top_p',
      'stop',
      'presence_penalty',
      'frequency_penalty',
      'logit_bias',
      'logprobs',
      'top_logprobs',
    ]),
  /**
   * Prefixes of models that take some chat requests, or all, only as Responses, with the flags of those requests; a `*`
   * in one means any text.
   */
  responsesModels: z.record(z.string(), ResponsesFlags).default({}),
  /** Fields that name an end user or a prompt cache there: set for each account that shares a credential. */
  identifiers: z
    .strictObject({
      chat: identifierList,
      completions: identifierList,
      embeddings: identifierList,
      images: identifierList,
      responses: identifierList,
    })
    .default({}),
  /** Passes requests in the Responses format on in that format. */
  takesResponses: z.boolean().default(false),
  /** Prefixes of models to which it does not. */
  chatOnlyModels: z.array(z.string()).default([]),
  /** Prefixes of models that answer only as streams, which are then collected. */
  streamOnlyModels: z.array(z.string()).default([]),
  embeddings: z
    .strictObject({
      /** Inputs of one request. */
      batchLimit: z.int().min(1).default(2048),
      base64: z.boolean().default(true),
      tokenArrays: z.boolean().default(true),
      /** The name of `dimensions` there. */
      dimensionsField: z.string().default('dimensions'),
      /** Fields added unless the caller sent them. */
      defaults: z.record(z.string(), z.union([z.string(), z.boolean()])).default({}),
      /**
       * The field of a task type, and the words for it by the beginning of a model's name, of which the
       * longest decides. Null where no model has task types; without it they stay as they were sent.
       */
      tasks: z
        .strictObject({
          field: z.string(),
          words: z.record(z.string(), z.partialRecord(z.enum(taskTypes), z.string())),
        })
        .nullable()
        .optional(),
      /** Prefixes of models that read images, and the format in which they are sent. */
      images: z
        .strictObject({ models: z.array(z.string()), format: z.enum(imageFormats) })
        .optional(),
    })
    .prefault({}),
  /** Whether its models for moderation read images; texts of several parts are joined for those that do not. */
  moderationImages: z.boolean().default(true),
  /** The form of moderations: OpenAI's, or that of Azure AI Content Safety, with severities. */
  moderationFormat: z.enum(['openai', 'azure_content_safety']).default('openai'),
  /** The least severity, of 7, that is flagged where moderations have severities: the medium one by default. */
  moderationFlagSeverity: z.int().min(1).max(7).default(4),
  /** The form of requests to rank: Jina's, which most servers have, Voyage's, or that of Text Embeddings Inference. */
  rerankFormat: z.enum(['standard', 'voyage', 'tei']).default('standard'),
  speech: z
    .strictObject({
      /** The form of requests for speech: OpenAI's, which most servers have, or a vendor's own. */
      form: z.enum(['openai', 'deepgram', 'elevenlabs', 'mistral']).default('openai'),
      /** The most characters of a text; undefined where the provider alone limits it. */
      maxCharacters: z.int().min(1).optional(),
    })
    .prefault({}),
  /** The form of requests to transcribe: OpenAI's, which most servers have, or a vendor's own. */
  transcriptionFormat: z
    .enum(['openai', 'mistral', 'deepgram', 'elevenlabs', 'cloudflare', 'azure_speech'])
    .default('openai'),
  /** The least sound that a transcription is billed as, in seconds. */
  minAudioSeconds: z.number().min(0).max(3600).default(0),
  images: ImageOptions,
})
export type RelayOptions = z.infer<typeof RelayOptions>

/** A provider that serves models: a row of the registry, or one that an operator added. */
export interface Provider {
  /** First part of `<provider>/<model>`, `owned_by`, and `details.provider` of errors. */
  key: string
  name: string
  dialect: (typeof dialects)[number]
  /** Without a final slash; null where every connection brings its own. */
  baseUrl: string | null
  /** Placeholder in braces in `baseUrl` -> the environment variable whose value takes its place. */
  variables: Readonly<Record<string, string>>
  /** The header of the credential: `authorization` gets `Bearer `, or `authScheme`, any other header the bare secret. */
  authHeader: string
  /** The scheme of `authorization`, where that is not `Bearer`. */
  authScheme?: string
  /** A connection needs no credential. */
  keyless: boolean
  /** Environment variables that may hold a credential; the first one set is taken. */
  keyVariables: readonly string[]
  /** Variables that make a credential together, in this order, joined by colons; the last may be unset. */
  keyFields?: readonly string[]
  /** Those of `keyVariables` that may hold the path of a file with the credential. */
  keyFiles?: readonly string[]
  /** Options of the connection that the environment makes -> their variables. */
  optionVariables?: Readonly<
    Partial<Record<'region' | 'project' | 'location' | 'api_version' | 'prompt_caching', string>>
  >
  embeddings: 'yes' | 'no' | 'only'
  /** Whether generation and billing stop when Tollgate cuts the connection. `unknown` counts as `stops`. */
  abort: 'stops' | 'bills_all' | 'free' | 'unknown'
  website: string | null
  options: RelayOptions
}
