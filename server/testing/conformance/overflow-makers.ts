import { claude, google, openAi, row, type OverflowRow } from './overflow'

/** Texts of providers of their own models for a prompt that is too long. */
export const overflowOfMakers: readonly OverflowRow[] = [
  row(
    ['OpenAI', 'openai', 400],
    openAi(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 149767 tokens. Please reduce the length of the messages.",
      { param: 'messages', code: 'context_length_exceeded' },
    ),
    [128_000, 149_767],
  ),
  row(
    ['OpenAI, without a code', 'openai', 400],
    openAi(
      "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (10346 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    ),
    [8191, 10_346],
  ),
  row(
    ['OpenAI, Responses', 'openai', 400],
    openAi(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      { param: 'input', code: 'context_length_exceeded' },
    ),
    [null, null],
  ),
  row(
    ['OpenAI, the same without a code', 'openai', 400],
    openAi('Your input exceeds the context window of this model.'),
    [null, null],
  ),
  row(
    ['OpenAI, the newest models', 'openai', 400],
    openAi(
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 301213 tokens. Please reduce the length of the messages.',
    ),
    [272_000, 301_213],
  ),
  row(
    ['OpenAI, embeddings', 'openai', 400],
    openAi("Invalid 'input[0]': maximum input length is 8192 tokens."),
    [8192, null],
  ),
  row(
    ['OpenAI, many embeddings', 'openai', 400],
    openAi("Invalid 'input': Requested 411211 tokens, max 300000 tokens per request", {
      type: 'max_tokens_per_request',
      code: 'max_tokens_per_request',
    }),
    [300_000, 411_211],
  ),
  row(
    ['Anthropic', 'anthropic', 400],
    claude('prompt is too long: 213462 tokens > 200000 maximum'),
    [200_000, 213_462],
  ),
  row(
    ['Anthropic, with the output limit', 'anthropic', 400],
    claude(
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
    [200_000, 209_573],
  ),
  row(['Anthropic, without numbers', 'anthropic', 413], claude('Prompt is too long'), [null, null]),
  row(
    ['Google', 'google', 400],
    google(
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
    ),
    [1_048_576, 1_196_265],
  ),
  row(
    ['Google, without the count', 'google', 400],
    google('The input token count exceeds the maximum number of tokens allowed (65536).'),
    [65_536, null],
  ),
  row(
    ['Google, in an array', 'google', 400],
    [google('The input token count exceeds the maximum number of tokens allowed 1048576.')],
    [1_048_576, null],
  ),
  row(
    ['Cohere', 'cohere', 400],
    {
      message:
        'too many tokens: size limit exceeded by 168512 tokens. Try using shorter or fewer inputs. The limit for this model is 132000 tokens.',
    },
    [132_000, 300_512],
  ),
  row(
    ['Cohere, older models', 'cohere', 400],
    {
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt, or enabling prompt truncating.',
    },
    [4081, 4292],
  ),
  row(
    ['Mistral', 'mistral', 400],
    {
      object: 'error',
      message:
        'Prompt contains 170397 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
      type: 'invalid_request_invalid_args',
      param: null,
      code: '3051',
      raw_status_code: 400,
    },
    [131_072, 170_397],
  ),
  row(
    ['Mistral, newer models', 'mistral', 400],
    { object: 'error', message: 'Prompt 262280 > 262144 maximum context length' },
    [262_144, 262_280],
  ),
  row(
    ['Mistral, embeddings', 'mistral', 400],
    {
      object: 'error',
      message: 'Too many tokens in batch. Max is 16384 got 17555',
      type: 'invalid_request_error',
    },
    [16_384, 17_555],
  ),
  row(
    ['xAI', 'xai', 400],
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    [131_072, 537_812],
  ),
  row(
    ['DeepSeek', 'deepseek', 400],
    openAi(
      "This model's maximum context length is 65536 tokens. However, you requested 70123 tokens (62123 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
      { code: 'invalid_request_error' },
    ),
    [65_536, 70_123],
  ),
  row(
    ['Moonshot', 'moonshot', 400],
    openAi('Invalid request: Your request exceeded model token limit: 262144 (requested: 274613)'),
    [262_144, 274_613],
  ),
  row(
    ['Moonshot, without the count', 'moonshot', 400],
    openAi('Your request exceeded model token limit: 8192'),
    [8192, null],
  ),
  row(['Moonshot, as documented', 'moonshot', 400], openAi('Input token length too long'), [
    null,
    null,
  ]),
  row(['Zhipu', 'zai', 400], { error: { code: '1261', message: 'Prompt exceeds max length' } }, [
    null,
    null,
  ]),
  row(['Zhipu, in Chinese', 'zai', 400], { error: { code: '1261', message: 'Prompt 超长' } }, [
    null,
    null,
  ]),
  row(
    ['DashScope', 'dashscope', 400],
    openAi(
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
      {
        code: 'invalid_parameter_error',
      },
    ),
    [129_024, null],
  ),
  row(
    ['MiniMax, inside a 200', 'minimax', 200],
    {
      base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' },
    },
    [null, null],
  ),
  row(
    ['Voyage', 'voyage', 400],
    {
      detail:
        "Request to model 'voyage-4-large' failed. The example at index 0 in your batch has too many tokens and does not fit into the model's context window of 32000 tokens. Please lower the number of tokens in the listed example(s) or use truncation.",
    },
    [32_000, null],
  ),
  row(
    ['Voyage, a batch', 'voyage', 400],
    {
      detail:
        "Request to model 'voyage-large-2-instruct' failed. The max allowed tokens per submitted batch is 120000. Your batch has 121138 tokens after truncation. Please lower the number of tokens in the batch.",
    },
    [120_000, 121_138],
  ),
  row(
    ['Jina', 'jina', 400],
    { detail: 'Single text cannot exceed 8192 tokens. 9237 tokens given.' },
    [8192, 9237],
  ),
  row(
    ['Jina, newer models', 'jina', 422],
    { detail: 'Input text exceeds maximum length of 8194 tokens' },
    [8194, null],
  ),
]
