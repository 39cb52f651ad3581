import type { PromptSize } from './prompt-size'
import type { Model } from '../catalog/model'

/** The estimated need of a request before its answer. */
export interface TokenNeed {
  promptTokens: number
  /** The number of answers, each as long as the output limit allows. */
  answers: number
}

/** Reserved for an answer without a limit; its real use is counted afterwards. */
const usualAnswer = 1024

/** Estimates the tokens to reserve for a request: its prompt, and all it may write. Source: contract 3.1. */
export function estimateTokenNeed(
  { promptTokens, answers }: TokenNeed,
  { output }: Pick<PromptSize, 'output'>,
  { maxOutputTokens }: Pick<Model, 'maxOutputTokens'>,
): number {
  const each = output?.limit ?? Math.min(usualAnswer, maxOutputTokens ?? usualAnswer)
  return promptTokens + answers * each
}
