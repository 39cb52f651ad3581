import { answerOf } from '../answer'
import { type Behaviour, type Call, numberOf } from '../call'
import { deliver } from '../deliver'
import { isMessages, messagesError } from '../messages'

interface Refusal {
  type: string
  code: string | null
  message: string
  param?: string
}

/** An error body in OpenAI's words. */
export const errorBody = ({ type, code, message, param }: Refusal) => ({
  error: { message, type, param: param ?? null, code },
})

const knownTypes: Record<number, Refusal> = {
  400: {
    type: 'invalid_request_error',
    code: null,
    message: 'The fake provider refuses this request.',
  },
  401: {
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: 'Incorrect API key provided.',
  },
  403: { type: 'invalid_request_error', code: 'unsupported_country', message: 'Not allowed here.' },
  404: {
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: 'The model does not exist.',
  },
  429: {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests.',
  },
}

const serverError: Refusal = {
  type: 'server_error',
  code: null,
  message: 'The fake provider failed.',
}

/** An error body in the words of the format that was asked in. */
export const refusalOf = (call: Call, status: number, refusal: Refusal) =>
  isMessages(call) ? messagesError(status, refusal.message) : errorBody(refusal)

const refuse = (call: Call, status: number, headers: Record<string, string> = {}) =>
  call.reply.json(status, refusalOf(call, status, knownTypes[status] ?? serverError), headers)

const ok = (call: Call) => deliver(call, answerOf(call))

/** Down for so many seconds from the first call of the model, then well. */
const storm: Behaviour = (call) =>
  call.age() < numberOf(call, 60) * 1000 ? refuse(call, 503) : ok(call)

/** Up and down by turns of so many seconds, up first. */
const flap: Behaviour = (call) =>
  Math.floor(call.age() / (numberOf(call, 5) * 1000)) % 2 === 0 ? ok(call) : refuse(call, 503)

const credentialOf = ({ received: { headers } }: Call) =>
  headers['authorization'] ?? headers['x-api-key'] ?? headers['api-key'] ?? 'none'

/** Refuses, and repeats the credential it was called with, as some providers do. */
const canaryEcho: Behaviour = async (call) => {
  const credential = credentialOf(call)
  const message = `Incorrect API key provided: ${credential}. Check your key.`
  await call.reply.json(
    401,
    refusalOf(call, 401, { type: 'invalid_request_error', code: 'invalid_api_key', message }),
    {
      'x-echo': credential,
    },
  )
}

const contextError: Behaviour = (call) => {
  const { reply, attempt } = call
  if (isMessages(call)) {
    return reply.json(400, messagesError(400, 'prompt is too long: 9000 tokens > 8192 maximum'))
  }
  const message = `This model's maximum context length is 8192 tokens, your messages have ${attempt.promptTokens}.`
  const code = 'context_length_exceeded'
  return reply.json(
    400,
    errorBody({ type: 'invalid_request_error', code, message, param: 'messages' }),
  )
}

const fieldError: Behaviour = ({ reply }) => {
  const message = "Unsupported value: 'temperature' does not support this value with this model."
  const code = 'unsupported_value'
  return reply.json(
    400,
    errorBody({ type: 'invalid_request_error', code, message, param: 'temperature' }),
  )
}

export const statuses: Record<string, Behaviour> = {
  status: (call) => refuse(call, numberOf(call, 500)),
  '429': (call) => refuse(call, 429, call.argument === '' ? {} : { 'retry-after': call.argument }),
  '302': async ({ reply, argument }) => {
    await reply.whole(302, '', { location: argument })
  },
  '503-storm': storm,
  flap,
  'context-error': contextError,
  'field-error': fieldError,
  'canary-echo': canaryEcho,
}
