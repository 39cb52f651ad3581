import { claude, google, openAi } from './overflow'
import { rejected, rowOf, type RefusalRow } from './refusal'

const row = rowOf('request')

/** Requests that a service finds wrong. */
export const refusedRequests: readonly RefusalRow[] = [
  row(
    ['OpenAI', 'openai', 'a wrong request, by its field'],
    [
      400,
      openAi(
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 200 instead.",
        { param: 'temperature', code: 'decimal_above_max_value' },
      ),
    ],
    rejected(
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 200 instead.",
      'temperature',
    ),
  ),
  row(
    ['OpenAI', 'openai', 'a wrong request, without a field'],
    [400, openAi('We could not parse the JSON body of your request.')],
    rejected('We could not parse the JSON body of your request.'),
  ),
  row(
    ['Mistral', 'mistral', 'a wrong request, by a list of problems'],
    [
      422,
      {
        object: 'error',
        message: {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'messages', 0, 'user', 'name'],
              msg: 'Extra inputs are not permitted',
              input: 'ada',
            },
          ],
        },
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    ],
    rejected('messages.0.user.name: Extra inputs are not permitted', 'messages.0.user.name'),
  ),
  row(
    ['FastAPI servers', 'custom', 'a wrong request, by a list of problems'],
    [
      422,
      {
        detail: [
          {
            loc: ['body', 'top_k'],
            msg: 'value is not a valid integer',
            type: 'type_error.integer',
          },
          { loc: ['body', 'tools', 0], msg: 'field required', type: 'value_error.missing' },
        ],
      },
    ],
    rejected('top_k: value is not a valid integer; tools.0: field required'),
  ),
  row(
    ['Anthropic', 'anthropic', 'a wrong request, in a message'],
    [
      400,
      claude(
        'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after',
      ),
    ],
    rejected(
      'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after',
      'messages',
    ),
  ),
  row(
    ['Anthropic', 'anthropic', 'a body that is too large'],
    [
      413,
      {
        type: 'error',
        error: {
          type: 'request_too_large',
          message: 'Request exceeds the maximum allowed number of bytes.',
        },
      },
    ],
    rejected('Request exceeds the maximum allowed number of bytes.'),
  ),
  row(
    ['Google', 'google', 'a wrong request'],
    [400, google('Function calling is not enabled for this model.')],
    rejected('Function calling is not enabled for this model.'),
  ),
  row(
    ['Bedrock', 'bedrock', 'a wrong request'],
    [400, { message: 'A conversation must start with a user message.' }],
    rejected('A conversation must start with a user message.'),
  ),
  row(
    ['Cohere', 'cohere', 'a wrong request'],
    [400, { id: '7e1', message: 'invalid request: message must be at least 1 token long' }],
    rejected('invalid request: message must be at least 1 token long'),
  ),
]
