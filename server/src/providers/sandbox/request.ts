import { z } from 'zod'
import { SandboxRefusal } from './refusal'

const Limit = z.int().min(0).nullish()
const StreamOptions = z.looseObject({ include_usage: z.boolean().nullish() }).nullish()
const Stop = z.union([z.string(), z.array(z.string().min(1)).max(4)]).nullish()

const shared = {
  model: z.string(),
  n: z.int().min(1).max(8).nullish(),
  stop: Stop,
  stream: z.boolean().nullish(),
  stream_options: StreamOptions,
  max_tokens: Limit,
}

const Part = z.looseObject({ type: z.string(), text: z.string().optional() })
const SandboxMessage = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(Part)]).nullish(),
})
export type SandboxMessage = z.infer<typeof SandboxMessage>

const SandboxTool = z.looseObject({
  type: z.string(),
  function: z.looseObject({ name: z.string(), parameters: z.unknown() }).optional(),
})
export type SandboxTool = z.infer<typeof SandboxTool>

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.string(), function: z.looseObject({ name: z.string() }).optional() }),
])

const ResponseFormat = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  json_schema: z.looseObject({ schema: z.unknown() }).optional(),
})

/** The fields of `POST /chat/completions` that the sandbox reads. */
export const SandboxChatRequest = z.looseObject({
  ...shared,
  messages: z.array(SandboxMessage).min(1),
  max_completion_tokens: Limit,
  tools: z.array(SandboxTool).nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: ResponseFormat.nullish(),
})
export type SandboxChatRequest = z.infer<typeof SandboxChatRequest>

const textOnly = 'Send a non-empty string or an array of them: token ids are not supported here.'
const Text = z.string().min(1)

/** The fields of `POST /completions`. */
export const SandboxCompletionRequest = z.looseObject({
  ...shared,
  prompt: z.union([Text, z.array(Text).min(1).max(128)], { error: textOnly }),
  echo: z.boolean().nullish(),
})
export type SandboxCompletionRequest = z.infer<typeof SandboxCompletionRequest>

/** The fields of `POST /embeddings`. */
export const EmbeddingsRequest = z.looseObject({
  model: z.string(),
  input: z.union([Text, z.array(Text).min(1).max(2048)], { error: textOnly }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).max(256).nullish(),
})
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>

/** The fields of `POST /moderations`. */
export const SandboxModerationRequest = z.looseObject({
  model: z.string(),
  input: z.union([Text, z.array(Text).min(1).max(2048), z.array(Part).min(1)]),
})

/** The fields of `POST /rerank`. */
export const SandboxRerankRequest = z.looseObject({
  model: z.string(),
  query: Text,
  documents: z.array(Text).min(1).max(2048),
  top_n: z.int().min(1).nullish(),
})

/** The fields of `POST /audio/speech`. */
export const SandboxSpeechRequest = z.looseObject({
  model: z.string(),
  input: Text.max(4096),
  speed: z.number().min(0.25).max(4).nullish(),
  response_format: z.enum(['wav', 'pcm'], { error: 'The sandbox makes wav and pcm.' }).nullish(),
})

/** The fields of `POST /audio/transcriptions`, whose file is described. */
export const SandboxTranscriptionRequest = z.looseObject({
  model: z.string(),
  file: z.looseObject({ name: z.string(), bytes: z.int() }),
  seconds: z.number(),
  response_format: z.string().nullish(),
})

/** The fields of `POST /images/generations`. */
export const SandboxImageRequest = z.looseObject({
  model: z.string(),
  /** Absent for variations of an image. */
  prompt: Text.optional(),
  n: z.int().min(1).max(10).nullish(),
  size: z.string().nullish(),
})

/** `body` as `Schema` has it. Throws a 400 `Refusal` that names the first field at fault. */
export function parse<Schema extends z.ZodType>(Schema: Schema, body: unknown): z.infer<Schema> {
  const result = Schema.safeParse(body)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  if (!issue) throw new SandboxRefusal('The body is not valid.')
  const param = issue.path.join('.') || null
  throw new SandboxRefusal(param ? `${param}: ${issue.message}` : issue.message, { param })
}
