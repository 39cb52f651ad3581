import type { ResponsesRequest } from './request'
import type { FinishReason } from '../../wire/finish-reason'
import type { JsonObject } from '../../wire/json-body'
import { completionTokens, promptTokens, type Usage } from '../../wire/usage'

/** The fields at the head of a Response. */
export interface Head {
  id: string
  /** Unix seconds. */
  created: number
  model: string
}

/** The state of a Response, with its output so far. */
export interface Progress {
  status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed'
  output: JsonObject[]
  incomplete?: 'max_output_tokens' | 'content_filter' | undefined
  error?: JsonObject
  usage?: Usage | undefined
  /** Unix seconds. */
  completedAt?: number
}

/** Translates a finish reason into the status of a Response. */
export function endOf(reason: FinishReason): Pick<Progress, 'incomplete'> & {
  status: 'completed' | 'incomplete'
} {
  if (reason === 'length') return { status: 'incomplete', incomplete: 'max_output_tokens' }
  if (reason === 'content_filter') return { status: 'incomplete', incomplete: 'content_filter' }
  return { status: 'completed' }
}

/**
 * Returns a Response with all fields that its description requires. It repeats the settings of the
 * request.
 */
export function toResponse(request: ResponsesRequest, head: Head, progress: Progress): JsonObject {
  const { status, output, incomplete, error, usage, completedAt } = progress
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    completed_at: completedAt ?? null,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    model: head.model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: toReasoning(request.reasoning),
    store: false,
    text: toText(request.text),
    tool_choice: request.tool_choice ?? 'auto',
    tools: (request.tools ?? []).map(toTool),
    truncation: 'disabled',
    metadata: request.metadata ?? {},
    // Unlike the others it may not be null.
    ...(request.user && { user: request.user }),
    ...toNullable(request),
    ...unsettable,
    ...(usage && { usage: toUsage(usage) }),
  }
}

const nullable = [
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'safety_identifier',
  'prompt_cache_key',
] as const

/** Returns the settings that are null where the request does not have them. */
const toNullable = (request: ResponsesRequest): JsonObject =>
  Object.fromEntries(nullable.map((name) => [name, request[name] ?? null]))

/** Settings that a translated request does not have, as OpenAI shows them where they are absent. */
const unsettable = {
  frequency_penalty: 0,
  presence_penalty: 0,
  top_logprobs: 0,
  max_tool_calls: null,
  service_tier: null,
}

const summaries = new Set(['auto', 'concise', 'detailed'])

const toReasoning = (reasoning: ResponsesRequest['reasoning']): JsonObject => {
  const summary = reasoning?.['summary']
  return {
    effort: reasoning?.['effort'] ?? null,
    summary: typeof summary === 'string' && summaries.has(summary) ? summary : null,
  }
}

const toText = (textOptions: ResponsesRequest['text']): JsonObject => ({
  format: textOptions?.['format'] ?? { type: 'text' },
  ...(typeof textOptions?.['verbosity'] === 'string' && { verbosity: textOptions['verbosity'] }),
})

const toTool = (tool: JsonObject): JsonObject =>
  tool['type'] === 'function' ? { strict: null, parameters: null, ...tool } : { ...tool }

const toUsage = (usage: Usage): JsonObject => {
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrite,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}
