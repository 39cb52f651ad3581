import { row, type OverflowRow } from './overflow'

/** Texts of self-hosted servers for a prompt that is too long. */
export const overflowOfServers: readonly OverflowRow[] = [
  row(
    ['vLLM', 'custom', 400],
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    [4096, 5000],
  ),
  row(
    ['vLLM, a long prompt', 'custom', 400],
    {
      object: 'error',
      message:
        'The decoder prompt (length 5951) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
      type: 'BadRequestError',
      code: 400,
    },
    [4096, 5951],
  ),
  row(
    ['vLLM, a long answer', 'custom', 400],
    {
      object: 'error',
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 4000 input tokens (5000 > 4096 - 4000).",
      type: 'BadRequestError',
      code: 400,
    },
    [4096, 9000],
  ),
  row(
    ['SGLang', 'custom', 400],
    {
      object: 'error',
      message: "The input (10009 tokens) is longer than the model's context length (128 tokens).",
      type: 'BadRequest',
    },
    [128, 10_009],
  ),
  row(
    ['SGLang, with the output limit', 'custom', 400],
    {
      object: 'error',
      message:
        "Requested token count exceeds the model's maximum context length of 64000 tokens. You requested a total of 71897 tokens: 7897 tokens from the input messages and 64000 tokens for the completion.",
      type: 'BadRequest',
    },
    [64_000, 71_897],
  ),
  row(
    ['SGLang, little memory', 'custom', 400],
    { message: 'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).' },
    [59_862, 160_062],
  ),
  row(
    ['Text Embeddings Inference', 'custom', 413],
    {
      error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 534',
      error_type: 'Validation',
    },
    [512, 534],
  ),
  row(
    ['llama.cpp', 'local', 400],
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 13_392,
        n_ctx: 8192,
      },
    },
    [8192, 13_392],
  ),
  row(
    ['llama.cpp, in words', 'local', 400],
    {
      error: {
        code: 400,
        message:
          'request (481909 tokens) exceeds the available context size (32768 tokens), try increasing it',
        type: 'invalid_request_error',
      },
    },
    [32_768, 481_909],
  ),
  row(
    ['llama.cpp, while it answers', 'local', 500],
    { error: { code: 500, message: 'Context size has been exceeded.', type: 'server_error' } },
    [null, null],
  ),
  row(
    ['llama-cpp-python', 'local', 400],
    { error: { message: 'Requested tokens (2065) exceed context window of 1800' } },
    [1800, 2065],
  ),
  row(['Ollama', 'local', 400], { error: 'the input length exceeds the context length' }, [
    null,
    null,
  ]),
  row(
    ['Ollama, with the excess', 'local', 400],
    { error: { message: 'prompt too long; exceeded max context length by 1234 tokens' } },
    [null, null],
  ),
  row(
    ['Ollama, what llama.cpp said', 'local', 500],
    {
      error: JSON.stringify({
        error: {
          code: 400,
          message: 'the request exceeds the available context size, try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 2622,
          n_ctx: 512,
        },
      }),
    },
    [512, 2622],
  ),
  row(
    ['LM Studio', 'local', 400],
    {
      error:
        'Trying to keep the first 5210 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    },
    [4096, 5210],
  ),
  row(
    ['LM Studio, older', 'local', 400],
    {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length.',
    },
    [null, null],
  ),
]
