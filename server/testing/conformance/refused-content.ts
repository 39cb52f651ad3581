import { claude, google, openAi } from './overflow'
import { filtered, rowOf, type RefusalRow } from './refusal'

const row = rowOf('filter')

/** Requests that the filter of a service takes. */
export const refusedContent: readonly RefusalRow[] = [
  row(
    ['Azure', 'azure', 'its content filter'],
    [
      400,
      {
        error: {
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: {} },
        },
      },
    ],
    filtered,
  ),
  row(
    ['Anthropic', 'anthropic', 'its content filter'],
    [400, claude('Output blocked by content filtering policy')],
    filtered,
  ),
  row(
    ['Anthropic', 'anthropic', 'its content filter, inside a 200'],
    [200, claude('Output blocked by content filtering policy')],
    filtered,
  ),
  row(
    ['OpenAI', 'openai', 'its content filter'],
    [
      400,
      openAi('Your request was rejected as a result of our safety system.', {
        code: 'content_policy_violation',
      }),
    ],
    filtered,
  ),
  row(
    ['OpenAI', 'openai', 'its policy on use'],
    [
      400,
      openAi(
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting',
        { code: 'invalid_prompt' },
      ),
    ],
    filtered,
  ),
  row(
    ['OpenAI', 'openai', 'its policy on security'],
    [
      400,
      openAi('This request has been flagged for possible cybersecurity risk.', {
        code: 'cyber_policy',
      }),
    ],
    filtered,
  ),
  row(
    ['Vertex', 'vertex', 'its content filter'],
    [
      400,
      google(
        "The prompt could not be submitted. This prompt contains words that violate Vertex AI's usage guidelines.",
      ),
    ],
    filtered,
  ),
  row(
    ['xAI', 'xai', 'its content filter'],
    [
      403,
      {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
      },
    ],
    filtered,
  ),
  row(
    ['OpenRouter', 'openrouter', 'its content filter'],
    [
      403,
      {
        error: {
          code: 403,
          message: 'The chosen model requires moderation.',
          metadata: { reasons: ['violence'], flagged_input: 'text', provider_name: 'OpenAI' },
        },
      },
    ],
    filtered,
  ),
  row(
    ['DashScope', 'dashscope', 'its content filter'],
    [
      400,
      openAi('Input data may contain inappropriate content.', {
        type: 'data_inspection_failed',
        code: 'data_inspection_failed',
      }),
    ],
    filtered,
  ),
  row(
    ['DeepSeek', 'deepseek', 'its content filter'],
    [400, openAi('Content Exists Risk', { code: 'invalid_request_error' })],
    filtered,
  ),
  row(
    ['Moonshot', 'moonshot', 'its content filter'],
    [
      400,
      openAi('The request was rejected because it was considered high risk', {
        type: 'content_filter',
      }),
    ],
    filtered,
  ),
  row(
    ['Zhipu', 'zai', 'its content filter'],
    [
      400,
      {
        error: {
          code: '1301',
          message:
            'System detected potentially unsafe or sensitive content in input or generation.',
        },
      },
    ],
    filtered,
  ),
]
