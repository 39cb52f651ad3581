import type { Model } from '../catalog/model'
import { ApiError } from '../errors'

/** The content that a request has a model read, and the output that it may write. */
export interface PromptSize {
  /** The field that holds the request's text. */
  textField: 'messages' | 'prompt' | 'input' | 'documents'
  /** The output limit that was sent, and the field that held it. */
  output: { limit: number; field: string } | undefined
  /** Whether a model gets its own output limit where the request's is above it. */
  lowersOutput?: ((model: Model) => boolean) | undefined
  /** The texts to be counted; called only where their length alone does not decide. */
  texts: () => readonly string[]
  /** Tokens that are known without counting, such as arrays of token ids. */
  tokens: number
}

interface Ports {
  /** Upper and lower bounds of the tokens in that many bytes of text. */
  maxTokens: (bytes: number) => number
  atLeast: (bytes: number) => number
  /** Off the event loop; undefined when it takes too long. */
  count: (texts: readonly string[]) => Promise<number | undefined>
  /** By length alone, for texts that could not be counted. */
  estimate: (texts: readonly string[]) => number
}

/**
 * Tokenizers differ, and estimates are not exact: by a count that is not the provider's own, a request is rejected
 * only when it is this much too long.
 */
const foreignMargin = 1.3

/** The output limit that a model gets. */
export function getOutputLimit(
  model: Model,
  { output, lowersOutput }: Pick<PromptSize, 'output' | 'lowersOutput'>,
): PromptSize['output'] {
  const modelLimit = model.maxOutputTokens
  if (!output || modelLimit === null || output.limit <= modelLimit || !lowersOutput?.(model))
    return output
  return { ...output, limit: modelLimit }
}

/** Throws `max_tokens_exceeded` for an output limit above the model's. */
export function checkOutputLimit(model: Model, { output }: Pick<PromptSize, 'output'>): void {
  if (!output || model.maxOutputTokens === null || output.limit <= model.maxOutputTokens) return
  throw new ApiError('max_tokens_exceeded', {
    param: output.field,
    message: `${output.field} is ${output.limit}; "${model.id}" produces at most ${model.maxOutputTokens} tokens.`,
    details: { max_allowed: model.maxOutputTokens, requested: output.limit },
  })
}

/** Returns the longest prompt that a model reads beside the requested output; Infinity where no length is known. */
function promptRoom(
  { contextLength, maxInputTokens }: Model,
  { output }: Pick<PromptSize, 'output'>,
): number {
  const beside = contextLength === null ? Infinity : contextLength - (output?.limit ?? 0)
  return maxInputTokens === null ? beside : Math.min(beside, maxInputTokens)
}

/** Whether a prompt fits a model by the length of its body alone, as nearly all do. */
export const fitsSurely = (
  model: Model,
  prompt: Pick<PromptSize, 'output' | 'tokens'> & { bytes: number },
  { maxTokens }: Pick<Ports, 'maxTokens'>,
): boolean => prompt.tokens + maxTokens(prompt.bytes) <= promptRoom(model, prompt)

/**
 * Rejects with `context_length_exceeded` a prompt that is certainly too long for a model. Nearly always the length of
 * the body decides; only near the limit are tokens counted, or estimated where that takes too long: no load lets
 * through a prompt that is far too long. `bytes` is the whole body's.
 */
export async function checkContext(
  model: Model,
  prompt: PromptSize & { bytes: number },
  ports: Ports,
): Promise<void> {
  if (fitsSurely(model, prompt, ports)) return
  const room = promptRoom(model, prompt)
  const texts = prompt.texts()
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (prompt.tokens + ports.maxTokens(textBytes) <= room) return
  const least = prompt.tokens + ports.atLeast(textBytes)
  if (least > room * foreignMargin) throw tooLong(model, prompt, least)
  const countedTokens = await ports.count(texts)
  const margin = countedTokens !== undefined && model.provider === 'openai' ? 1 : foreignMargin
  const tokens = prompt.tokens + (countedTokens ?? ports.estimate(texts))
  if (tokens > room * margin) throw tooLong(model, prompt, tokens)
}

/** Names the limit that a prompt of so many tokens exceeds: the longest prompt, or the context with the output. */
function tooLong(model: Model, prompt: PromptSize, promptTokens: number): ApiError {
  const { contextLength, maxInputTokens } = model
  const isPromptLimit = maxInputTokens !== null && promptRoom(model, prompt) === maxInputTokens
  const requestedTokens = promptTokens + (isPromptLimit ? 0 : (prompt.output?.limit ?? 0))
  const context = contextLength ?? maxInputTokens ?? 0
  const ofThese = isPromptLimit ? `, of which a prompt has at most ${maxInputTokens}` : ''
  return new ApiError('context_length_exceeded', {
    param: prompt.textField,
    // Some clients recognise this error by these very words (contract 1.7).
    message: `This model's maximum context length is ${context} tokens${ofThese}, and ${requestedTokens} were requested.`,
    details: { max_context: isPromptLimit ? maxInputTokens : context, requested: requestedTokens },
  })
}
