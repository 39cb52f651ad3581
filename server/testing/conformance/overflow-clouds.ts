import { claude, google, openAi, row, type OverflowRow } from './overflow'

const errorsOf = (message: string) => `The model returned the following errors: ${message}`

/** Texts of clouds and gateways, which serve models of others, for a prompt that is too long. */
export const overflowOfClouds: readonly OverflowRow[] = [
  row(
    ['Bedrock, Claude', 'bedrock', 400],
    { message: errorsOf('prompt is too long: 207848 tokens > 200000 maximum') },
    [200_000, 207_848],
  ),
  row(
    ['Bedrock, Claude without numbers', 'bedrock', 400],
    { message: errorsOf('Input is too long for requested model.') },
    [null, null],
  ),
  row(
    ['Bedrock, Nova', 'bedrock', 400],
    {
      message: errorsOf(
        'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
      ),
    },
    [null, null],
  ),
  row(
    ['Bedrock, Llama', 'bedrock', 400],
    {
      message: errorsOf(
        "This model's maximum context length is 131072 tokens. Please reduce the length of the prompt",
      ),
    },
    [131_072, null],
  ),
  row(
    ['Bedrock, Mistral', 'bedrock', 400],
    {
      message: errorsOf(
        'Prompt contains 33010 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      ),
    },
    [32_768, 33_010],
  ),
  row(
    ['Bedrock, Titan', 'bedrock', 400],
    {
      message:
        '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9875 ',
    },
    [8192, 9875],
  ),
  row(
    ['Vertex, Gemini', 'vertex', 400],
    google(
      'Unable to submit request because the input token count is 135538 but model only supports up to 32768. Reduce the input token count and try again.',
    ),
    [32_768, 135_538],
  ),
  row(
    ['Vertex, embeddings', 'vertex', 400],
    google(
      'Unable to submit request because the input token count is 34708 but the model supports up to 20000. Reduce the input token count and try again.',
    ),
    [20_000, 34_708],
  ),
  row(
    ['Vertex, Claude', 'vertex', 400],
    google('prompt is too long: 201000 tokens > 200000 maximum'),
    [200_000, 201_000],
  ),
  row(['Vertex, Claude without numbers', 'vertex', 413], claude('Prompt is too long'), [
    null,
    null,
  ]),
  row(
    ['Azure', 'azure', 400],
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens (149000 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.",
      { param: 'messages', code: 'context_length_exceeded' },
    ),
    [128_000, 150_000],
  ),
  row(
    ['Groq', 'groq', 400],
    openAi('Please reduce the length of the messages or completion.', {
      param: 'messages',
      code: 'context_length_exceeded',
    }),
    [null, null],
  ),
  row(
    ['Together', 'together', 422],
    openAi(
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
    ),
    [8193, 9512],
  ),
  row(
    ['Together, newer models', 'together', 400],
    openAi("The input (1000016 tokens) is longer than the model's context length (131072 tokens)."),
    [131_072, 1_000_016],
  ),
  row(
    ['Fireworks', 'fireworks', 400],
    openAi('The prompt is too long: 262377, model maximum context length: 262143'),
    [262_143, 262_377],
  ),
  row(
    ['DeepInfra', 'deepinfra', 500],
    { error: { message: 'Requested input length 99009 exceeds maximum input length 8192' } },
    [8192, 99_009],
  ),
  row(
    ['DeepInfra, vLLM', 'deepinfra', 400],
    openAi(
      "This model's maximum context length is 262144 tokens. However, your request has 1000010 input tokens. Please reduce the length of the input messages.",
    ),
    [262_144, 1_000_010],
  ),
  row(
    ['OpenRouter', 'openrouter', 400],
    {
      error: {
        message:
          "This endpoint's maximum context length is 32768 tokens. However, you requested about 56827 tokens (56811 of text input, 16 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
        code: 400,
        metadata: { provider_name: null },
      },
    },
    [32_768, 56_827],
  ),
  row(
    ['OpenRouter, what its provider said', 'openrouter', 400],
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: {
          raw: JSON.stringify(claude('prompt is too long: 213456 tokens > 200000 maximum')),
          provider_name: 'Anthropic',
        },
      },
    },
    [200_000, 213_456],
  ),
  row(
    ['OpenRouter, what its provider said as text', 'openrouter', 400],
    {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: 'Input is too long for requested model', provider_name: 'Amazon Bedrock' },
      },
    },
    [null, null],
  ),
  row(
    ['OpenRouter, Poolside', 'openrouter', 400],
    {
      error: {
        message: 'Input length 264373 exceeds the maximum allowed input length of 262112 tokens.',
        code: 400,
      },
    },
    [262_112, 264_373],
  ),
  row(
    ['Cerebras', 'cerebras', 400],
    {
      message:
        'Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
    [40_000, 42_328],
  ),
  row(
    ['SambaNova', 'sambanova', 400],
    openAi(
      'The maximum context length of DeepSeek-V3-0324 is 32768. However, answering your request will take 39732 tokens. Please reduce the length of the messages or the specified max_completion_tokens value.',
    ),
    [32_768, 39_732],
  ),
  row(
    ['Hugging Face', 'huggingface', 422],
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 1959 `inputs` tokens and 4000 `max_new_tokens`',
      error_type: 'validation',
    },
    [2048, 5959],
  ),
  row(
    ['NVIDIA', 'nvidia', 400],
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5021 tokens (4509 in the messages, 512 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
    },
    [4096, 5021],
  ),
  row(
    ['NVIDIA, embeddings', 'nvidia', 400],
    { error: 'Input length 548 exceeds maximum allowed token size 512' },
    [512, 548],
  ),
  row(
    ['SiliconFlow', 'siliconflow', 400],
    {
      code: 20_015,
      message: 'length of prompt_tokens (163280) must be less than max_seq_len (32768).',
      data: null,
    },
    [32_768, 163_280],
  ),
  row(
    ['Cloudflare', 'cloudflare', 413],
    {
      errors: [
        {
          message:
            'AiError: Ai: The estimated number of input and maximum output tokens (900047) exceeded this model context window limit (32000). (17851589)',
          code: 5021,
        },
      ],
      success: false,
      result: {},
      messages: [],
    },
    [32_000, 900_047],
  ),
  row(
    ['BytePlus', 'ark', 400],
    {
      error: {
        code: 'InvalidParameter',
        message: 'Total tokens of image and text exceed max message tokens. Request id: 0217',
        type: 'BadRequest',
      },
    },
    [null, null],
  ),
  row(
    ['Perplexity', 'perplexity', 400],
    {
      error: {
        message: 'The total length of all messages is too long.',
        type: 'too_many_prompt_tokens',
        code: 400,
      },
    },
    [null, null],
  ),
]
