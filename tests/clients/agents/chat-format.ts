import { listOf, objectOf, textIn, type TurnRequest, type Turn } from './scenes'
import { sse, type Format } from './format'

const head = { id: 'chatcmpl-1', created: 1_795_000_000, model: 'fake' }
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }

function read(body: Record<string, unknown>): TurnRequest {
  const messages = listOf(body['messages'])
  const textsOf = (role: string) =>
    messages.filter((message) => message['role'] === role).map(({ content }) => textIn(content))
  const functions = listOf(body['tools']).map((tool) => objectOf(tool['function']))
  return {
    text: textsOf('user').join('\n'),
    results: textsOf('tool'),
    tools: functions.map(({ name, parameters }) => ({
      name: String(name),
      parameters: objectOf(parameters),
    })),
    isStreamed: body['stream'] === true,
  }
}

const messageOf = (turn: Turn) =>
  'text' in turn
    ? { role: 'assistant', content: turn.text }
    : {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            index: 0,
            id: `call_${crypto.randomUUID()}`,
            type: 'function',
            function: { name: turn.tool.name, arguments: JSON.stringify(turn.input) },
          },
        ],
      }

function write(turn: Turn, isStreamed: boolean): Response {
  const reason = 'text' in turn ? 'stop' : 'tool_calls'
  const message = messageOf(turn)
  if (!isStreamed) {
    const choices = [{ index: 0, message, finish_reason: reason, logprobs: null }]
    return Response.json({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: object, finish: string | null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const last = { ...head, object: 'chat.completion.chunk', choices: [], usage }
  return sse(
    [chunk(message, null), chunk({}, reason), last].map((data) => ({ data })),
    true,
  )
}

const refusal = (message: string, code: string | null) =>
  Response.json(
    { error: { message, type: 'invalid_request_error', param: null, code } },
    { status: 400 },
  )

/** Returns OpenAI's error for a request that only other vendors accept. */
function fault(body: Record<string, unknown>): Response | undefined {
  const { user } = body
  if (typeof user === 'string' && user.length > 64) {
    return refusal(
      `Invalid 'user': string too long. Expected at most 64, got ${user.length}.`,
      null,
    )
  }
  for (const tool of listOf(body['tools'])) {
    const { name, parameters } = objectOf(tool['function'])
    if (!/^[\w-]{1,64}$/.test(String(name))) {
      return refusal(`Invalid 'tools[0].function.name': "${String(name)}".`, null)
    }
    const schema = objectOf(parameters)
    if (schema['type'] === 'object' && schema['properties'] === undefined) {
      return refusal(
        'Invalid schema: object schema missing properties.',
        'invalid_function_parameters',
      )
    }
  }
  return undefined
}

/** Chat completions of OpenAI. */
export const chatFormat: Format = {
  read,
  write,
  fault,
  tooLong: () =>
    refusal(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in " +
        '160000 tokens. Please reduce the length of the messages.',
      'context_length_exceeded',
    ),
}
