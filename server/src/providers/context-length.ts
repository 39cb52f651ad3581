import type { ProviderErrorBody } from './error-body'
import type { JsonObject } from '../wire/json-body'

/** The maximum length of a prompt, and its length with the output limit, in tokens; null where unknown. */
export interface Overflow {
  maximum: number | null
  requested: number | null
}

const codes = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'model_context_window_exceeded',
  'exceed_context_size_error',
  'context_exceeded',
  'prompt_too_long',
  'max_tokens_per_request',
  'too_many_prompt_tokens',
])

/**
 * Makes the pattern of a wording, with `#` for a number. `max` is the maximum, `used` the prompt's length,
 * `more` an addition to it, `over` the excess.
 */
const toPattern = (text: string) => new RegExp(text.replaceAll('#', String.raw`\d[\d,]{0,14}`), 'i')

/**
 * Wordings of providers for a prompt that is too long, those with numbers first: conformance-overflow*.ts
 * has their texts. Any other refusal, in other words or with another code, is an ordinary one.
 */
const patterns: readonly RegExp[] = [
  // vLLM, which names the output limit alone where it is that
  String.raw`too large: (?<more>#)\. this model's maximum context length is (?<max>#) tokens and your request has (?<used>#) input tokens`,
  // OpenAI, Azure, DeepSeek, OpenRouter, NVIDIA, vLLM, SGLang; Llama and Mistral on Bedrock
  String.raw`maximum context length (?:is|of) (?<max>#) tokens(?:.{0,40}?(?:requested|resulted in|request has)(?: about| a total of)? (?<used>#))?`,
  // SambaNova
  String.raw`maximum context length of [^\s]{1,100} is (?<max>#)(?:.{0,60}? take (?<used>#))?`,
  // Fireworks
  String.raw`prompt is too long: (?<used>#), model maximum context length: (?<max>#)`,
  // Mistral
  String.raw`contains (?<used>#) tokens.{0,60}? with (?<max>#) maximum context length`,
  String.raw`prompt (?<used>#) > (?<max>#) maximum context length`,
  String.raw`too many tokens in batch\. max is (?<max>#) got (?<used>#)`,
  // Anthropic, also on Bedrock and Vertex
  String.raw`prompt is too long: (?<used>#) tokens > (?<max>#) maximum`,
  String.raw`exceed context limit: (?<used>#) \+ (?<more>#) > (?<max>#)`,
  // OpenAI's newest models, and its embeddings
  String.raw`exceed the configured limit of (?<max>#) tokens(?:\. your messages resulted in (?<used>#))?`,
  String.raw`maximum input length is (?<max>#) tokens`,
  String.raw`requested (?<used>#) tokens, max (?<max>#) tokens per request`,
  // Google, and Vertex
  String.raw`input token count (?:\((?<used>#)\) )?exceeds the maximum number of tokens allowed(?: \(?(?<max>#))?`,
  String.raw`input token count is (?<used>#) but (?:the )?model (?:only )?supports up to (?<max>#)`,
  String.raw`exceeds the maximum number of tokens allowed(?: \(?(?<max>#))?`,
  // Titan on Bedrock
  String.raw`too many input tokens\. max input tokens: (?<max>#), request input token count: (?<used>#)`,
  // xAI
  String.raw`maximum prompt length is (?<max>#)(?: but the request contains (?<used>#))?`,
  // Cerebras
  String.raw`current length is (?<used>#) while limit is (?<max>#)`,
  // Together and Hugging Face: Text Generation and Text Embeddings Inference
  String.raw`tokens \+ .max_new_tokens. must be <= (?<max>#)(?:\. given: (?<used>#) .inputs. tokens(?: and (?<more>#))?)?`,
  String.raw`.inputs. must have less than (?<max>#) tokens(?:\. given: (?<used>#))?`,
  // Together's newer models, SGLang
  String.raw`input \((?<used>#) tokens\) is longer than the model's context length \((?<max>#) tokens\)`,
  String.raw`input length \((?<used>#) tokens\) exceeds the maximum allowed length \((?<max>#) tokens\)`,
  // vLLM
  String.raw`prompt \(length (?<used>#)\) is longer than the maximum model length of (?<max>#)`,
  // Poolside, DeepInfra, NVIDIA's embeddings
  String.raw`input length (?<used>#) exceeds (?:the )?maximum (?:allowed )?(?:input length|token size)(?: of)? (?<max>#)`,
  // DashScope
  String.raw`range of input length should be \[\d{1,3}, ?(?<max>#)\]`,
  // Moonshot
  String.raw`exceeded model token limit: (?<max>#)(?: \(requested: (?<used>#)\))?`,
  // Cohere
  String.raw`size limit exceeded by (?<over>#) tokens(?:.{0,80}? limit for this model is (?<max>#))?`,
  String.raw`total number of tokens.{0,40}? cannot exceed (?<max>#)(?: - received (?<used>#))?`,
  // llama.cpp and its binding for Python, Ollama, LM Studio
  String.raw`\((?<used>#)(?: tokens)?\) exceeds (?:the available )?context size \((?<max>#)`,
  String.raw`requested tokens \((?<used>#)\) exceed context window of (?<max>#)`,
  String.raw`exceeded (?:max )?context length by (?<over>#) tokens`,
  String.raw`(?:keep the first (?<used>#) tokens.{0,100}?)?context length (?:of|is) only (?<max>#) tokens`,
  // SiliconFlow
  String.raw`prompt_tokens \((?<used>#)\) must be less than max_seq_len \((?<max>#)\)`,
  // Cloudflare
  String.raw`tokens \((?<used>#)\) exceeded this model context window limit \((?<max>#)\)`,
  // Voyage, Jina
  String.raw`does not fit into the model's context window of (?<max>#) tokens`,
  String.raw`allowed tokens per submitted batch is (?<max>#)(?:\. your batch has (?<used>#))?`,
  String.raw`single text cannot exceed (?<max>#) tokens(?:\. (?<used>#) tokens given)?`,
  String.raw`input text exceeds maximum length of (?<max>#) tokens`,
].map(toPattern)

/** Wordings without numbers. */
const unnumbered =
  /prompt (?:is )?too long|prompt exceeds max length|prompt 超长|exceeds the context window|maximum context length|input is too long|input token length too long|input tokens exceeded|too many input tokens|reduce the length of the messages|input length exceeds the context length|greater than the context length|exceeds the available context size|context size has been exceeded|context window exceeds limit|exceed max message tokens|total length of all messages is too long/i

/** Wordings that are plain enough to count whatever the status: some servers send 500 with them. */
const unmistakable = /context size|context length|context window|maximum input length/i

/** Reads the lengths from a refusal; undefined where it is about something else. */
export function readOverflow(
  { core, codes: providerCodes }: ProviderErrorBody,
  { providerMessage, status }: { providerMessage: string; status: number },
): Overflow | undefined {
  // A limit a minute is no length, though its words may be.
  if (providerCodes.includes('rate_limit_exceeded')) return undefined
  const overflow = patterns
    .map((pattern) => pattern.exec(providerMessage))
    .find((match) => match !== null)
  const hasCode = providerCodes.some((code) => codes.has(code))
  const isOverflow = hasCode || overflow !== undefined || unnumbered.test(providerMessage)
  const isCertain = hasCode || status < 500 || unmistakable.test(providerMessage)
  return isOverflow && isCertain ? lengthsOf(overflow?.groups ?? {}, core) : undefined
}

function lengthsOf({ max, used, more, over }: Record<string, string>, core: JsonObject): Overflow {
  const maximum = toCount(max) ?? toCount(core['n_ctx'])
  const sum = toCount(used) ?? toCount(core['n_prompt_tokens'])
  if (sum !== null) return { maximum, requested: sum + (toCount(more) ?? 0) }
  const excess = toCount(over)
  return { maximum, requested: maximum !== null && excess !== null ? maximum + excess : null }
}

/** A number of tokens that can be one, which a provider may also get wrong. */
function toCount(value: unknown): number | null {
  const count = typeof value === 'string' ? Number(value.replaceAll(',', '')) : value
  return typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : null
}
