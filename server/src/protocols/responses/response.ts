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
  const { status, output, incomplete, error, usage } = progress
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    status,
    background: false,
    error: error ?? null,
    incomplete_details: incomplete ? { reason: incomplete } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: head.model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: toReasoning(request.reasoning),
    store: false,
    temperature: request.temperature ?? null,
    text: toText(request.text),
    tool_choice: request.tool_choice ?? 'auto',
    tools: (request.tools ?? []).map(toTool),
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    metadata: request.metadata ?? {},
    ...toNames(request),
    ...(usage && { usage: toUsage(usage) }),
  }
}

/** Names that the request gave; absent where it gave none, as they may not be null. */
function toNames(request: ResponsesRequest): JsonObject {
  const { user, safety_identifier, prompt_cache_key } = request
  return {
    ...(user && { user }),
    ...(safety_identifier && { safety_identifier }),
    ...(prompt_cache_key && { prompt_cache_key }),
  }
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
