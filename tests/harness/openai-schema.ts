import { hasFixtures, validate } from './fixtures'
import type { Fetch } from './recorder'

/** Holds every answer that passes through it against OpenAI's own description of its interface. */
export interface SchemaJudge {
  /** Use it in place of `fetch`; streams pass unbuffered. */
  fetch: Fetch
  /** Throws an error that lists what did not fit since the last call, and forgets it. */
  verify: () => void
}

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const names: Record<string, { whole: string; chunk?: string }> = {
  '/v1/chat/completions': {
    whole: 'CreateChatCompletionResponse',
    chunk: 'CreateChatCompletionStreamResponse',
  },
  '/v1/completions': { whole: 'CreateCompletionResponse', chunk: 'CreateCompletionResponse' },
  '/v1/embeddings': { whole: 'CreateEmbeddingResponse' },
  '/v1/responses': { whole: 'Response', chunk: 'ResponseStreamEvent' },
  '/v1/models': { whole: 'ListModelsResponse' },
}

const namesOf = (path: string) =>
  names[path.replace(/\/$/, '')] ??
  // The number of models is OpenRouter's.
  (path.startsWith('/v1/models/') && path !== '/v1/models/count' ? { whole: 'Model' } : undefined)

/**
 * The description knows no embeddings as text, no legacy choice that goes on, and no `system_fingerprint` that is null,
 * which clients of OpenRouter need.
 */
function withoutKnownGaps(schema: string, value: unknown): unknown {
  if (!isJson(value)) return value
  if (schema === 'CreateChatCompletionResponse' && value['system_fingerprint'] === null) {
    const { system_fingerprint: _fingerprint, ...rest } = value
    return rest
  }
  if (schema === 'CreateCompletionResponse' && Array.isArray(value['choices'])) {
    const choices = value['choices'].map((choice) =>
      isJson(choice) && choice['finish_reason'] === null
        ? { ...choice, finish_reason: 'stop' }
        : choice,
    )
    return { ...value, choices }
  }
  if (schema === 'CreateEmbeddingResponse' && Array.isArray(value['data'])) {
    const data = value['data'].map((item) =>
      isJson(item) && typeof item['embedding'] === 'string' ? { ...item, embedding: [0] } : item,
    )
    return { ...value, data }
  }
  return value
}

function problemsOf(schema: string, text: string): string[] {
  const value: unknown = JSON.parse(text)
  return validate(schema, withoutKnownGaps(schema, value)).map((what) => `${schema}: ${what}`)
}

/** Problems of each chunk; the frame that ends a failed stream is the recorder's to judge. */
const streamProblems = (schema: string, text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {') && !line.includes('"error":{'))
    .flatMap((line) => problemsOf(schema, line.slice('data: '.length)))

async function judge(
  path: string,
  response: Response,
  note: (problems: string[]) => void,
): Promise<Response> {
  const { status, statusText, headers, body } = response
  const schema = namesOf(path)
  if (!schema || !body) return response
  const init = { status, statusText, headers }
  if (!response.ok) {
    const text = await response.text()
    note(problemsOf('ErrorResponse', text))
    return new Response(text, init)
  }
  if (!headers.get('content-type')?.startsWith('text/event-stream')) {
    const text = await response.text()
    note(problemsOf(schema.whole, text))
    return new Response(text, init)
  }
  const decoder = new TextDecoder()
  let text = ''
  const reading = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      text += decoder.decode(bytes, { stream: true })
      controller.enqueue(bytes)
    },
    flush: () => note(streamProblems(schema.chunk ?? schema.whole, text)),
  })
  return new Response(body.pipeThrough(reading), init)
}

/** Starts a judge around `fetch`; without the description it lets everything pass. */
export function startSchemaJudge(fetch: Fetch): SchemaJudge {
  let found: string[] = []
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (!hasFixtures) return response
      const { pathname } = new URL(input instanceof Request ? input.url : input)
      return judge(pathname, response, (problems) => found.push(...problems))
    },
    verify() {
      const problems = found
      found = []
      if (problems.length > 0) throw new Error(`Not as described:\n${problems.join('\n')}`)
    },
  }
}
