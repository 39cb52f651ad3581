import { claude, google, openAi } from './overflow'
import { connections, rowOf, type RefusalRow } from './refusal'

const row = rowOf('account')

/** Keys, accounts and models that a service does not serve. */
export const refusedAccounts: readonly RefusalRow[] = [
  row(
    ['OpenAI', 'openai', 'a wrong key'],
    [
      401,
      openAi(
        'Incorrect API key provided: sk-ab***yz. You can find your API key at https://platform.openai.com/account/api-keys.',
        { code: 'invalid_api_key' },
      ),
    ],
    connections(
      401,
      'Incorrect API key provided: [secret]. You can find your API key at [address]',
    ),
  ),
  row(
    ['DeepSeek', 'deepseek', 'a wrong key'],
    [
      401,
      openAi('Authentication Fails, Your api key: ****cdef is invalid', {
        type: 'authentication_error',
      }),
    ],
    connections(401, 'Authentication Fails, Your api key: [secret] is invalid'),
  ),
  row(
    ['xAI', 'xai', 'a wrong key, as a 400'],
    [
      400,
      {
        code: 'Client specified an invalid argument',
        error: 'Incorrect API key provided: xa***H4. You can obtain an API key from the console.',
      },
    ],
    connections(
      401,
      'Incorrect API key provided: [secret]. You can obtain an API key from the console.',
    ),
  ),
  row(
    ['Google', 'google', 'a wrong key, as a 400'],
    [400, google('API key not valid. Please pass a valid API key.')],
    connections(401, 'API key not valid. Please pass a valid API key.'),
  ),
  row(
    ['Anthropic', 'anthropic', 'an empty account, as a 400'],
    [400, claude('Your credit balance is too low to access the Anthropic API.')],
    connections(402, 'Your credit balance is too low to access the Anthropic API.'),
  ),
  row(
    ['OpenAI', 'openai', 'an empty account'],
    [
      429,
      openAi('You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
    ],
    connections(
      429,
      'You exceeded your current quota, please check your plan and billing details.',
    ),
  ),
  row(
    ['Zhipu', 'zai', 'an empty account'],
    [
      429,
      {
        error: {
          code: '1113',
          message: 'Insufficient balance or no resource package. Please recharge.',
        },
      },
    ],
    connections(429, 'Insufficient balance or no resource package. Please recharge.'),
  ),
  row(
    ['DashScope', 'dashscope', 'an empty account, as a 400'],
    [
      400,
      openAi('Access denied, please make sure your account is in good standing.', {
        type: 'Arrearage',
        code: 'Arrearage',
      }),
    ],
    connections(402, 'Access denied, please make sure your account is in good standing.'),
  ),
  row(
    ['DeepSeek', 'deepseek', 'a model that is not there, as a 400'],
    [400, openAi('Model Not Exist', { code: 'invalid_request_error' })],
    connections(404, 'Model Not Exist'),
  ),
  row(
    ['OpenRouter', 'openrouter', 'a model that is not there, as a 400'],
    [400, { error: { message: 'qwen/qwen9 is not a valid model ID', code: 400 } }],
    connections(404, 'qwen/qwen9 is not a valid model ID'),
  ),
  row(
    ['Bedrock', 'bedrock', 'a model that is not there, as a 400'],
    [400, { message: 'The provided model identifier is invalid.' }],
    connections(404, 'The provided model identifier is invalid.'),
  ),
  row(
    ['Voyage', 'voyage', 'a model that is not there, as a 400'],
    [
      400,
      {
        detail:
          "Model voyage-9 is not supported. Supported models are ['voyage-4', 'voyage-4-lite'].",
      },
    ],
    connections(
      404,
      "Model voyage-9 is not supported. Supported models are ['voyage-4', 'voyage-4-lite'].",
    ),
  ),
]
