import { claude, openAi } from './overflow'
import { rowOf, tooHigh, type RefusalRow } from './refusal'

const row = rowOf('limit')

/** Requests beyond a limit of a service, but for prompts that are too long. */
export const refusedLimits: readonly RefusalRow[] = [
  row(
    ['OpenAI', 'openai', 'an output limit above its own'],
    [
      400,
      openAi(
        'max_tokens is too large: 200000. This model supports at most 64000 completion tokens, whereas you provided 200000.',
        { param: 'max_tokens', code: 'invalid_value' },
      ),
    ],
    tooHigh(64_000, 200_000),
  ),
  row(
    ['Anthropic', 'anthropic', 'an output limit above its own'],
    [
      400,
      claude(
        'max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5',
      ),
    ],
    tooHigh(64_000, 90_000),
  ),
  row(
    ['DashScope', 'dashscope', 'an output limit above its own'],
    [
      400,
      openAi('<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]'),
    ],
    tooHigh(8192, null),
  ),
  row(
    ['DeepSeek', 'deepseek', 'an output limit above its own'],
    [400, openAi('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]')],
    tooHigh(8192, null),
  ),
  row(
    ['Groq', 'groq', 'an output limit above its own'],
    [
      400,
      openAi(
        '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
        { param: 'max_tokens' },
      ),
    ],
    tooHigh(8192, null),
  ),
  row(
    ['Cohere', 'cohere', 'an output limit above its own'],
    [
      400,
      {
        message:
          'too many tokens: max tokens must be less than or equal to 4096, the maximum output length for this model - received 1000000.',
      },
    ],
    tooHigh(4096, 1_000_000),
  ),
  row(
    ['Groq', 'groq', 'more than a minute allows'],
    [
      413,
      openAi(
        'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 9512, please reduce your message size and try again.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    { code: 'provider_error', status: 503, retryable: false, cause: { status: 429 } },
  ),
  row(
    ['OpenAI', 'openai', 'more than a minute allows'],
    [
      429,
      openAi(
        'Request too large for gpt-5-nano on tokens per min (TPM): Limit 200000, Requested 480002. The input or output tokens must be reduced in order to run successfully.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    { code: 'provider_error', status: 503, retryable: false, cause: { status: 429 } },
  ),
  row(
    ['OpenAI', 'openai', 'busy'],
    [
      429,
      openAi(
        'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    { code: 'provider_error', status: 503, retryable: true, retryAfterSeconds: 4 },
  ),
]
